// The models of lessons 10, 12 and 13, to be read beside course_utils/models/transformer.py and decoder_lm.py: the same names in
// the same order. One sequence at a time; a tensor of shape (L, d) is a list of L rows, each a Float32Array.
// L_s source and L_t target positions.

import { DecoderLayer, DecoderOnlyLayer, EncoderLayer, KVCache, RotaryPositions, add, causal_mask, layer_norm, linear, rms_norm, rotary_angle } from "./layers.js";
import { read } from "./safetensors.js";

const DEFAULTS = {
  Transformer: { pre_norm: true, final_norm: true, positions: "sinusoidal" },
  DecoderLM: { num_kv_heads: null, positions: "rotary", max_len: 1024, rope_base: 10000, norm_eps: 1e-6 },
};

/** A model from the bytes of its file. All sizes come from the file. */
export function load(buffer) {
  const { metadata, tensors } = read(buffer);
  if (!(metadata.model in DEFAULTS)) throw new Error(`a model of the kind ${metadata.model} is not known here`);
  const config = { ...DEFAULTS[metadata.model], ...JSON.parse(metadata.config) };
  return new { Transformer, DecoderLM }[metadata.model](config, nested(tensors));
}

/** { "layers.0.norm.weight": t } -> { layers: { 0: { norm: { weight: t } } } } */
function nested(tensors) {
  const root = {};
  for (const [name, tensor] of Object.entries(tensors)) {
    const parts = name.split(".");
    const last = parts.pop();
    parts.reduce((place, part) => (place[part] ??= {}), root)[last] = tensor;
  }
  return root;
}

const row_of = ({ shape, data }, index) => data.subarray(index * shape[1], (index + 1) * shape[1]);

function embedded(table, tokens) {
  for (const id of tokens) if (!(id >= 0 && id < table.shape[0])) throw new Error(`id ${id} is not among the ${table.shape[0]} of this embedding`);
  return tokens.map((id) => row_of(table, id)); // (L, d_model)
}

class InputEmbedding {
  constructor(weights, { positions, d_model }) {
    Object.assign(this, weights, { kind: positions, d_model }); // of learned positions the weights hold a table
  }

  forward(tokens, start = 0) {
    const root = Math.sqrt(this.d_model);
    const x = embedded(this.tokens.weight, tokens).map((row) => row.map((value) => value * root)); // (L, d_model)
    const at = this.kind === "learned" ? (place) => row_of(this.positions.table, place) : (place) => this.sines(place);
    return this.kind === "learned" || this.kind === "sinusoidal" ? add(x, x.map((_, place) => at(start + place))) : x;
  }

  sines(place) {
    const angle = (n) => rotary_angle(place, Math.floor(n / 2), this.d_model);
    return Float32Array.from({ length: this.d_model }, (_, n) => (n % 2 ? Math.cos(angle(n)) : Math.sin(angle(n))));
  }
}

export function log_softmax(logits) {
  const highest = Math.max(...logits);
  const total = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - highest), 0)) + highest;
  return logits.map((logit) => logit - total);
}

export class Transformer {
  constructor(config, weights) {
    this.config = config;
    const rotary = config.positions === "rotary" ? new RotaryPositions(config.d_model / config.num_heads) : null;
    const options = { num_heads: config.num_heads, pre_norm: config.pre_norm, rotary };
    this.source_embedding = new InputEmbedding(weights.source_embedding, config);
    this.target_embedding = new InputEmbedding(weights.target_embedding, config);
    const layers = Array.from({ length: config.num_layers }, (_, n) => n);
    this.encoder_layers = layers.map((n) => new EncoderLayer(weights.encoder_layers[n], options));
    this.decoder_layers = layers.map((n) => new DecoderLayer(weights.decoder_layers[n], options));
    this.encoder_norm = (x) => (config.final_norm ? layer_norm(x, weights.encoder_norm) : x);
    this.decoder_norm = (x) => (config.final_norm ? layer_norm(x, weights.decoder_norm) : x);
    this.generator = (x) => linear(x, weights.generator);
  }

