// Reads a safetensors file: 8 bytes with the length of the header, the header as JSON, then the numbers of all tensors.
// Format: https://huggingface.co/docs/safetensors (section "Format").

/** `{ metadata, tensors }`; a tensor is `{ shape, data }`, its numbers in a Float32Array, row after row. */
export function read(buffer) {
  if (buffer.byteLength < 8) throw new Error("these are no weights: the file is shorter than 8 bytes");
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  if (8 + length > buffer.byteLength) throw new Error("these are no weights: the header is longer than the file");
  const { __metadata__: metadata = {}, ...entries } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(entries)) {
    const [start, end] = data_offsets.map((offset) => 8 + length + offset);
    tensors[name] = { shape, data: numbers(dtype, buffer.slice(start, end)) };
    const count = shape.reduce((product, size) => product * size, 1);
    if (tensors[name].data.length !== count) throw new Error(`${name} has ${tensors[name].data.length} numbers, not ${count}`);
  }
  return { metadata, tensors };
}

function numbers(dtype, bytes) {
  if (dtype === "F32") return new Float32Array(bytes);
  if (dtype === "F16") {
    const halves = new Uint16Array(bytes);
    const wide = new Float32Array(halves.length);
    for (let at = 0; at < halves.length; at++) wide[at] = from_float16(halves[at]);
    return wide;
  }
  throw new Error(`numbers of type ${dtype} are not known here, only F16 and F32`);
}

/** The value of 16 bits: sign (1), exponent (5), fraction (10), as in IEEE 754, section 3.4. */
export function from_float16(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24; // zero, and numbers too small for a leading 1
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
