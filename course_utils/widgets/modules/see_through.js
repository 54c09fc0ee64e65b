// See-through attention: the cards of one attention, alive. One module, nothing loaded from elsewhere.
// The same file runs in a notebook (anywidget) and on the course's web pages: render({ model, el }) needs of the model only
// get(name), and of the page nothing. All arithmetic happens here.

// ---------------------------------------------------------------- arithmetic

/** scores, weights and output of one head; mask[i][j] true: query i may look at key j. */
export function attention(q, k, v, mask, options) {
  const factor = options.scaling ? 1 / Math.sqrt(q[0].length) : 1;
  const products = q.map((row) => k.map((other) => dot(row, other)));
  const scores = products.map((row) => row.map((x) => x * factor));
  const hidden = scores.map((row, i) => row.map((_, j) => Boolean(options.masking && mask && !mask[i][j])));
  const weights = scores.map((row, i) => (options.softmax ? softmax(row, hidden[i]) : row.map((x, j) => (hidden[i][j] ? 0 : x))));
  const output = weights.map((row) => v[0].map((_, f) => row.reduce((sum, w, j) => sum + (w === 0 ? 0 : w * v[j][f]), 0)));
  return { factor, products, scores, hidden, weights, output };
}

/** A softmax over what is not hidden; a row in which all is hidden gives zeros. */
export function softmax(row, hidden) {
  const seen = row.filter((_, j) => !hidden[j]);
  if (seen.length === 0) return row.map(() => 0);
  const most = Math.max(...seen);
  const powers = row.map((x, j) => (hidden[j] ? 0 : Math.exp(x - most)));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((x) => x / sum);
}

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

/** A number in few letters. */
export function short(x) {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x < 0 ? "−∞" : "∞";
  const size = Math.abs(x);
  const text = size === 0 ? "0" : size < 0.01 ? x.toExponential(0) : size < 10 ? x.toFixed(2) : size < 1000 ? x.toFixed(0) : x.toExponential(0);
  return (text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text).replace(/-/g, "−").replace("e+", "e");
}

/** "0.75 · 8 + 0.25 · 4 = 7" */
export function sum(terms, most = 6) {
  const written = terms.map(([a, b]) => `${short(a)} · ${b < 0 ? `(${short(b)})` : short(b)}`);
  const shown = written.length > most ? [...written.slice(0, most - 2), "…", written.at(-1)] : written;
  return `${shown.join(" + ")} = ${short(terms.reduce((total, [a, b]) => total + (a === 0 ? 0 : a * b), 0))}`;
}

/** How one cell came to be, in words, and the cells that it came from: [card, row, column], null for all. */
export function explain(card, i, j, data, found, options) {
  const { q, k, v, queries, keys } = data;
  const who = `“${queries[i]}”`;
  if (card === "q") return { said: `query of ${who}, feature ${j}: ${short(q[i][j])}. Drag it up or down, or press + and −.`, from: [] };
  if (card === "k") return { said: `key of “${keys[j]}”, feature ${i}: ${short(k[j][i])}`, from: [] };
  if (card === "v") return { said: `value of “${keys[i]}”, feature ${j}: ${short(v[i][j])}`, from: [] };
  if (card === "s") {
    const terms = q[i].map((x, f) => [x, k[j][f]]);
    const scaled = options.scaling ? `, times ${short(found.factor)} = ${short(found.scores[i][j])}` : "";
    const masked = found.hidden[i][j] ? ". The mask hides it." : "";
    return { said: `score of ${who} with “${keys[j]}”: ${sum(terms)}${scaled}${masked}`, from: [["q", i, null], ["k", null, j]] };
  }
  if (card === "w") {
    const from = [["s", i, null]];
    const place = `weight of “${keys[j]}” for ${who}`;
    if (found.hidden[i][j]) return { said: `${place}: hidden by the mask, so 0`, from };
    if (!options.softmax) return { said: `${place}: the score itself, ${short(found.weights[i][j])}, as the softmax is off`, from };
    const seen = found.scores[i].filter((_, n) => !found.hidden[i][n]);
    const powers = seen.slice(0, 4).map((x) => `e^${short(x)}`).join(" + ") + (seen.length > 4 ? " + …" : "");
    return { said: `${place}: e^${short(found.scores[i][j])} / (${powers}) = ${short(found.weights[i][j])}`, from };
  }
  const terms = found.weights[i].map((w, n) => [w, v[n][j]]).filter(([w]) => w !== 0);
  const said = `output of ${who}, feature ${j}: ${terms.length ? sum(terms) : "nothing may be looked at: 0"}`;
  return { said, from: [["w", i, null], ["v", null, j]] };
}

// ---------------------------------------------------------------- the page

