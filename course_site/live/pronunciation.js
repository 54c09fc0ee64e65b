// One word through the encoder-decoder: what it says, what else it might have said, where it looked.

import { beam_search, sequence_log_prob } from "./decoding.js";
import { plain_letters } from "./plain_letters.js";
import { log_softmax } from "./transformer.js";

export const BEAM_SIZE = 5;
const ONE = 65534; // a weight of 1, as the attention viewer takes it

// The sounds of the dictionary (ARPAbet) in the letters of the International Phonetic Alphabet.
const IPA = Object.fromEntries(
  `AA ɑ AE æ AH ʌ AO ɔ AW aʊ AY aɪ B b CH tʃ D d DH ð EH ɛ ER ɝ EY eɪ F f G ɡ HH h IH ɪ IY i JH dʒ K k L l M m N n NG ŋ
   OW oʊ OY ɔɪ P p R ɹ S s SH ʃ T t TH θ UH ʊ UW u V v W w Y j Z z ZH ʒ`.trim().split(/\s+/).map((name, n, all) => [name, all[n + 1]]).filter((_, n) => n % 2 === 0),
);
export const ipa = (sounds) => sounds.map((sound) => IPA[sound] ?? "").join("");

/** Ids of symbols; the special ones come first. */
export const encode = (symbols, { special }, sequence) => [...sequence].map((symbol) => special.length + symbols.indexOf(symbol));
export const symbol_of = (symbols, { special }, id) => (id < special.length ? special[id] : symbols[id - special.length]);

export const MAX_WORDS = 8;

/** What was typed, as words of plain letters where that can be. */
export function words_in(text) {
  return plain_letters(text).split(/[\s\-‐–—/_.,;:!?"“”„«»()]+/u).filter(Boolean);
}

/** What hinders this word, as a sentence; "" if nothing does. */
export function word_problem(word, { letters, max_letters }) {
  const strange = [...new Set(word)].filter((letter) => !letters.includes(letter));
  if (word === "") return "Type a word: letters from a to z.";
  if (strange.length) return `It does not know ${strange.map((letter) => `“${letter}”`).join(", ")}: it has learned the letters from a to z only.`;
  const count = [...word].length;
  return count > max_letters ? `That word has ${count} letters; ${max_letters} is the most it takes.` : "";
}

/** Everything about one word: { word, beams, sounds, alignment, steps, groups, weights }. */
export function pronounce(model, word, vocabulary) {
  const source = encode(vocabulary.letters, vocabulary, word);
  const options = { max_len: vocabulary.max_phonemes, beam_size: BEAM_SIZE, start_id: vocabulary.start_id, end_id: vocabulary.end_id };
  const beams = beam_search(model, source, options);
  const { tokens } = beams[0];
  const logits = model.forward(source, [vocabulary.start_id, ...tokens.slice(0, -1)]); // (L_t, tgt_vocab)
  const name = (id) => symbol_of(vocabulary.phonemes, vocabulary, id);
  const steps = logits.map((row) => {
    const probs = log_softmax(row).map(Math.exp);
    const best = [...probs.keys()].sort((a, b) => probs[b] - probs[a]).slice(0, 4);
    return best.map((id) => [name(id), probs[id]]);
  });
  return {
    word,
    beams: beams.map(({ tokens, log_prob }) => ({ sounds: sounds_of(tokens, vocabulary), prob: Math.exp(log_prob) })),
    sounds: tokens.map(name),
    alignment: alignment(model),
    steps,
    ...attention(model, [...word], [vocabulary.special[vocabulary.start_id], ...tokens.map(name)]),
  };
}

/** The sounds of a sequence of ids, special ones left out. */
export const sounds_of = (tokens, vocabulary) => tokens.filter((id) => id >= vocabulary.special.length).map((id) => symbol_of(vocabulary.phonemes, vocabulary, id));

const of_kind = (model, stack, part) => model[stack].map((layer) => layer[part].weights); // (num_layers, H, L_q, L_k)

/** Which letters each sound looked at: the mean of the cross-attention over all layers and heads, (L_t, L_s). */
function alignment(model) {
  const heads = of_kind(model, "decoder_layers", "cross_attention").flat(); // (num_layers * H, L_t, L_s)
  return heads[0].map((row, t) => Array.from(row, (_, s) => heads.reduce((sum, head) => sum + head[t][s], 0) / heads.length));
}

/** All weights of the latest call, as the attention viewer takes them: { groups, weights }. */
function attention(model, letters, symbols) {
  const [inputs, outputs] = [symbols.slice(0, -1), symbols.slice(1).map((sound) => `→ ${sound}`)];
  return packed([
    { name: "cross-attention", weights: of_kind(model, "decoder_layers", "cross_attention"), queries: outputs, keys: letters },
    { name: "encoder", weights: of_kind(model, "encoder_layers", "self_attention"), queries: letters, keys: letters },
    { name: "decoder", weights: of_kind(model, "decoder_layers", "self_attention"), queries: outputs, keys: inputs },
  ]);
}

/** Groups of weights (layers, H, L_q, L_k) in the form of the attention viewer. */
export function packed(kinds) {
  const numbers = [];
  const groups = kinds.map(({ name, weights, queries, keys }) => {
    const offset = numbers.length;
    for (const row of weights.flat(2)) for (const weight of row) numbers.push(Math.round(Math.min(1, weight) * ONE));
    return { name, layers: weights.length, heads: weights[0].length, queries, keys, offset };
  });
  const bytes = new DataView(new ArrayBuffer(2 * numbers.length));
  numbers.forEach((number, at) => bytes.setUint16(2 * at, number, true));
  return { groups, weights: bytes };
}

/** Switch the heads off that are listed as "module:head", and all others on. */
export function switch_off(model, heads) {
  for (const [name, module] of Object.entries(model.attentions())) {
    module.off = new Set(Array.from({ length: module.num_heads }, (_, h) => h).filter((h) => heads.has(`${name}:${h}`)));
  }
}

/** How probable the model finds a pronunciation, its end included. */
export function probability(model, word, sounds, vocabulary) {
  const source = encode(vocabulary.letters, vocabulary, word);
  const target = [...encode(vocabulary.phonemes, vocabulary, sounds), vocabulary.end_id];
  return Math.exp(sequence_log_prob(model, source, target, { start_id: vocabulary.start_id }));
}

export const percent = (prob) => (prob >= 0.995 || prob === 0 ? `${Math.round(100 * prob)} %` : prob >= 0.001 ? `${(100 * prob).toFixed(1)} %` : "under 0.1 %");

/** A probability in words that mean something, however small it is. */
export function chance(prob) {
  if (prob >= 0.001) return percent(prob);
  if (prob < 1e-6) return "less than one in a million";
  return `about one in ${Number((1 / prob).toPrecision(2)).toLocaleString("en")}`;
}

/** How a probability changed: "fell from 93.0 % to less than one in a million". */
export function change(before, after) {
  if (before < 1e-6 && after < 1e-6) return "stays at less than one in a million";
  const factor = after >= 0.001 ? before / after : 0; // of a chance in a million nobody can say how often it goes into another
  const times = factor >= 2 ? `, by a factor of ${factor < 10 ? factor.toFixed(1) : Math.round(factor)}` : "";
  return `${after < before ? "fell" : "rose"} from ${chance(before)} to ${chance(after)}${times}`;
}
