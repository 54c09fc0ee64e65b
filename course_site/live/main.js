// The live page: a word, its heads, a text, a string written twice.

import viewer from "./attention_viewer.js";
import { head_switches } from "./head_switches.js";
import { induction_section } from "./induction_section.js";
import { json, make, worked_out } from "./page.js";
import { text_section } from "./text_section.js";
import { word_section } from "./word_section.js";

const at = (id) => document.getElementById(id);
let dictionary_asked;
const dictionary = () => (dictionary_asked ??= json("dictionary.json"));

async function start() {
  const [vocabulary, words] = await Promise.all([json("vocabulary.json"), worked_out()]);
  let heads;
  let dispose = () => {};
  const show_attention = (result) => {
    dispose();
    dispose = () => {};
    at("viewer").replaceChildren(result ? "" : make("p", { class: "note" }, "There is no word: type one above."));
    if (!result) return;
    const { groups, weights } = result;
    dispose = viewer.render({ model: { get: (name) => ({ groups, weights })[name] }, el: at("viewer") });
  };
  let current;
  const word = word_section(at("word-section"), {
    vocabulary,
    words,
    dictionary,
    on_result(result) {
      current = result;
      show_attention(result);
      heads?.set_result(result);
    },
  });
  const asked = () => new URLSearchParams(location.hash.slice(1)).get("word") ?? new URLSearchParams(location.search).get("word");
  word.show(words.values().next().value); // alive before the weights are there
  heads = head_switches(at("head-switches"), { vocabulary, dictionary, model: word.model, changed: (result) => show_attention(result ?? current) });
  heads.set_result(current);
  if (asked()) word.ask(asked());
  addEventListener("hashchange", () => asked() && word.ask(asked()));
  text_section(at("text-section"), { vocabulary });
  induction_section(at("induction-section"), at("learning")).catch((error) => at("induction-section").append(make("p", { class: "problem", role: "alert" }, `${error.message}.`)));
  document.body.dataset.ready = "true";
}

start().catch((error) => {
  at("word-section").append(make("p", { class: "problem", role: "alert" }, `This page could not be started: ${error.message}.`));
});