const COLORS = { q: "#0072B2", k: "#D55E00", v: "#009E73", s: "#5A5A5A", w: "#7A3E9D", o: "#9A6A00" };
const NAMES = { q: "Q", k: "K turned", v: "V", s: "scores", w: "weights", o: "output" };
const STEPS = [["q", "k"], ["q", "k", "s"], ["s", "w"], ["w", "v", "o"]];
const WORDS = ["1 queries and keys", "2 every query meets every key", "3 scores become weights", "4 weights mix the values"];
const LEAST = 9; // pixels of a cell that has a word beside it
const STYLE = `
:host { display: block; font: 14px/1.4 system-ui, sans-serif; color: #1f2328; }
.box { background: #fff; border: 1px solid #d0d7de; border-radius: 8px; padding: 10px 12px; max-width: 100%; box-sizing: border-box; }
.bar { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; margin-bottom: 8px; }
.bar button, .bar select { font: inherit; padding: 3px 9px; border: 1px solid #8c959f; border-radius: 6px; background: #f6f8fa; color: inherit; min-height: 30px; }
.bar button[aria-pressed="true"] { background: #0550ae; border-color: #0550ae; color: #fff; }
.cards { display: grid; grid-template-areas: ". k . v" "q s w o"; gap: 12px 26px; justify-content: start; align-items: end; overflow-x: auto; padding: 3px; }
.cards.narrow { grid-template-areas: "q" "k" "s" "w" "v" "o"; }
figure { margin: 0; } figcaption { font-weight: 700; white-space: nowrap; } figcaption small { font-weight: 400; color: #59636e; }
canvas { display: block; touch-action: pan-x pan-y; } canvas.drags { touch-action: pan-x; cursor: ns-resize; }
canvas:focus-visible, button:focus-visible, select:focus-visible, input:focus-visible { outline: 3px solid #bf8700; outline-offset: 2px; }
.pale { opacity: 0.3; }
output { display: block; min-height: 2.9em; margin-top: 8px; padding: 6px 9px; background: #f6f8fa; border-radius: 6px; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
details { margin-top: 6px; } table { border-collapse: collapse; font-size: 12px; } td, th { border: 1px solid #d0d7de; padding: 2px 5px; text-align: right; }
.scroll { overflow: auto; max-height: 16em; }`;

/** A deep copy of nested lists of numbers; what JSON cannot say comes as a text: "NaN", "Infinity", "-Infinity". */
const numbers = (x) => (Array.isArray(x) ? x.map(numbers) : Number(x));
const make = (tag, text, attributes = {}) => {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
};

function mix(color, share) {
  const part = (at) => Math.round(255 + (parseInt(color.slice(at, at + 2), 16) - 255) * share);
  return `rgb(${part(1)}, ${part(3)}, ${part(5)})`;
}

