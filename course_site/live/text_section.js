// The language model on the page: a text goes on, and every character can be asked where it looked.

import { Continuation, WINDOW, plain_text, text_problem } from "./text_generation.js";
import { drawn, make, model_of, percent } from "./page.js";
import { measure } from "./word_section.js";
import viewer from "./attention_viewer.js";

const PROMPTS = ["The following ", "class Point:\n    def __init__(self", "If the argument is ", "Changed in version 3."];

export function text_section(root, { vocabulary }) {
  const bar = make("p", { class: "bar", hidden: true });
  const prompt = make("textarea", { id: "prompt", rows: "3", spellcheck: "false" });
  prompt.value = PROMPTS[0];
  const chips = make("div", { class: "chips" }, ...PROMPTS.map((text) => make("button", { type: "button", onclick: () => (prompt.value = text) }, text.replace(/\n\s*/, " ⏎ "))));
  const wanted = slider("characters", "length", 20, 400, 10, 160, String);
  const temperature = slider("temperature", "temperature", 0, 1.5, 0.05, 0.7, (x) => (x === 0 ? "0 (always the most probable)" : x.toFixed(2)));
  const top_p = slider("top-p", "top_p", 0.05, 1, 0.05, 0.95, (x) => (x === 1 ? "1 (nothing cut)" : x.toFixed(2)));
  const go = make("button", { type: "submit" }, "Go on");
  const form = make("form", { class: "go-on", onsubmit: submitted }, make("label", { for: "prompt" }, "A text"), prompt, chips, wanted.row, temperature.row, top_p.row, go);
  const problem = make("p", { class: "problem", role: "alert" });
  const written = make("pre", { class: "written", tabindex: "0", role: "group", "aria-label": "the text and how it went on; arrow keys choose a character", onkeydown: walk });
  const touch = matchMedia("(hover: none)").matches;
  const chosen = make("input", { type: "range", min: "1", step: "1", "aria-label": "character of the text", oninput: () => choose(Number(chosen.value)) });
  const step = (by) => make("button", { type: "button", "aria-label": by < 0 ? "one character back" : "one character on", onclick: () => choose(Number(chosen.value) + by) }, by < 0 ? "◀" : "▶");
  const walking = make("div", { class: "stepper" }, step(-1), chosen, step(1));
  const next = make("ol", { class: "next" });
  const place = make("div");
  const details = make("section", { hidden: true }, make("p", {}, "Next may come:"), next, make("h3", {}, "Where each character looked"), make("p", { class: "note" }, `${touch ? "Tap a character of the text, or move the slider" : "Click a character of the text, walk there with the arrow keys, or move the slider"}: below are it and those before it, ${WINDOW} at most. In the viewer each character says where it looked when it was read.`), walking, place);
  root.replaceChildren(form, problem, bar, written, details);

  let running = 0; // which run is the present one; 0: none
  let runs = 0;
  let dispose = () => {};
  let shown = null; // { continuation, end }: whose attention is shown

  function slider(text, id, min, max, step, value, as_text) {
    const input = make("input", { type: "range", id, min, max, step, value });
    const output = make("output", { for: id }, as_text(value));
    input.addEventListener("input", () => (output.textContent = as_text(Number(input.value))));
    return { row: make("div", { class: "slider" }, make("label", { for: id }, text), input, output), get: () => Number(input.value) };
  }

  const options = () => ({ temperature: temperature.get(), top_p: top_p.get() });

  async function submitted(event) {
    event.preventDefault();
    if (running) return stop();
    const { text, strange } = plain_text(prompt.value, vocabulary);
    const [count, run] = [wanted.get(), ++runs];
    problem.textContent = strange.length ? `It does not know ${strange.slice(0, 8).map((character) => `“${character}”`).join(", ")}: it has learned plain English text, and reads “?” instead.` : "";
    running = run;
    go.textContent = "Stop";
    try {
      const model = await model_of("language_model", bar, vocabulary.bytes.language_model);
      const text_error = text_problem(text, count, model.config);
      if (text_error) {
        clear();
        problem.textContent = text_error;
        return;
      }
      await drawn();
      const continuation = new Continuation(model, vocabulary, text);
      show(continuation, text.length);
      for (let n = 0; n < count && running === run; n++) {
        if (!continuation.step(options())) break;
        show(continuation, text.length);
        await drawn();
      }
      show_attention(continuation, continuation.characters.length);
    } catch (error) {
      problem.textContent = `That did not work: ${error.message}.`;
    } finally {
      if (running === run) stop();
    }
  }

  /** Nothing of an earlier text stays below a problem. */
  function clear() {
    dispose();
    dispose = () => {};
    shown = null;
    written.replaceChildren();
    details.hidden = true;
  }

  function stop() {
    running = 0;
    go.textContent = "Go on";
  }

  function show(continuation, given) {
    const { characters } = continuation;
    if (written.childElementCount > characters.length || written.dataset.run !== String(runs)) written.replaceChildren();
    written.dataset.run = String(runs);
    for (let n = written.childElementCount; n < characters.length; n++) {
      written.append(make("span", { class: n < given ? "given" : "", onclick: () => running || show_attention(continuation, n + 1) }, characters[n]));
    }
    next.replaceChildren(...continuation.next(options()).map(([character, prob]) => make("li", {}, make("code", {}, character === "\n" ? "⏎" : character === " " ? "␣" : character), measure(prob), make("span", { class: "number" }, percent(prob)))));
  }

  function walk(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || !shown || running) return;
    event.preventDefault();
    choose(shown.end + by);
  }

  function choose(end) {
    if (shown && !running) show_attention(shown.continuation, Math.max(1, Math.min(written.childElementCount, end)));
  }

  /** Show the attention of the characters up to `end`. */
  function show_attention(continuation, end) {
    shown = { continuation, end };
    dispose();
    details.hidden = false;
    chosen.max = String(written.childElementCount);
    chosen.value = String(end);
    chosen.setAttribute("aria-valuetext", `character ${end}: ${written.children[end - 1].textContent}`);
    [...written.children].forEach((span, n) => span.classList.toggle("looked", n === end - 1));
    const state = continuation.attention(end);
    place.replaceChildren();
    dispose = viewer.render({ model: { get: (name) => state[name] }, el: place });
  }
}
