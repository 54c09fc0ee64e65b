// The live page: a word, its heads, a text.

import viewer from "./attention_viewer.js";
import { heads_part } from "./heads.js";
import { json, make, worked_out } from "./page.js";
import { text_part } from "./text.js";
import { word_part } from "./word.js";

const at = (id) => document.getElementById(id);
let dictionary_asked;
const dictionary = () => (dictionary_asked ??= json("dictionary.json"));

async function start() {
  const [vocabulary, words] = await Promise.all([json("vocabulary.json"), worked_out()]);
  let heads;
  let leave = () => {};
  const look = ({ groups, weights }) => {
    leave();
    at("viewer").replaceChildren();
    leave = viewer.render({ model: { get: (name) => ({ groups, weights })[name] }, el: at("viewer") });
  };
  let whole;
  const word = word_part(at("word-part"), {
    vocabulary,
    words,
    dictionary,
    shown(found) {
      whole = found;
      look(found);
      heads?.about(found);
    },
  });
  const asked = new URLSearchParams(location.search).get("word");
  word.show(words.values().next().value); // alive before the weights are there
  heads = heads_part(at("heads-part"), { vocabulary, dictionary, model: word.model, changed: (found) => look(found ?? whole) });
  heads.about(whole);
  if (asked) word.ask(asked);
  text_part(at("text-part"), { vocabulary });
  document.body.dataset.ready = "true";
}

start().catch((error) => {
  at("word-part").append(make("p", { class: "problem", role: "alert" }, `This page could not be started: ${error.message}.`));
});