function render({ model, el }) {
  const data = model.get("data");
  const given = { ...data, q: numbers(data.q), k: numbers(data.k), v: numbers(data.v) };
  const heads = given.q.length;
  const state = { head: 0, step: 3, over: null, options: { scaling: true, masking: given.mask !== null, softmax: true } };
  let q = numbers(given.q);
  const root = el.attachShadow ? el.appendChild(make("div")).attachShadow({ mode: "open" }) : el;
  root.append(make("style", STYLE));
  const box = root.appendChild(make("div", undefined, { class: "box", role: "group", "aria-label": "See-through attention" }));
  const bar = box.appendChild(make("div", undefined, { class: "bar" }));
  const cards = box.appendChild(make("div", undefined, { class: "cards" }));
  const said = box.appendChild(make("output", "Point at a cell, or walk with Tab and the arrow keys: it says where it comes from.", { "aria-live": "polite" }));
  const more = box.appendChild(make("details"));
  more.append(make("summary", "The weights as a table"));
  const scroll = more.appendChild(make("div", undefined, { class: "scroll" }));
  const canvases = {};
  const shapes = {};
  let found;

  const now = () => ({ q: q[state.head], k: given.k[state.head], v: given.v[state.head], mask: given.mask && given.mask[state.head], queries: given.queries, keys: given.keys });
  const turned = (x) => x[0].map((_, f) => x.map((row) => row[f]));
  const values = (card, data) => ({ q: data.q, k: turned(data.k), v: data.v, s: found.scores, w: found.weights, o: found.output })[card];
  const rows = (card, data) => ({ q: data.queries, k: null, v: data.keys, s: data.queries, w: data.queries, o: data.queries })[card];
  const columns = (card, data) => (card === "k" || card === "w" ? data.keys : null);

  function button(text, pressed, press) {
    const node = bar.appendChild(make("button", text, { type: "button", "aria-pressed": String(pressed()) }));
    node.addEventListener("click", () => {
      press();
      draw();
    });
    buttons.push([node, pressed]);
  }
  const buttons = [];
  WORDS.forEach((word, n) => button(word, () => state.step === n, () => (state.step = n)));
  button("scaling", () => state.options.scaling, () => (state.options.scaling = !state.options.scaling));
  if (given.mask) button("mask", () => state.options.masking, () => (state.options.masking = !state.options.masking));
  button("softmax", () => state.options.softmax, () => (state.options.softmax = !state.options.softmax));
  if (heads > 1) {
    const select = make("select", undefined, { "aria-label": "head" });
    for (let n = 0; n < heads; n++) select.append(make("option", `head ${n}`, { value: n }));
    select.addEventListener("change", () => {
      state.head = Number(select.value);
      state.over = null;
      draw();
    });
    bar.append(select);
  }
  button("as at first", () => false, () => (q = numbers(given.q)));

  for (const card of ["q", "k", "s", "w", "v", "o"]) {
    const figure = cards.appendChild(make("figure"));
    figure.style.gridArea = card;
    const caption = figure.appendChild(make("figcaption", NAMES[card] + " "));
    caption.style.color = COLORS[card];
    caption.append(make("small"));
    const canvas = figure.appendChild(make("canvas", undefined, { tabindex: 0, role: "application" }));
    if (card === "q") canvas.className = "drags";
    canvases[card] = canvas;
    listen(card, canvas);
  }

  function at(card, event) {
    const { left, top, cell, n, m } = shapes[card];
    const bounds = canvases[card].getBoundingClientRect();
    const j = Math.floor((event.clientX - bounds.left - left) / cell);
    const i = Math.floor((event.clientY - bounds.top - top) / cell);
    return i >= 0 && j >= 0 && i < n && j < m ? [i, j] : null;
  }

  function listen(card, canvas) {
    let dragging = null;
    canvas.addEventListener("pointermove", (event) => {
      if (dragging) {
        q[state.head][dragging.i][dragging.j] = Math.round((dragging.value + (dragging.y - event.clientY) / 30) * 20) / 20;
        return ask();
      }
      const place = at(card, event);
      if (place && String([card, ...place]) !== String(state.over)) {
        state.over = [card, ...place];
        ask();
      }
    });
    canvas.addEventListener("pointerdown", (event) => {
      const place = at(card, event);
      if (!place) return;
      state.over = [card, ...place];
      if (card === "q") {
        dragging = { i: place[0], j: place[1], y: event.clientY, value: q[state.head][place[0]][place[1]] || 0 };
        canvas.setPointerCapture(event.pointerId);
      }
      ask();
    });
    const release = () => (dragging = null);
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("focus", () => {
      if (!state.over || state.over[0] !== card) state.over = [card, 0, 0];
      ask();
    });
    canvas.addEventListener("keydown", (event) => {
      const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      const [, i, j] = state.over && state.over[0] === card ? state.over : [card, 0, 0];
      const { n, m } = shapes[card];
      if (by) state.over = [card, Math.min(n - 1, Math.max(0, i + by[0])), Math.min(m - 1, Math.max(0, j + by[1]))];
      else if (card === "q" && ["+", "=", "-", "−"].includes(event.key)) {
        const step = event.key === "+" || event.key === "=" ? 0.25 : -0.25;
        q[state.head][i][j] = Math.round(((q[state.head][i][j] || 0) + step) * 100) / 100;
      } else return;
      event.preventDefault();
      ask();
    });
  }

  let waiting = false;
  function ask() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  }

  function draw() {
    const started = performance.now();
    const data = now();
    found = attention(data.q, data.k, data.v, data.mask, state.options);
    const told = state.over ? explain(...state.over, data, found, state.options) : { said: said.textContent, from: [] };
    const width = box.clientWidth || 900;
    const narrow = width < 560;
    cards.classList.toggle("narrow", narrow);
    for (const [node, pressed] of buttons) node.setAttribute("aria-pressed", String(pressed()));
    const across = data.q[0].length + 2 * data.keys.length + data.v[0].length;
    const words = Math.max(...data.queries.map((word) => word.length), ...data.keys.map((word) => word.length));
    let label = Math.min(90, 8 + 7 * Math.min(words, 12));
    const most = Math.max(data.keys.length, data.q[0].length, data.v[0].length);
    const room = (taken) => (narrow ? (width - taken - 40) / most : (width - 4 * taken - 110) / across);
    if (room(label) < LEAST) label = 4; // too small for words beside them
    const cell = Math.max(4, Math.min(36, room(label)));
    for (const card of Object.keys(canvases)) {
      canvases[card].parentNode.classList.toggle("pale", !STEPS.slice(0, state.step + 1).flat().includes(card));
      paint(card, values(card, data), rows(card, data), columns(card, data), cell, label, told.from);
    }
    said.textContent = told.said;
    if (more.open) table(data);
    box.dataset.drawn = String(Math.round((performance.now() - started) * 10) / 10);
  }

  function paint(card, matrix, rowWords, columnWords, cell, label, from) {
    const canvas = canvases[card];
    const narrow = cards.classList.contains("narrow");
    const left = rowWords || (card === "k" && !narrow) ? label : 3; // K stands right above the columns of the scores
    const top = columnWords && cell >= LEAST ? Math.min(70, label * 0.85) : 3;
    const [n, m] = [matrix.length, matrix[0].length];
    shapes[card] = { left, top, cell, n, m };
    canvas.previousSibling.lastChild.textContent = `(${n}, ${m})`;
    const [w, h] = [left + m * cell + (columnWords ? 26 : 4), top + n * cell + 4];
    const ratio = globalThis.devicePixelRatio || 1;
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(h * ratio);
      canvas.style.width = `${w}px`;
      canvas.style.height = `${h}px`;
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, w, h);
    let limit = 0;
    for (const row of matrix) for (const x of row) if (Number.isFinite(x)) limit = Math.max(limit, Math.abs(x));
    if (card === "w" && state.options.softmax) limit = 1;
    const size = Math.max(8, Math.min(12, cell / 2.9));
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < m; j++) square(pen, card, matrix[i][j], left + j * cell, top + i * cell, cell, limit || 1, size, card === "w" && found.hidden[i][j]);
    }
    pen.fillStyle = "#1f2328";
    pen.font = `${Math.max(9, Math.min(13, cell * 0.9))}px system-ui, sans-serif`;
    pen.textBaseline = "middle";
    const clip = (word) => (word.length > 12 ? `${word.slice(0, 11)}…` : word);
    if (rowWords && cell >= LEAST) {
      pen.textAlign = "right";
      rowWords.forEach((word, i) => pen.fillText(clip(word), left - 5, top + (i + 0.5) * cell));
    }
    if (columnWords && cell >= LEAST) {
      pen.textAlign = "left";
      columnWords.forEach((word, j) => {
        pen.save();
        pen.translate(left + (j + 0.45) * cell, top - 4);
        pen.rotate(-1);
        pen.fillText(clip(word), 0, 0);
        pen.restore();
      });
    }
    pen.strokeStyle = COLORS[card];
    pen.lineWidth = 2;
    pen.strokeRect(left - 1, top - 1, m * cell + 2, n * cell + 2);
    pen.strokeStyle = "#000";
    pen.lineWidth = 2.5;
    for (const [other, i, j] of [...from, ...(state.over ? [state.over] : [])]) {
      if (other === card) pen.strokeRect(left + (j ?? 0) * cell, top + (i ?? 0) * cell, (j === null ? m : 1) * cell, (i === null ? n : 1) * cell);
    }
    canvas.setAttribute("aria-label", `${NAMES[card]}, ${n} by ${m}. Arrow keys walk over the cells.`);
  }

  function square(pen, card, x, left, top, cell, limit, size, hidden) {
    pen.fillStyle = "#fff";
    pen.fillRect(left, top, cell, cell);
    if (hidden) {
      pen.strokeStyle = "#a8a8a8";
      pen.lineWidth = 0.7;
      pen.beginPath();
      for (let at = 4; at < 2 * cell; at += 5) {
        pen.moveTo(left + Math.max(0, at - cell), top + Math.min(cell, at));
        pen.lineTo(left + Math.min(cell, at), top + Math.max(0, at - cell));
      }
      pen.stroke();
      return;
    }
    const share = Number.isFinite(x) ? Math.min(1, Math.abs(x) / limit) : 0.25;
    pen.fillStyle = card === "w" && state.options.softmax ? mix(COLORS.w, share) : mix(x < 0 ? "#2166AC" : "#B2182B", 0.92 * share);
    pen.fillRect(left + 0.5, top + 0.5, cell - 1, cell - 1);
    if (cell >= 22) {
      pen.fillStyle = share > 0.55 ? "#fff" : "#1f2328";
      pen.font = `${size}px system-ui, sans-serif`;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      pen.fillText(short(x).replace(/^(−?)0\./, "$1."), left + cell / 2, top + cell / 2, cell - 3);
    }
  }

  function table(data) {
    const node = make("table");
    node.append(make("caption", "weights: a row a query, a column a key"));
    const head = node.appendChild(make("tr"));
    head.append(make("td"), ...data.keys.map((word) => make("th", word, { scope: "col" })));
    data.queries.forEach((word, i) => {
      const row = node.appendChild(make("tr"));
      row.append(make("th", word, { scope: "row" }), ...found.weights[i].map((x, j) => make("td", found.hidden[i][j] ? "hidden" : short(x))));
    });
    scroll.replaceChildren(node);
  }

  more.addEventListener("toggle", draw);
  const watcher = typeof ResizeObserver === "undefined" ? null : new ResizeObserver(ask);
  watcher?.observe(box);
  draw();
  return () => watcher?.disconnect();
}

export default { render };
