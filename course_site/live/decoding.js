// From a model to sequences: greedy decoding, beam search, sampling, as in course_utils/decoding.

import { log_softmax } from "./transformer.js";

const highest_first = (a, b) => b - a;

/** The most probable symbol at every step: { tokens, log_prob }, tokens up to the end symbol. */
export function greedy_decode(model, source, { max_len, start_id, end_id }) {
  let [state, token, log_prob] = [model.start_decoding(source), start_id, 0];
  const tokens = [];
  while (tokens.length < max_len && token !== end_id) {
    let log_probs;
    [log_probs, state] = model.decode_step(state, token); // (vocab,)
    token = log_probs.indexOf(Math.max(...log_probs));
    log_prob += log_probs[token];
    tokens.push(token);
  }
  return { tokens, log_prob };
}

/**
 * The best sequences, best first: a list of { tokens, log_prob, score }, ranked by log_prob / length ** length_penalty.
 * A sequence that takes the end symbol while among the best `beam_size` is finished. The search is over when that many are and
 * no live one can still win: its log-probability only falls, and its length is at most `max_len`.
 */
export function beam_search(model, source, { max_len, beam_size = 5, length_penalty = 1, start_id, end_id }) {
  let alive = [{ tokens: [], log_prob: 0, state: model.start_decoding(source), token: start_id }];
  let finished = [];
  for (let step = 1; step <= max_len; step++) {
    const candidates = [];
    for (const beam of alive) {
      const [log_probs, state] = model.decode_step(beam.state, beam.token); // (vocab,)
      // Of one beam no more than 2 beam_size can be among the best of all.
      const bound = [...log_probs].sort(highest_first)[Math.min(2 * beam_size, log_probs.length) - 1];
      log_probs.forEach((log_prob, token) => {
        if (log_prob >= bound) candidates.push({ tokens: [...beam.tokens, token], log_prob: beam.log_prob + log_prob, state, token });
      });
    }
    // Twice as many as beams: each beam can end in one way only, so at least beam_size of them go on.
    const best = candidates.sort((a, b) => b.log_prob - a.log_prob).slice(0, 2 * beam_size);
    const last = step === max_len;
    const ends = best.slice(0, beam_size).filter(({ token }) => token === end_id || last);
    const scored = ends.map(({ tokens, log_prob }) => ({ tokens, log_prob, score: log_prob / step ** length_penalty }));
    finished = [...finished, ...scored].sort((a, b) => b.score - a.score).slice(0, beam_size);
    alive = best.filter(({ token }) => token !== end_id).slice(0, beam_size);
    const beaten = alive.length === 0 || alive[0].log_prob / max_len ** length_penalty <= finished[0]?.score;
    if (finished.length === beam_size && beaten) break;
  }
  return finished;
}

/** Probabilities from which the next token is drawn: logits by temperature, then the fewest tokens that reach top_p. */
export function sampling_distribution(logits, { temperature = 1, top_p = 1 } = {}) {
  const probs = new Float64Array(logits.length);
  const order = [...logits.keys()].sort((a, b) => logits[b] - logits[a]);
  if (temperature === 0) {
    probs[order[0]] = 1;
    return probs;
  }
  const log_probs = log_softmax(Float64Array.from(logits, (logit) => logit / temperature));
  let [before, kept] = [0, 0];
  for (const [place, token] of order.entries()) {
    if (place > 0 && before >= top_p && top_p < 1) break;
    probs[token] = Math.exp(log_probs[token]);
    before += probs[token];
    kept += probs[token];
  }
  return probs.map((prob) => prob / kept);
}

/** One token drawn from a distribution; `random()` is a number from 0 to 1. */
export function draw_token(probs, random = Math.random) {
  let left = random();
  const open = [...probs.keys()].filter((token) => probs[token] > 0);
  for (const token of open) {
    left -= probs[token];
    if (left < 0) return token;
  }
  return open.at(-1); // what rounding left over
}

/** Log-probability of a whole target sequence, its end symbol included. */
export function sequence_log_prob(model, source, target, { start_id }) {
  const rows = model.forward(source, [start_id, ...target.slice(0, -1)]).map(log_softmax); // (L_t, vocab)
  return target.reduce((sum, token, place) => sum + rows[place][token], 0);
}
