// One word on the page: what the model says, what else it might have said, which letters each sound looked at.

import { read_as } from "./plain_letters.js";
import { copy_button, drawn, listen_button, make, model_of, percent } from "./page.js";
import { MAX_WORDS, ipa, pronounce, word_problem, words_in } from "./pronunciation.js";

const END = "<end>";

/**
 * Puts the section into `root`. Handlers are called: `on_result(result)` after each new word, with null where there is none.
 * `compact`: the front page.
 * Gives { ask(word), show(result), model() }.
 */
export function word_section(root, { vocabulary, words, dictionary, compact = false, on_result = () => {} }) {
  const bar = make("p", { class: "bar", hidden: true });
  const input = make("input", { type: "text", id: "word", autocomplete: "off", autocapitalize: "none", spellcheck: "false", enterkeyhint: "go" });
  const form = make("form", { class: "ask", onsubmit: submitted }, make("label", { for: "word" }, "A word"), input, make("button", {}, "Pronounce"));
  const chips = make("div", { class: "chips" }, ...[...words.keys()].map((word) => make("button", { type: "button", onclick: () => ask(word) }, word)));
  if (!compact) chips.append(make("button", { type: "button", class: "other", onclick: surprise }, "a word it has never seen"));
  const problem = make("p", { class: "problem", role: "alert" });
  const read = make("p", { class: "read-as", role: "status" });
  const result = make("div", { class: "result", "aria-live": "polite" });
  root.replaceChildren(form, chips, problem, read, bar, result);

  const model = () => model_of("transformer", bar, vocabulary.bytes.transformer);
  let latest = ""; // what was asked for last: a slower answer to an earlier one is not shown

  function submitted(event) {
    event.preventDefault();
    ask(input.value);
  }

  async function surprise() {
    const all = Object.keys(await dictionary()).filter((word) => !words.has(word));
    ask(all[Math.floor(Math.random() * all.length)]);
  }

  async function ask(text) {
    const words_read = words_in(text);
    const typed = text.trim();
    input.value = typed;
    latest = typed;
    read.textContent = "";
    const problems = words_read.length ? words_read.map((word) => word_problem(word, vocabulary)) : [word_problem(typed, vocabulary)];
    problem.textContent = words_read.length > MAX_WORDS ? `Those are ${words_read.length} words; ${MAX_WORDS} are the most it takes at once.` : (problems.find(Boolean) ?? "");
    if (problem.textContent) return clear();
    try {
      const spoken = [];
      for (const word of words_read) {
        const transformer = words.has(word) ? null : await model();
        await drawn();
        if (latest !== typed) return;
        spoken.push(words.get(word) ?? timed(() => pronounce(transformer, word, vocabulary)));
      }
      if (latest !== typed) return;
      if (!compact) history.replaceState(null, "", link(typed));
      show_all(spoken, typed);
    } catch (error) {
      clear();
      problem.textContent = `That did not work: ${error.message}. The words above are worked out beforehand and need no weights.`;
    }
  }

  /** The address of the live page that asks for this. */
  const link = (typed) => new URL(`index.html#word=${encodeURIComponent(typed)}`, import.meta.url).href;

  /** Nothing of an earlier word stays below a problem. */
  function clear() {
    result.replaceChildren();
    delete root.dataset.word;
    on_result(null);
  }

  function timed(work) {
    const started = performance.now();
    const value = work();
    root.dataset.milliseconds = String(Math.round(performance.now() - started));
    return value;
  }

  const show = (pronunciation) => show_all([pronunciation], pronunciation.word);

  /** Several words are spoken one after another; one of them, `at`, is looked into. */
  function show_all(pronunciations, typed, at = 0) {
    const pronunciation = pronunciations[at];
    const alone = pronunciations.length === 1;
    input.value = typed;
    latest = typed;
    read.textContent = read_as(typed, pronunciations.map(({ word }) => word));
    const choose = (place) => {
      show_all(pronunciations, typed, place);
      result.querySelectorAll(".which button")[place].focus();
    };
    const which = () => make("p", { class: "which" }, "Look into ", ...pronunciations.map(({ word }, place) => make("button", { type: "button", "aria-pressed": String(place === at), onclick: () => choose(place) }, word)));
    const inside = make("a", { href: link(typed) }, "Look into every layer and head");
    const listen = listen_button(() => pronunciations.map(({ beams }) => beams[0].sounds));
    const onward = make("p", { class: "onward" }, listen, " ", compact ? inside : copy_button("Copy a link to this", () => link(typed)));
    result.replaceChildren(...pronunciations.map(spoken), onward, alone ? "" : which(), compact ? "" : others(pronunciation), steps(pronunciation));
    root.dataset.word = pronunciation.word;
    if (!compact) verdict(pronunciation, typed);
    on_result(pronunciation);
  }

  function spoken({ word, beams }) {
    const [{ sounds, prob }] = beams;
    const line = make("p", { class: "spoken" }, make("b", {}, word), " → ", make("span", { class: "sounds" }, sounds.join(" ") || "(silence)"));
    line.append(" ", make("span", { class: "ipa", title: "the same in the International Phonetic Alphabet; without stress, so ʌ stands for ə as well" }, `/${ipa(sounds)}/`), " ", make("small", {}, `with probability ${percent(prob)}`));
    return line;
  }

  function others({ beams }) {
    const rows = beams.map(({ sounds, prob }, place) => make("tr", {}, make("td", {}, String(place + 1)), make("td", { class: "sounds" }, sounds.join(" ")), make("td", { class: "number" }, percent(prob)), make("td", { "aria-hidden": "true" }, measure(prob))));
    const head = make("tr", {}, ...["", "sounds", "probability", ""].map((name, n) => make(n % 3 ? "th" : "td", n % 3 ? { scope: "col" } : {}, name)));
    return make("section", { class: "others" }, make("h3", {}, "What beam search found"), make("p", { class: "verdict" }), make("table", { class: "beams" }, head, ...rows), make("p", { class: "note" }, "Ranked by log-probability divided by length, as in lesson 11, so the order may differ from that of the probabilities."));
  }

  async function verdict({ word, beams }, typed) {
    const accepted = (await dictionary())[word];
    const place = result.querySelector(".verdict");
    if (!place || latest !== typed || root.dataset.word !== word) return;
    const right = accepted?.includes(beams[0].sounds.join(" "));
    const source = words.has(word) ? "The dictionary" : "It never saw this word in training. The dictionary";
    if (accepted) place.textContent = right ? `${source} says the same.` : `${source} says ${accepted.join(" or ")}.`;
    place.classList.toggle("right", Boolean(right));
  }

  /** The alignment as a grid, and one step of it at a time. */
  function steps({ word, sounds, alignment, steps: likely }) {
    const letters = [...word];
    const cells = alignment.map((row) => row.map((weight) => make("td", { style: `--weight: ${weight.toFixed(3)}` }, make("span", { class: "unseen" }, weight.toFixed(2)))));
    const rows = sounds.map((sound, t) => make("tr", { onclick: () => compact || at(t) }, make("th", { scope: "row" }, sound === END ? "end" : sound), ...cells[t]));
    const head = make("tr", {}, make("td"), ...letters.map((letter) => make("th", { scope: "col" }, letter)));
    const grid = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "alignment" }, make("table", { class: "alignment" }, make("caption", { class: "unseen" }, "Which letters each sound looked at: a row a sound, a column a letter"), head, ...rows));
    const slider = make("input", { type: "range", min: "0", max: String(sounds.length - 1), value: "0", "aria-label": "step of decoding", oninput: () => at(Number(slider.value)) });
    const step = (by) => make("button", { type: "button", "aria-label": by < 0 ? "one step back" : "one step on", onclick: () => at(Number(slider.value) + by) }, by < 0 ? "◀" : "▶");
    const controls = make("div", { class: "stepper" }, step(-1), slider, step(1));
    const explanation = make("div", { class: "explanation" });

    function at(t) {
      const now = Math.max(0, Math.min(sounds.length - 1, t));
      slider.value = String(now);
      slider.setAttribute("aria-valuetext", `step ${now + 1} of ${sounds.length}`);
      rows.forEach((row, n) => row.classList.toggle("now", n === now));
      rows.forEach((row, n) => row.classList.toggle("later", n > now));
      const strongest = alignment[now].map((weight, s) => [weight, letters[s]]).sort((a, b) => b[0] - a[0]).filter(([weight]) => weight > 0.1).slice(0, 3);
      const before = sounds.slice(0, now).join(" ") || "nothing yet";
      const looks = strongest.map(([weight, letter]) => `${letter} (${percent(weight)})`).join(", ");
      const bars = likely[now].map(([sound, prob]) => make("li", {}, make("span", { class: "sounds" }, sound === END ? "end" : sound), measure(prob), make("span", { class: "number" }, percent(prob))));
      explanation.replaceChildren(make("p", {}, `Step ${now + 1} of ${sounds.length}. Said so far: ${before}. It looks most at ${looks || "no letter in particular"}. Next may come:`), make("ol", { class: "next" }, ...bars));
    }

    if (!compact) at(0);
    const title = make("h3", {}, "Where it looked, step by step");
    const note = make("p", { class: "note" }, "The stronger the color, the larger the weight: the mean of all cross-attention heads.");
    return make("section", { class: "steps" }, ...(compact ? [grid, note] : [title, controls, make("div", { class: "side-by-side" }, make("div", {}, grid, note), explanation)]));
  }

  return { ask, show, model, problem };
}

/** A bar as long as a probability. */
export const measure = (prob) => make("span", { class: "measure", style: `--prob: ${prob.toFixed(4)}` });
