// Heads switched off, and how much the probability of the right pronunciation fell.

import { drawn, listen_button, make } from "./page.js";
import { change, probability, pronounce, switch_off } from "./pronunciation.js";

const KINDS = [
  ["cross-attention", "decoder_layers", "cross_attention"],
  ["encoder", "encoder_layers", "self_attention"],
  ["decoder", "decoder_layers", "self_attention"],
];

/** Puts the switches into `root`; `changed(result)` is told what the model says with these heads off, null with all on. */
export function head_switches(root, { vocabulary, dictionary, model, changed }) {
  const off = new Set(); // "module:head"
  const grids = make("div", { class: "kinds" });
  const message = make("p", { class: "message", "aria-live": "polite" }, "Switch a head off and see what the model says without it.");
  const all_on = make("button", { type: "button", onclick: () => set([...off], false) }, "all on");
  let all_heads = null; // what all heads together say of the present word
  root.replaceChildren(grids, make("p", { class: "row" }, all_on), message);
  const ready = model().then(lay_out, (error) => (message.textContent = `Without the weights no head can be switched off: ${error.message}.`));

  function lay_out(transformer) {
    grids.replaceChildren(
      ...KINDS.map(([name, stack, part]) => {
        const rows = transformer[stack].map((layer, l) => {
          const heads = Array.from({ length: layer[part].num_heads }, (_, h) => `${stack}.${l}.${part}:${h}`);
          const buttons = heads.map((head, h) => make("button", { type: "button", class: "head", "data-head": head, "aria-pressed": "true", "aria-label": `${name}, layer ${l}, head ${h}`, onclick: () => set([head], !off.has(head)) }, String(h)));
          const line = make("button", { type: "button", class: "layer", "aria-label": `${name}, all heads of layer ${l}`, onclick: () => set(heads, !heads.every((head) => off.has(head))) }, `layer ${l}`);
          return make("div", { class: "heads" }, line, ...buttons);
        });
        return make("fieldset", {}, make("legend", {}, name), ...rows);
      }),
    );
  }

  function set(heads, now_off) {
    for (const head of heads) now_off ? off.add(head) : off.delete(head);
    for (const button of grids.querySelectorAll(".head")) button.setAttribute("aria-pressed", String(!off.has(button.dataset.head)));
    update();
  }

  /** The heads that are off are switched off for this word from now on; null: there is none. */
  function set_result(result) {
    all_heads = result;
    update();
  }

  let requests = 0;
  async function update() {
    if (!all_heads) return void (message.textContent = "There is no word: type one above.");
    if (off.size === 0) {
      message.textContent = "All heads are on. Switch one off and see what the model says without it.";
      return changed(null);
    }
    const [request, transformer, known] = [++requests, await model(), (await dictionary())[all_heads.word]];
    await ready;
    await drawn();
    if (request !== requests) return; // another switch came in between
    const score = (sounds) => probability(transformer, all_heads.word, sounds, vocabulary);
    switch_off(transformer, new Set());
    const accepted = known?.map((text) => text.split(" ")) ?? [all_heads.beams[0].sounds];
    const right = accepted.reduce((best, sounds) => (score(sounds) > score(best) ? sounds : best));
    const before = score(right);
    switch_off(transformer, off);
    const after = score(right);
    const result = pronounce(transformer, all_heads.word, vocabulary);
    switch_off(transformer, new Set());
    const now = result.beams[0].sounds.join(" ");
    const same = now === all_heads.beams[0].sounds.join(" ");
    const whose = known ? "the dictionary's" : "what all heads together say";
    message.replaceChildren(
      `With ${off.size} head${off.size > 1 ? "s" : ""} off it ${same ? "still says" : "says"} `,
      make("b", { class: "sounds" }, now || "nothing"),
      `. The probability of ${right.join(" ")} (${whose}) ${change(before, after)}. `,
      now ? listen_button(() => [result.beams[0].sounds]) : "",
    );
    root.dataset.off = [...off].join(" ");
    changed(result);
  }

  return { set_result };
}