  encode(source) {
    let x = this.source_embedding.forward(source); // (L_s, d_model)
    for (const layer of this.encoder_layers) x = layer.forward(x); // no padding in one sequence: nothing to mask
    return this.encoder_norm(x);
  }

  decode(target, memory) {
    let x = this.target_embedding.forward(target); // (L_t, d_model)
    const target_mask = causal_mask(target.length);
    for (const layer of this.decoder_layers) x = layer.forward(x, { target_mask, memory_kv: layer.cross_attention.project_key_value(memory) });
    return this.decoder_norm(x);
  }

  /** Logits of the token after each target position: (L_t, tgt_vocab). */
  forward(source, target) {
    return this.generator(this.decode(target, this.encode(source)));
  }

  start_decoding(source) {
    const memory = this.encode(source); // (L_s, d_model)
    const memory_kv = this.decoder_layers.map((layer) => layer.cross_attention.project_key_value(memory));
    return { caches: this.decoder_layers.map(() => new KVCache()), memory_kv, length: 0 };
  }

  /** Log-probabilities of the next token, and the state after it. The state that is given stays as it was: beams share it. */
  decode_step(state, token) {
    const caches = state.caches.map((cache) => cache.copy());
    let x = this.target_embedding.forward([token], state.length); // (1, d_model)
    this.decoder_layers.forEach((layer, n) => {
      x = layer.forward(x, { target_mask: null, cache: caches[n], memory_kv: state.memory_kv[n] });
    });
    const [logits] = this.generator(this.decoder_norm(x)); // (tgt_vocab,)
    return [log_softmax(logits), { ...state, caches, length: state.length + 1 }];
  }

  /** Every attention by the Python's name; its `weights` are those of the latest call. */
  attentions() {
    const named = (stack, part) => this[stack].map((layer, n) => [`${stack}.${n}.${part}`, layer[part]]);
    const decoder = named("decoder_layers", "self_attention").flatMap((own, n) => [own, named("decoder_layers", "cross_attention")[n]]);
    return Object.fromEntries([...named("encoder_layers", "self_attention"), ...decoder]);
  }
}

export class DecoderLM {
  constructor(config, weights) {
    this.config = config;
    const rotary = config.positions === "rotary" ? new RotaryPositions(config.d_model / config.num_heads, config.rope_base) : null;
    const options = { num_heads: config.num_heads, num_kv_heads: config.num_kv_heads ?? config.num_heads, rotary, norm_eps: config.norm_eps };
    this.embedding = weights.embedding;
    this.positions = weights.positions; // a table where they are learned
    this.layers = Array.from({ length: config.num_layers }, (_, n) => new DecoderOnlyLayer(weights.layers[n], options));
    this.norm = (x) => rms_norm(x, weights.norm, config.norm_eps);
    this.generator = (x) => linear(x, weights.generator ?? weights.embedding);
  }

  /** Logits of the token after each position: (L, vocab_size). */
  forward(tokens, cache = null) {
    return this.generator(this.norm(this.stream(tokens, cache)));
  }

  /** Logits of the token after the last position alone: (vocab_size,). */
  next_logits(tokens, cache = null) {
    return this.generator(this.norm(this.stream(tokens, cache).slice(-1)))[0];
  }

  stream(tokens, cache) {
    const start = cache ? cache[0].length : 0;
    if (start + tokens.length > this.config.max_len) throw new Error(`${start + tokens.length} positions, but this model has room for ${this.config.max_len}`);
    let x = embedded(this.embedding.weight, tokens); // (L, d_model)
    if (this.positions) x = add(x, x.map((_, place) => row_of(this.positions.table, start + place)));
    const mask = causal_mask(tokens.length, start + tokens.length);
    this.layers.forEach((layer, n) => {
      x = layer.forward(x, { mask, cache: cache?.[n] });
    });
    return x; // (L, d_model)
  }

  start_cache() {
    return this.layers.map(() => new KVCache());
  }

  attentions() {
    return Object.fromEntries(this.layers.map((layer, n) => [`layers.${n}.self_attention`, layer.self_attention]));
  }
}
