#!/usr/bin/env node
// Attention in JavaScript, as a program that answers the messages of docs/languages.md.
//
//     chmod +x examples/javascript/attention.mjs
//     attention-spec certify ./examples/javascript/attention.mjs --profile quick
//
// Expect "attend: certified (quick)" and exit code 0, in float64 and float32. To see a failure,
// write `1` for `1 / Math.sqrt(D)` and run the last command again.
import { readSync, writeSync } from "node:fs";

const DESCRIPTION = `protocol 1
formats float64 float32
function attend(query, key, value, mask=None, is_causal=False, scale=None, enable_gqa=False)
data 0
`;
const KINDS = { float64: Float64Array, float32: Float32Array, bool: Uint8Array };

function attend(arrays, options) {
  const { query, key, value, mask } = arrays;
  const [B, H, N, D] = query.shape;
  const [, G, M] = key.shape;
  const E = value.shape[3];
  const scale = options.scale ?? 1 / Math.sqrt(D);
  if (G !== H && !(options.enable_gqa && G > 0 && H % G === 0)) {
    throw new Error("fewer heads of keys than of queries, without enable_gqa");
  }
  const out = { format: query.format, shape: [B, H, N, E] };
  out.numbers = new KINDS[out.format](B * H * N * E);
  for (let row = 0; row < B * H * N; row++) {
    const b = Math.floor(row / (H * N)), h = Math.floor(row / N) % H, n = row % N;
    const first = (b * G + Math.floor((h * G) / H)) * M; // key of the same head, or its group
    const scores = new Float64Array(M);
    let top = -Infinity;
    for (let m = 0; m < M; m++) {
      const hidden = options.is_causal && m > n;
      const bias = hidden ? -Infinity : mask ? biasOf(mask, [b, h, n, m]) : 0;
      let score = 0;
      for (let d = 0; d < D; d++) {
        score += query.numbers[row * D + d] * key.numbers[(first + m) * D + d];
      }
      scores[m] = bias === -Infinity ? bias : score * scale + bias; // NaN is masked, too
      if (!(scores[m] <= top)) top = scores[m];
    }
    const sums = new Float64Array(E);
    let total = 0;
    for (let m = 0; m < M; m++) {
      if (scores[m] === -Infinity) continue; // a masked key may have a value that is NaN
      const weight = Math.exp(scores[m] - top);
      total += weight;
      for (let e = 0; e < E; e++) sums[e] += weight * value.numbers[(first + m) * E + e];
    }
    for (let e = 0; e < E; e++) out.numbers[row * E + e] = total === 0 ? 0 : sums[e] / total;
  }
  return out;
}

// An entry of a mask, whose axes are the last ones of (B, H, N, M), and may have length 1.
function biasOf(mask, at) {
  const last = at.slice(4 - mask.shape.length);
  const place = mask.shape.reduce((found, x, i) => found * x + (x === 1 ? 0 : last[i]), 0);
  const entry = mask.numbers[place];
  return mask.format !== "bool" ? entry : entry ? 0 : -Infinity;
}

// Exactly so many bytes of the input; null at its end.
function read(count) {
  const bytes = Buffer.alloc(count);
  for (let done = 0; done < count; ) {
    const more = readSync(0, bytes, done, count - done);
    if (more === 0) return null;
    done += more;
  }
  return bytes;
}

function line() {
  let found = "";
  for (let byte; (byte = read(1)) !== null; found += byte.toString("latin1")) {
    if (byte[0] === 10) return found;
  }
  return null;
}

// The next message: what it is about, and the arguments of a call. Null at the end.
function asked() {
  const arrays = {}, options = {}, order = [];
  let what = "";
  for (;;) {
    const text = line();
    if (text === null) return null;
    const [word, name, ...rest] = text.split(" ");
    if (word === "data") break;
    if (word === "option") options[name] = Number(rest[0]);
    else if (word === "array") order.push([name, rest[0], rest.slice(1).map(Number)]);
    else what = word;
  }
  for (const [name, format, shape] of order) {
    const kind = KINDS[format], size = shape.reduce((x, y) => x * y, 1);
    const bytes = new Uint8Array(read(size * kind.BYTES_PER_ELEMENT)); // a copy that is aligned
    arrays[name] = { format, shape, numbers: new kind(bytes.buffer, 0, size) };
  }
  return { what, arrays, options };
}

function write(bytes) {
  for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
}

for (let message; (message = asked()) !== null; ) {
  if (message.what === "describe") {
    write(Buffer.from(DESCRIPTION));
    continue;
  }
  try {
    const { format, shape, numbers } = attend(message.arrays, message.options);
    const head = `array out ${format} ${shape.join(" ")}\ndata ${numbers.byteLength}\n`;
    write(Buffer.concat([Buffer.from(head), Buffer.from(numbers.buffer)]));
  } catch (error) {
    write(Buffer.from(`refused ${error.message}\ndata 0\n`));
  }
}
