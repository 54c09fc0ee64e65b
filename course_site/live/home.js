// The live word on the front page: weights are fetched only when a word is asked for that is not worked out beforehand.

import { json, worked_out } from "./page.js";
import { word_section } from "./word_section.js";

const root = document.getElementById("live-word");
const [vocabulary, words] = await Promise.all([json("vocabulary.json"), worked_out()]);
const part = word_section(root, { vocabulary, words, compact: true });
part.show(words.values().next().value);
