// Heads switched off, and how much the probability of the right pronunciation fell.

import { drawn, make, percent } from "./page.js";
import { probability, pronounce, switch_off } from "./pronouncing.js";

const KINDS = [
  ["cross-attention", "decoder_layers", "cross_attention"],
  ["encoder", "encoder_layers", "self_attention"],
  ["decoder", "decoder_layers", "self_attention"],
];

/** Puts the part into `root`; `changed(result)` is told what the model says with these heads off, null with all on. */
export function heads_part(root, { vocabulary, dictionary, model, changed }) {
  const off = new Set(); // "module:head"
  const grids = make("div", { class: "kinds" });
  const said = make("p", { class: "said", "aria-live": "polite" }, "Switch a head off and see what the model says without it.");
  const all_on = make("button", { type: "button", onclick: () => set([...off], false) }, "all on");
  let whole = null; // what all heads together say of the present word
  root.replaceChildren(grids, make("p", { class: "row" }, all_on), said);
  const ready = model().then(lay_out, (error) => (said.textContent = `Without the weights no head can be switched off: ${error.message}.`));

  function lay_out(pronouncing) {
    grids.replaceChildren(
      ...KINDS.map(([name, stack, part]) => {
        const rows = pronouncing[stack].map((layer, l) => {
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
    tell();
  }

  /** The heads that are off speak about this word from now on. */
  function about(found) {
    whole = found;
    tell();
  }

  let asked = 0;
  async function tell() {
    if (!whole) return;
    if (off.size === 0) {
      said.textContent = "All heads are on. Switch one off and see what the model says without it.";
      return changed(null);
    }
    const [mine, pronouncing, known] = [++asked, await model(), (await dictionary())[whole.word]];
    await ready;
    await drawn();
    if (mine !== asked) return; // another switch came in between
    const score = (sounds) => probability(pronouncing, whole.word, sounds, vocabulary);
    switch_off(pronouncing, new Set());
    const accepted = known?.map((text) => text.split(" ")) ?? [whole.beams[0].sounds];
    const right = accepted.reduce((best, sounds) => (score(sounds) > score(best) ? sounds : best));
    const before = score(right);
    switch_off(pronouncing, off);
    const after = score(right);
    const found = pronounce(pronouncing, whole.word, vocabulary);
    switch_off(pronouncing, new Set());
    const now = found.beams[0].sounds.join(" ");
    const same = now === whole.beams[0].sounds.join(" ");
    const whose = known ? "the dictionary's" : "what all heads together say";
    const factor = after > 0 ? before / after : 0;
    const times = factor >= 2 ? `, by a factor of ${factor < 10 ? factor.toFixed(1) : Math.round(factor).toLocaleString("en")}` : "";
    const moved = after < before ? "fell" : "rose";
    said.replaceChildren(
      `With ${off.size} head${off.size > 1 ? "s" : ""} off it ${same ? "still says" : "says"} `,
      make("b", { class: "sounds" }, now || "nothing"),
      `. The probability of ${right.join(" ")} (${whose}) ${moved} from ${percent(before)} to ${percent(after)}${times}.`,
    );
    root.dataset.off = [...off].join(" ");
    changed(found);
  }

  return { about };
}
