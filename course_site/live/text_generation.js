// A text goes on: the language model draws one character after the other, and what it looked at is kept.

import { draw_token, sampling_distribution } from "./decoding.js";
import { encode, packed, symbol_of } from "./pronunciation.js";

const PLAIN = { "“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "…": "...", "\t": "    ", "\r": "" };
export const WINDOW = 48; // characters whose attention is shown at a time
export const EARLIER = "(earlier)";

/** The text in the characters that the model knows, and what had to be replaced by "?". */
export function plain_text(text, { characters }) {
  const strange = new Set();
  const known = (symbol) => {
    if (characters.includes(symbol)) return symbol;
    strange.add(symbol);
    return "?";
  };
  const plain = [...text].flatMap((symbol) => [...(PLAIN[symbol] ?? symbol)]).map(known);
  return { text: plain.join(""), strange: [...strange] };
}

/** What hinders this text, as a sentence; "" if nothing does. */
export function text_problem(text, wanted, { max_len }) {
  if (text === "") return "Type at least one character for it to go on from.";
  const most = max_len - wanted;
  return text.length > most ? `The text has ${text.length} characters; to write ${wanted} more, ${most} is the most it takes.` : "";
}

export class Continuation {
  constructor(model, vocabulary, text) {
    Object.assign(this, { model, vocabulary, characters: [...text], cache: model.start_cache() });
    this.rows = Object.values(model.attentions()).map(({ num_heads }) => Array.from({ length: num_heads }, () => []));
    this.logits = this.feed(encode(vocabulary.characters, vocabulary, text)); // of the next character: (vocab_size,)
  }

  feed(ids) {
    const logits = this.model.next_logits(ids, this.cache);
    Object.values(this.model.attentions()).forEach(({ weights }, layer) => {
      weights.forEach((rows, head) => this.rows[layer][head].push(...rows));
    });
    return logits;
  }

  /** The most probable next characters as [character, probability]. */
  next(options, most = 5) {
    const probs = sampling_distribution(this.logits, options);
    const best = [...probs.keys()].sort((a, b) => probs[b] - probs[a]).slice(0, most);
    return best.filter((id) => probs[id] > 0).map((id) => [symbol_of(this.vocabulary.characters, this.vocabulary, id), probs[id]]);
  }

  /** Draw one character and read it; false if the model came to an end. */
  step(options, random = Math.random) {
    const id = draw_token(sampling_distribution(this.logits, options), random);
    if (id < this.vocabulary.special.length) return false;
    this.characters.push(symbol_of(this.vocabulary.characters, this.vocabulary, id));
    this.logits = this.feed([id]);
    return true;
  }

  /** The attention of the last characters up to place `end`; what they give to those before is summed under one key. */
  attention(end = this.characters.length) {
    const start = Math.max(0, end - WINDOW);
    const shown = this.characters.slice(start, end);
    const cut = (row) => {
      const part = Array.from({ length: end - start }, (_, j) => row[start + j] ?? 0); // what comes later has weight 0
      return start === 0 ? part : [row.slice(0, start).reduce((sum, weight) => sum + weight, 0), ...part];
    };
    const weights = this.rows.map((heads) => heads.map((rows) => rows.slice(start, end).map(cut)));
    return packed([{ name: "self-attention", weights, queries: shown, keys: start === 0 ? shown : [EARLIER, ...shown] }]);
  }
}
