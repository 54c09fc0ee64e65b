// The layers of a Transformer, to be read beside the course's Python (course_utils/layers, multi_head.py, positions.py):
// the same names in the same order. There is no batch: a tensor of shape (L, d) is a list of L rows, each a Float32Array.
// L positions, L_q queries, L_k keys, H heads, H_kv key/value heads, d_head = d_model / H.

/** `x W^T + b`, row by row; `weight` is { shape: [d_out, d_in], data }, as PyTorch keeps it. */
export function linear(x, { weight, bias }) {
  const [d_out, d_in] = weight.shape;
  weight.transposed ??= transpose(weight); // (d_in, d_out): read in its order, each sum apart from the others
  return x.map((row) => {
    const y = bias ? bias.data.slice() : new Float32Array(d_out);
    let i = 0;
    for (; i + 7 < d_in; i += 8) add_eight(y, row, weight.transposed, i, d_out);
    for (; i < d_in; i++) for (let o = 0; o < d_out; o++) y[o] += row[i] * weight.transposed[i * d_out + o];
    return y;
  }); // (L, d_out)
}

/** Add to `y` what eight features of `row` give: one pass over `y` instead of eight, which is four times as fast. */
function add_eight(y, row, w, i, d) {
  const [a0, a1, a2, a3, a4, a5, a6, a7] = [row[i], row[i + 1], row[i + 2], row[i + 3], row[i + 4], row[i + 5], row[i + 6], row[i + 7]];
  const w0 = i * d;
  const [w1, w2, w3, w4, w5, w6, w7] = [w0 + d, w0 + 2 * d, w0 + 3 * d, w0 + 4 * d, w0 + 5 * d, w0 + 6 * d, w0 + 7 * d];
  for (let o = 0; o < d; o++) {
    y[o] += a0 * w[w0 + o] + a1 * w[w1 + o] + a2 * w[w2 + o] + a3 * w[w3 + o] + a4 * w[w4 + o] + a5 * w[w5 + o] + a6 * w[w6 + o] + a7 * w[w7 + o];
  }
}

function transpose({ shape: [rows, columns], data }) {
  const columns_first = new Float32Array(data.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) columns_first[j * rows + i] = data[i * columns + j];
  return columns_first;
}

export const add = (x, y) => x.map((row, i) => row.map((value, n) => value + y[i][n])); // (L, d)
const mean = (row) => row.reduce((sum, value) => sum + value, 0) / row.length;

export function layer_norm(x, { weight, bias }, eps = 1e-5) {
  return x.map((row) => {
    const middle = mean(row);
    const variance = mean(row.map((value) => (value - middle) ** 2));
    const root = Math.sqrt(variance + eps);
    return row.map((value, n) => ((value - middle) / root) * weight.data[n] + bias.data[n]);
  }); // (L, d_model)
}

export function rms_norm(x, { weight }, eps = 1e-6) {
  return x.map((row) => {
    const root = Math.sqrt(mean(row.map((value) => value ** 2)) + eps);
    return row.map((value, n) => (value / root) * weight.data[n]);
  }); // (L, d_model)
}

