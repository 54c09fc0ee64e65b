// The model of lesson 13 on a string that is written twice: what it expects, what a letter costs it, where its heads look.

import { plain_letters } from "./plain_letters.js";

/** Letters to ids, twice; an error says what the string must be. */
export function written_twice(text, letters) {
  const once = [...plain_letters(text.trim())];
  const strange = [...new Set(once)].filter((letter) => !letters.includes(letter)).map((letter) => `“${letter}”`);
  if (strange.length) throw new Error(`It knows the letters a to z alone, not ${strange.join(", ")}`);
  if (once.length < 2 || once.length > letters.length) throw new Error(`Type 2 to ${letters.length} letters; these are ${once.length}`);
  const ids = once.map((letter) => letters.indexOf(letter));
  return [...ids, ...ids];
}

/** Each row's probabilities from its logits. */
const softmax = (logits) => {
  const highest = Math.max(...logits);
  const powers = [...logits].map((logit) => Math.exp(logit - highest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
};

/**
 * What the model makes of ids that are written twice, with the heads in `out` ("layer.head") taken out; `instead` is "mean" or
 * "zeros". `expected[k]` is about letter k of the second half, from the second on: { best, prob } and the `right` letter's.
 */
export function continued(model, ids, out = new Set(), instead = "mean") {
  const attentions = Object.values(model.attentions());
  attentions.forEach((attention, layer) => {
    attention.off = new Set([...out].filter((name) => Number(name.split(".")[0]) === layer).map((name) => Number(name.split(".")[1])));
    attention.instead = instead;
  });
  const probs = model.forward(ids).map(softmax); // (L, vocab_size)
  const half = ids.length / 2;
  const expected = Array.from({ length: half }, (_, k) => {
    if (k === 0) return null; // nothing tells it: the string before it may have any length
    const row = probs[half + k - 1];
    const best = row.indexOf(Math.max(...row));
    return { best, prob: row[best], right: row[ids[half + k]] };
  });
  const costs = expected.slice(1).map(({ right }) => -Math.log2(Math.max(right, 1e-30)));
  return { expected, bits: costs.reduce((sum, cost) => sum + cost, 0) / costs.length, weights: attentions.map(({ weights }) => weights) };
}

/** One head's mean weight on the letter before, over the first half: (L, L) weights. */
export function before_score(weights) {
  const half = weights.length / 2;
  const rows = weights.slice(1, half).map((row, i) => row[i]);
  return rows.reduce((sum, weight) => sum + weight, 0) / rows.length;
}

/** One head's mean weight on the letters that came after the earlier ones that are the same, over the queries that have any. */
export function copy_score(weights, ids) {
  const sums = weights.map((row, i) => ids.slice(0, i).flatMap((id, j) => (id === ids[i] ? [row[j + 1]] : [])));
  const rows = sums.filter((found) => found.length).map((found) => found.reduce((sum, weight) => sum + weight, 0));
  return rows.length ? rows.reduce((sum, weight) => sum + weight, 0) / rows.length : 0;
}

/** "layer.head" of the largest score. */
export function strongest(weights, score) {
  const all = weights.flatMap((heads, layer) => heads.map((head, h) => [score(head), `${layer}.${h}`]));
  return all.reduce((best, one) => (one[0] > best[0] ? one : best))[1];
}