/** Softmax of one row of scores; where `allowed(j)` is false the weight is exactly 0, and all are if nothing is allowed. */
export function masked_softmax(scores, allowed = null) {
  const seen = allowed ? scores.map((score, j) => (allowed(j) ? score : -Infinity)) : scores;
  const highest = Math.max(...seen);
  if (highest === -Infinity) return scores.map(() => 0);
  const powers = seen.map((score) => Math.exp(score - highest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** True where query `i` may attend to key `j`; the last query sees every key. */
export const causal_mask = (L_q, L_k = L_q) => (i, j) => j <= i + L_k - L_q;

/** `position * base ** (-2 i / d)` for pair `i` of `d` features. */
export const rotary_angle = (position, i, d, base = 10000) => position * base ** ((-2 * i) / d);

export class RotaryPositions {
  constructor(d_head, base = 10000) {
    Object.assign(this, { d_head, base });
  }

  /** Rotate each pair (i, i + d_head / 2) of every head by the angle of its position. */
  forward(x, start) {
    const half = this.d_head / 2;
    return x.map((row, place) => {
      const rotated = new Float32Array(row.length);
      for (let i = 0; i < half; i++) {
        const angle = rotary_angle(start + place, i, this.d_head, this.base);
        const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
        for (let at = i; at < row.length; at += this.d_head) {
          rotated[at] = row[at] * cos - row[at + half] * sin;
          rotated[at + half] = row[at + half] * cos + row[at] * sin;
        }
      }
      return rotated;
    }); // (L, H * d_head)
  }
}

/** Keys and values of earlier positions. Rows are never changed once written, so that copies may share them. */
export class KVCache {
  constructor(keys = [], values = []) {
    Object.assign(this, { keys, values }); // each (L_k, H_kv * d_head)
  }

  get length() {
    return this.keys.length;
  }

  update(key, value) {
    this.keys.push(...key);
    this.values.push(...value);
    return [this.keys, this.values];
  }

  copy() {
    return new KVCache([...this.keys], [...this.values]);
  }
}

export class MultiHeadAttention {
  constructor(weights, { num_heads, num_kv_heads = num_heads, rotary = null }) {
    Object.assign(this, weights, { num_heads, num_kv_heads, rotary });
    this.d_head = this.q_proj.weight.shape[0] / num_heads;
    this.off = new Set(); // heads that are taken out
    this.instead = "zeros"; // what they contribute: "zeros", or the "mean" of what they hand on, over the queries
    this.weights = null; // of the latest call: (H, L_q, L_k)
  }

  forward(query, { mask = null, cache = null, projected = null } = {}) {
    let q = linear(query, this.q_proj); // (L_q, d_model); head h holds features h * d_head to (h + 1) * d_head - 1
    let [k, v] = projected ?? this.project_key_value(query); // (L_k, H_kv * d_head)
    if (this.rotary) {
      const start = cache ? cache.length : 0;
      [q, k] = [this.rotary.forward(q, start), this.rotary.forward(k, start)];
    }
    if (cache) [k, v] = cache.update(k, v);
    const repeats = this.num_heads / this.num_kv_heads;
    const merged = q.map((row) => new Float32Array(row.length)); // (L_q, d_model)
    this.weights = Array.from({ length: this.num_heads }, (_, h) => {
      const [at, kv_at] = [h * this.d_head, Math.floor(h / repeats) * this.d_head];
      const rows = q.map((row, i) => {
        const weights = masked_softmax(this.scores(row, k, at, kv_at), mask && ((j) => mask(i, j))); // (L_k,)
        this.average(weights, v, kv_at, merged[i], at);
        return weights;
      });
      if (this.off.has(h)) this.take_out(merged, at);
      return rows; // (L_q, L_k)
    }); // (H, L_q, L_k)
    return linear(merged, this.o_proj); // (L_q, d_model)
  }

  /** Keys and values of a memory that is attended to again and again. */
  project_key_value(x) {
    return [linear(x, this.k_proj), linear(x, this.v_proj)];
  }

  /** Scaled dot products of one head of one query with all keys. */
  scores(query, keys, at, kv_at) {
    const scores = new Float32Array(keys.length); // (L_k,)
    for (let j = 0; j < keys.length; j++) {
      let sum = 0;
      for (let n = 0; n < this.d_head; n++) sum += query[at + n] * keys[j][kv_at + n];
      scores[j] = sum / Math.sqrt(this.d_head);
    }
    return scores;
  }

  /** What one head hands on, the same for every query. */
  take_out(merged, at) {
    for (let n = at; n < at + this.d_head; n++) {
      const value = this.instead === "mean" ? mean(merged.map((row) => row[n])) : 0;
      for (const row of merged) row[n] = value;
    }
  }

  /** The weighted average of one head's values, written into its features of `merged`. */
  average(weights, values, kv_at, merged, at) {
    for (let j = 0; j < values.length; j++) {
      if (weights[j] === 0) continue;
      for (let n = 0; n < this.d_head; n++) merged[at + n] += weights[j] * values[j][kv_at + n];
    }
  }
}

const relu = (x) => x.map((row) => row.map((value) => Math.max(0, value)));
const silu = (x) => x.map((row) => row.map((value) => value / (1 + Math.exp(-value))));
const times = (x, y) => x.map((row, i) => row.map((value, n) => value * y[i][n]));

const feed_forward = (x, { up_proj, down_proj }) => linear(relu(linear(x, up_proj)), down_proj); // (L, d_ff) in between
const swiglu = (x, { gate_proj, up_proj, down_proj }) => linear(times(silu(linear(x, gate_proj)), linear(x, up_proj)), down_proj);

export class EncoderLayer {
  constructor(weights, { pre_norm, ...heads }) {
    Object.assign(this, weights, { pre_norm });
    this.self_attention = new MultiHeadAttention(weights.self_attention, heads);
  }

  forward(x) {
    if (this.pre_norm) {
      x = add(x, this.self_attention.forward(layer_norm(x, this.attention_norm)));
      return add(x, feed_forward(layer_norm(x, this.feed_forward_norm), this.feed_forward));
    }
    x = layer_norm(add(x, this.self_attention.forward(x)), this.attention_norm);
    return layer_norm(add(x, feed_forward(x, this.feed_forward)), this.feed_forward_norm);
  }
}

export class DecoderLayer {
  constructor(weights, { pre_norm, num_heads, rotary }) {
    Object.assign(this, weights, { pre_norm });
    this.self_attention = new MultiHeadAttention(weights.self_attention, { num_heads, rotary });
    this.cross_attention = new MultiHeadAttention(weights.cross_attention, { num_heads }); // positions act in self-attention only
  }

  forward(x, { target_mask, memory_kv, cache = null }) {
    const [own, source] = [{ mask: target_mask, cache }, { projected: memory_kv }];
    if (this.pre_norm) {
      x = add(x, this.self_attention.forward(layer_norm(x, this.attention_norm), own));
      x = add(x, this.cross_attention.forward(layer_norm(x, this.cross_attention_norm), source));
      return add(x, feed_forward(layer_norm(x, this.feed_forward_norm), this.feed_forward));
    }
    x = layer_norm(add(x, this.self_attention.forward(x, own)), this.attention_norm);
    x = layer_norm(add(x, this.cross_attention.forward(x, source)), this.cross_attention_norm);
    return layer_norm(add(x, feed_forward(x, this.feed_forward)), this.feed_forward_norm);
  }
}

export class DecoderOnlyLayer {
  constructor(weights, { norm_eps, ...heads }) {
    Object.assign(this, weights, { norm_eps });
    this.self_attention = new MultiHeadAttention(weights.self_attention, heads);
  }

  forward(x, { mask, cache = null }) {
    x = add(x, this.self_attention.forward(rms_norm(x, this.attention_norm, this.norm_eps), { mask, cache }));
    return add(x, swiglu(rms_norm(x, this.feed_forward_norm, this.norm_eps), this.feed_forward));
  }
}
