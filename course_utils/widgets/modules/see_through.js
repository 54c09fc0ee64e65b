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
  const output = weights.map((row) => v[0].map((_, f) => row.reduce((sum, w, j) => sum + w * v[j][f], 0)));
  return { factor, products, scores, hidden, weights, output, unseen: (j) => hidden.every((row) => row[j]) };
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

/** A number in few letters, in a cell in fewer: ".32", "1.5". */
export function short(x, inCell = false) {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x < 0 ? "−∞" : "∞";
  const exact = Number(x.toPrecision(7)), size = Math.abs(exact); // 52.5 where a sum came to 52.49999999
  const long = size >= 1000 || (size > 0 && size < (inCell ? 0.005 : 0.01));
  const text = long ? exact.toExponential(0).replace("e+", "e") : String(+exact.toFixed(size < 1 ? 2 : (size < 10 ? 2 : 1) - inCell));
  return (inCell ? text.replace(/^(-?)0\./, "$1.") : text).replace(/-/g, "−");
}

/** "=" between numbers that are what `short` writes of them, "≈" if it rounds one. */
const equals = (...all) => (all.every((x) => !Number.isFinite(x) || Math.abs(x - Number(short(x).replace(/−/g, "-"))) <= 1e-6 * Math.abs(x)) ? "=" : "≈");

/** "0.75 · 8 + 0.25 · 4 = 7" */
export function sum(terms, most = 6) {
  const written = terms.map(([a, b]) => `${short(a)} · ${b < 0 ? `(${short(b)})` : short(b)}`);
  const shown = written.length > most ? [...written.slice(0, most - 2), "…", written.at(-1)] : written;
  const total = terms.reduce((before, [a, b]) => before + a * b, 0);
  return `${shown.join(" + ")} ${equals(total, ...terms.flat())} ${short(total)}`;
}

/** A token as it can be shown: on one line, nothing invisible in it, long ones cut. */
export function visible(word, most) {
  const line = word.replace(/\n/g, "↵").replace(/\t/g, "⇥");
  const letters = [...(line.trim() === "" ? line.replace(/ /g, "␣") || "∅" : line)];
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : letters.join("");
}

const TOUCH = globalThis.matchMedia?.("(hover: none)").matches;
const quoted = (word) => `“${visible(word, 30)}”`;

/** How one cell came to be, in words, and the cells that it came from: [card, row, column], null for all. */
export function explain(card, i, j, data, computed, options) {
  const { q, k, v, queries, keys } = data;
  if (card === "q") return { sentence: `query of ${quoted(queries[i])}, feature ${j}: ${short(q[i][j])}. Drag it up or down${TOUCH ? "" : ", or press + and −"}.`, from: [] };
  if (card === "k") return { sentence: `key of ${quoted(keys[j])}, feature ${i}: ${short(k[j][i])}`, from: [] };
  if (card === "v") return { sentence: `value of ${quoted(keys[i])}, feature ${j}: ${short(v[i][j])}`, from: [] };
  if (card === "s") {
    const terms = q[i].map((x, f) => [x, k[j][f]]);
    const [factor, score] = [computed.factor, computed.scores[i][j]];
    const scaled = options.scaling ? `, times ${short(factor)} ${equals(factor, score)} ${short(score)}` : "";
    return { sentence: `score of ${quoted(queries[i])} with ${quoted(keys[j])}: ${sum(terms)}${scaled}${computed.hidden[i][j] ? ". The mask hides it." : ""}`, from: [["q", i, null], ["k", null, j]] };
  }
  if (card === "w") {
    const from = [["s", i, null]];
    const place = `weight of ${quoted(keys[j])} for ${quoted(queries[i])}`;
    if (computed.hidden[i][j]) return { sentence: `${place}: hidden by the mask, so 0`, from };
    if (!options.softmax) return { sentence: `${place}: the score itself, as the softmax is off: ${short(computed.weights[i][j])}`, from };
    const seen = computed.scores[i].filter((_, n) => !computed.hidden[i][n]);
    const powers = seen.slice(0, 4).map((x) => `e^${short(x)}`).join(" + ") + (seen.length > 4 ? " + …" : "");
    return { sentence: `${place}: e^${short(computed.scores[i][j])} / (${powers}) ${equals(computed.weights[i][j], ...seen)} ${short(computed.weights[i][j])}`, from };
  }
  // A weight of 0 takes nothing from a value, and is left out; but 0 times NaN is NaN, as in PyTorch.
  const terms = computed.weights[i].map((w, n) => [w, v[n][j]]).filter(([w, x]) => !(Math.abs(w) < 1e-6) || !Number.isFinite(x));
  const sentence = `output of ${quoted(queries[i])}, feature ${j}: ${terms.length ? sum(terms) : "every weight is 0, so it is 0"}`;
  return { sentence, from: [["w", i, null], ["v", null, j]] };
}

/** What a step or a switch does, in a sentence. */
export function describe(what, data, options, factor) {
  const features = data.q[0].length;
  return {
    "step 0": `Each token has a query, what it asks for, and a key, what it can be found by: ${features} numbers each.`,
    "step 1": `Each query meets each key: multiply feature by feature and add up${options.scaling ? `, then scale by 1/√${features} ${equals(factor)} ${short(factor)}` : ""}. Every pair has a score.`,
    "step 2": `The scores of a row become weights: ${options.softmax ? "e^score, divided by the sum over the row; they are positive and add up to 1" : "with the softmax off, the scores as they are"}.${data.mask && options.masking ? " Hatched cells are hidden by the mask." : ""}`,
    "step 3": "Each output is a mixture of all values: every row of V times its weight, added up.",
    scaling: options.scaling
      ? `Scores are divided by √${features}, so that their size does not grow with the number of features.`
      : "The scores are the bare products: the more features, the larger they get, and the more a softmax gives to one key alone.",
    masking: options.masking ? "Hatched cells are hidden: they get no weight." : "Without the mask every query looks at every key, also at those that it must not see.",
    softmax: options.softmax ? "e^score, divided by the sum over the row: weights are positive and add up to 1." : "Without a softmax the weights are the scores: they may be negative, and need not add up to 1.",
    reset: "The queries are as at first.",
  }[what];
}

// ---------------------------------------------------------------- the page

const COLORS = { q: "#0072B2", k: "#D55E00", v: "#009E73", s: "#5A5A5A", w: "#7A3E9D", o: "#9A6A00" };
const NAMES = { q: "Q", k: "K turned", v: "V", s: "scores", w: "weights", o: "output" };
const INK = "#1f2328";
const STEPS = ["1 Q, K", "2 scores", "3 weights", "4 output"];
const FIRST_STEP = { q: 0, k: 0, s: 1, w: 2, v: 3, o: 3 }; // the step with which a card appears
// Where the cards stand. K stands turned above the scores and V above the output, so that each cell sits where its row and its
// column cross. Beside more than a dozen keys V would stand too high: then it stands between the weights and the output.
const LAYOUTS = {
  crossing: { areas: `". k . v" "q s w o"`, columns: ["q", "ks", "w", "o"] },
  row: { areas: `". k . . ." "q s w v o"`, columns: ["q", "ks", "w", "v", "o"] },
  tall: { areas: `". k . ." "q s . ." ". w v o"`, columns: ["q", "ksw", "v", "o"] },
  pairs: { areas: `". k" "q s" ". v" "w o"`, columns: ["qw", "kso"] },
  column: { areas: `"q" "k" "s" "w" "v" "o"`, columns: ["qkswvo"] },
};
const CAPTIONS = { q: 70, k: 115, v: 70, s: 125, w: 140, o: 105 }; // pixels
const HANGING = { crossing: "v", pairs: "v", tall: "w" }; // the card whose words hang into the free place beside it
const MOST_CROSSING = 12; // keys
const [LARGEST, WITH_NUMBERS, WITH_WORDS, LEAST] = [40, 24, 11, 4]; // pixels of a cell
const SLANT = 1; // radians by which the words above a card are turned
const FONT = "system-ui, sans-serif";
const IN_THE_DARK = `:is([data-jp-theme-light="false"], [data-theme="dark"])`; // there light and dark change places, and hues stay
const DARK = `${IN_THE_DARK} .drawn-light { filter: invert(0.96) hue-rotate(180deg); }`;
const STYLE = `
:host { display: block; font: 14px/1.4 ${FONT}; color: ${INK}; color-scheme: light; }
.box { background: #fff; border: 1px solid #d0d7de; border-radius: 8px; padding: 10px 12px; max-width: 100%; box-sizing: border-box; }
.bar, .bar > div { display: flex; flex-wrap: wrap; gap: 6px 12px; align-items: center; } .bar { gap: 6px 24px; margin-bottom: 8px; } .bar .steps { gap: 4px; }
button, select { font: inherit; padding: 3px 9px; border: 1px solid #8c959f; border-radius: 6px; background: #f6f8fa; color: inherit; min-height: 30px; cursor: pointer; }
button[aria-pressed="true"] { background: #0550ae; border-color: #0550ae; color: #fff; }
label { display: inline-flex; gap: 5px; align-items: center; min-height: 30px; cursor: pointer; } input { width: 16px; height: 16px; margin: 0; }
.cards { display: grid; gap: 12px 14px; justify-content: start; align-items: end; overflow-x: auto; padding: 6px; }
figure { margin: 0; } figcaption { font-weight: 700; white-space: nowrap; border-left: 5px solid; padding-left: 6px; margin-bottom: 5px; line-height: 1.25; }
figcaption span { color: ${INK}; } small { font-weight: 400; color: #59636e; font-size: 12px; } small + small { display: block; }
canvas { display: block; touch-action: pan-x pan-y; } canvas.drags { touch-action: pan-x; cursor: ns-resize; }
:focus-visible { outline: 3px solid #9a6700; outline-offset: 2px; } .later { visibility: hidden; }
.sentence { position: sticky; bottom: 0; min-height: 2.8em; margin: 8px 0 0; padding: 6px 9px; background: #f6f8fa; border: 1px solid #d0d7de; border-radius: 6px; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
details { margin-top: 6px; } table { border-collapse: collapse; font-size: 12px; } td, th { border: 1px solid #d0d7de; padding: 2px 5px; text-align: right; }
.scroll { overflow: auto; max-height: 16em; }`;

/** A deep copy of nested lists of numbers; what JSON cannot say comes as a text: "NaN", "Infinity", "-Infinity". */
const numbers = (x) => (Array.isArray(x) ? x.map(numbers) : Number(x));
const differs = (a, b) => !Object.is(a, b) && !(Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(b)));

function make(tag, text, attributes = {}) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text; // never as HTML: a token may hold any text
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** A color between white and the one that is given, and the ink that is read best on it: dark on colors lighter than `least`. */
function shade(color, share, least) {
  const [r, g, b] = [1, 3, 5].map((at) => Math.round(255 + (parseInt(color.slice(at, at + 2), 16) - 255) * share));
  return { paint: `rgb(${r}, ${g}, ${b})`, ink: 0.3 * r + 0.59 * g + 0.11 * b > least ? INK : "#fff" };
}

function render({ model, el }) {
  const data = model.get("data");
  const initial = { ...data, q: numbers(data.q), k: numbers(data.k), v: numbers(data.v) };
  const state = { head: 0, step: 3, over: null, options: { scaling: initial.scaling !== false, masking: initial.mask !== null, softmax: true } };
  let q = numbers(initial.q);
  let [now, computed, first] = [null, null, null]; // the numbers of this head, all that follows from them, and what followed at first
  let message = `${TOUCH ? "Tap a cell" : "Point at a cell, or walk with Tab and the arrow keys"}: it says where it comes from. Drag a cell of Q up or down.`;
  const [canvases, shapes] = [{}, {}]; // each card's canvas, and where its cells lie on it

  const root = el.appendChild(make("div", undefined, { class: "drawn-light" })).attachShadow({ mode: "open" });
  el.append(make("style", DARK)), root.append(make("style", STYLE));
  const box = root.appendChild(make("div", undefined, { class: "box", role: "group", "aria-label": "See-through attention" }));
  const bar = box.appendChild(make("div", undefined, { class: "bar" }));
  const cards = box.appendChild(make("div", undefined, { class: "cards" }));
  const sentence = box.appendChild(make("p", message, { class: "sentence" }));
  const spoken = box.appendChild(make("div", undefined, { class: "unseen", role: "status" }));
  const more = box.appendChild(make("details"));
  more.append(make("summary", "The weights as a table"));
  const scroll = more.appendChild(make("div", undefined, { class: "scroll" }));

  // ------------------------------------------------ controls

  const steps = bar.appendChild(make("div", undefined, { class: "steps", role: "group", "aria-label": "steps" }));
  const stepButtons = STEPS.map((text, n) => {
    const button = steps.appendChild(make("button", text, { type: "button" }));
    button.addEventListener("click", () => {
      state.step = n;
      act(`step ${n}`);
    });
    return button;
  });
  const switches = bar.appendChild(make("div", undefined, { role: "group", "aria-label": "switches" }));
  for (const [name, text] of [["scaling", "scaling"], ["masking", "mask"], ["softmax", "softmax"]]) {
    if (name === "masking" && !initial.mask) continue;
    const label = switches.appendChild(make("label"));
    const input = label.appendChild(make("input", undefined, { type: "checkbox" }));
    input.checked = state.options[name];
    input.addEventListener("change", () => { state.options[name] = input.checked; act(name); });
    label.append(text);
  }
  if (initial.q.length > 1) {
    const label = bar.appendChild(make("label", "head "));
    const select = label.appendChild(make("select"));
    select.append(...initial.q.map((_, n) => make("option", String(n), { value: n })));
    select.addEventListener("change", () => {
      state.head = Number(select.value);
      redraw(true);
    });
  }
  const reset = bar.appendChild(make("button", "Q as at first", { type: "button" }));
  reset.addEventListener("click", () => { q = numbers(initial.q); act("reset"); });

  /** After a control: its sentence takes the place of a cell's. */
  function act(what) {
    state.over = null;
    recompute();
    message = describe(what, now, state.options, computed.factor);
    redraw();
  }

  for (const card of Object.keys(FIRST_STEP)) {
    const figure = cards.appendChild(make("figure"));
    figure.style.gridArea = card;
    const caption = figure.appendChild(make("figcaption"));
    caption.style.borderColor = COLORS[card];
    caption.append(make("span", NAMES[card] + " "), make("small"), make("small"));
    const canvas = figure.appendChild(make("canvas", undefined, { tabindex: 0, role: "application" }));
    if (card === "q") canvas.className = "drags";
    canvases[card] = canvas;
    listen(card, canvas);
  }

  // ------------------------------------------------ pointer and keys

  function at(card, event) {
    const { left, top, cell, n, m } = shapes[card];
    const bounds = canvases[card].getBoundingClientRect();
    const j = Math.floor((event.clientX - bounds.left - left) / cell);
    const i = Math.floor((event.clientY - bounds.top - top) / cell);
    return i >= 0 && j >= 0 && i < n && j < m ? [i, j] : null;
  }

  function listen(card, canvas) {
    let drag = null;
    const point = (place) => {
      state.over = [card, ...place];
      redraw();
    };
    const change = (i, j, value) => {
      q[state.head][i][j] = value;
      redraw(true);
    };
    canvas.addEventListener("pointermove", (event) => {
      if (drag) {
        const by = 0.05 * Math.round((drag.y - event.clientY) / 1.5);
        return change(drag.i, drag.j, by === 0 ? drag.was : drag.value + by); // back at its place, it has its old value
      }
      const place = at(card, event);
      if (place && String([card, ...place]) !== String(state.over)) point(place);
    });
    canvas.addEventListener("pointerdown", (event) => {
      const place = at(card, event);
      if (!place || event.button !== 0) return;
      point(place);
      if (card === "q") {
        const was = q[state.head][place[0]][place[1]];
        drag = { i: place[0], j: place[1], y: event.clientY, was, value: Number.isFinite(was) ? was : 0 };
        canvas.setPointerCapture(event.pointerId);
      }
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) canvas.addEventListener(end, () => (drag = null));
    canvas.addEventListener("focus", () => state.over?.[0] === card || point([0, 0]));
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      const [, i, j] = state.over?.[0] === card ? state.over : [card, 0, 0];
      const { n, m } = shapes[card];
      if (by) point([Math.min(n - 1, Math.max(0, i + by[0])), Math.min(m - 1, Math.max(0, j + by[1]))]);
      else if (card === "q" && ["+", "=", "-", "−"].includes(event.key)) {
        const was = q[state.head][i][j];
        point([i, j]);
        change(i, j, (Number.isFinite(was) ? was : 0) + (event.key === "+" || event.key === "=" ? 0.25 : -0.25));
      } else return;
      event.preventDefault();
      event.stopPropagation(); // a notebook has shortcuts of its own
    });
  }

  // ------------------------------------------------ drawing

  let waiting = false;
  /** Draw before the next picture, once for all that came in between; `changed`: the numbers are new. */
  function redraw(changed = false) {
    if (changed) computed = null;
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  }

  function recompute() {
    const { head, options } = state;
    const mask = initial.mask && initial.mask[initial.mask.length > 1 ? head : 0];
    now = { q: q[head], k: initial.k[head], v: initial.v[head], mask, queries: initial.queries, keys: initial.keys };
    computed = attention(now.q, now.k, now.v, mask, options);
    const old = attention(initial.q[head], now.k, now.v, mask, options);
    first = { q: initial.q[head], s: old.scores, w: old.weights, o: old.output };
    if (more.open) table();
  }

  const turned = (x) => x[0].map((_, f) => x.map((row) => row[f]));
  const values = (card) => ({ q: now.q, k: turned(now.k), v: now.v, s: computed.scores, w: computed.weights, o: computed.output })[card];

  function draw() {
    const started = performance.now();
    if (!computed) recompute();
    if (state.over && FIRST_STEP[state.over[0]] > state.step) state.over = null;
    const sight = layout();
    cards.style.gridTemplateAreas = LAYOUTS[sight.name].areas;
    stepButtons.forEach((button, n) => button.setAttribute("aria-pressed", String(n === state.step)));
    more.style.display = state.step < FIRST_STEP.w ? "none" : "";
    let from = [];
    let text = message;
    if (state.over) {
      const [card, i, j] = state.over;
      ({ sentence: text, from } = explain(card, i, j, now, computed, state.options));
      if (first[card] && differs(values(card)[i][j], first[card][i][j])) text += ` (at first ${short(first[card][i][j])})`;
    }
    for (const card of Object.keys(canvases)) {
      canvases[card].parentNode.classList.toggle("later", FIRST_STEP[card] > state.step);
      paint(card, values(card), from, sight);
    }
    if (sentence.textContent !== text) say(text);
    box.dataset.drawn = String(Math.round((performance.now() - started) * 10) / 10);
  }

  let speaking;
  /** Seen at once; for those who listen it is spoken when it has stood for a moment, not at every pixel of a drag. */
  function say(text) {
    sentence.textContent = text;
    clearTimeout(speaking);
    speaking = setTimeout(() => (spoken.textContent = text), 500);
  }

  /** Which layout fits, how large its cells are, and how much room the words take beside and above them (0: none). */
  function layout() {
    const room = (box.clientWidth || 900) - 40;
    const counts = { q: now.q[0].length, k: now.keys.length, s: now.keys.length, w: now.keys.length, v: now.v[0].length, o: now.v[0].length };
    const pen = canvases.q.getContext("2d");
    pen.font = `12px ${FONT}`;
    const widest = Math.ceil(8 + Math.min(100, Math.max(...[...now.queries, ...now.keys].map((text) => pen.measureText(visible(text, 12)).width))));
    const wide = (name, card, cell, words) => {
      const beside = hasRowWords(name, card) && card !== HANGING[name] ? words : 0;
      const slanted = card === "k" || card === "w" ? Math.cos(SLANT) * words : 0;
      return Math.max(CAPTIONS[card], counts[card] * cell + beside + slanted + 8);
    };
    const fit = (name) => {
      const total = (cell, words) => LAYOUTS[name].columns.reduce((sum, cards) => sum + 14 + Math.max(...[...cards].map((card) => wide(name, card, cell, words))), 0);
      let [cell, words] = [LARGEST, widest];
      while (cell > LEAST && total(cell, words) > room) {
        cell -= 0.5;
        if (cell < WITH_WORDS) words = 0;
      }
      return { name, cell, words };
    };
    const [usual, least, other] = room < 520 ? ["pairs", 14, "column"] : now.keys.length > MOST_CROSSING ? ["row", WITH_WORDS, "tall"] : ["crossing", 0];
    const layout = fit(usual);
    return layout.cell >= least ? layout : fit(other);
  }

  const hasRowWords = (name, card) => "qwv".includes(card) || (name === "column" && card !== "k");

  function paint(card, matrix, from, { name, cell, words }) {
    const canvas = canvases[card];
    const [n, m] = [matrix.length, matrix[0].length];
    const beside = words && hasRowWords(name, card) ? (card === "v" ? now.keys : now.queries) : null;
    const above = words && (card === "k" || card === "w") ? now.keys : null;
    const left = beside ? words : 3;
    const top = above ? Math.round(Math.sin(SLANT) * words) + 8 : 3;
    shapes[card] = { left, top, cell, n, m };
    canvas.parentNode.style.marginLeft = card === HANGING[name] ? `${3 - left}px` : "";
    caption(card, canvas.previousSibling, n, m);
    const pen = sized(canvas, left + m * cell + (above ? Math.cos(SLANT) * words : 4), top + n * cell + 4);
    const scale = "vo".includes(card) ? [...now.v.filter((_, j) => !computed.unseen(j)), ...computed.output] : matrix; // V and output share it
    const limit = card === "w" && state.options.softmax ? 1 : Math.max(...scale.flat().filter(Number.isFinite).map(Math.abs), 0) || 1; // the color of this number is full
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < m; j++) {
        const [x, y, off] = [left + j * cell, top + i * cell, "sw".includes(card) ? computed.hidden[i][j] : "kv".includes(card) && computed.unseen(card === "k" ? j : i)];
        if (!off || card !== "w") square(pen, card, matrix[i][j], x, y, cell, off ? Infinity : limit);
        if (off) hatch(pen, x, y, cell);
        if (first[card] && differs(matrix[i][j], first[card][i][j])) corner(pen, x, y, cell);
      }
    }
    Object.assign(pen, { fillStyle: INK, font: `${Math.max(10, Math.min(12, cell * 0.9))}px ${FONT}`, textBaseline: "middle", textAlign: "right" });
    beside?.forEach((text, i) => pen.fillText(visible(text, 12), left - 5, top + (i + 0.5) * cell, words - 6));
    pen.textAlign = "left";
    above?.forEach((text, j) => {
      pen.save();
      pen.translate(left + (j + 0.5) * cell, top - 5);
      pen.rotate(-SLANT);
      pen.fillText(visible(text, 12), 0, 0, words - 6);
      pen.restore();
    });
    frame(pen, COLORS[card], 2, left - 1, top - 1, m * cell + 2, n * cell + 2);
    for (const [other, i, j] of [...from, ...(state.over ? [state.over] : [])]) {
      if (other !== card) continue;
      const place = [left + (j ?? 0) * cell, top + (i ?? 0) * cell, (j === null ? m : 1) * cell, (i === null ? n : 1) * cell];
      frame(pen, "#fff", 5, ...place); // seen on dark cells too
      frame(pen, "#000", 2.5, ...place);
    }
  }

  function caption(card, node, n, m) {
    const { scaling, softmax: soft, masking } = state.options;
    node.childNodes[1].textContent = `(${n}, ${m})`;
    node.childNodes[2].textContent = {
      s: `Q @ K turned${scaling ? ` × ${short(computed.factor)}` : ""}`,
      w: `${now.mask && masking ? "mask, " : ""}${soft ? "softmax of each row" : "no softmax"}`,
      o: "weights @ V",
    }[card] ?? "";
    const label = `${NAMES[card]}, ${n} by ${m}. Arrow keys walk over the cells${card === "q" ? ", + and − change one" : ""}.`;
    if (canvases[card].getAttribute("aria-label") !== label) canvases[card].setAttribute("aria-label", label);
  }

  function sized(canvas, w, h) {
    const ratio = globalThis.devicePixelRatio || 1;
    const [width, height] = [Math.ceil(w * ratio), Math.ceil(h * ratio)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height }); // it also clears
    canvas.style.width = `${width / ratio}px`;
    canvas.style.height = `${height / ratio}px`;
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, w, h);
    return pen;
  }

  function frame(pen, color, width, ...place) {
    Object.assign(pen, { strokeStyle: color, lineWidth: width });
    pen.strokeRect(...place);
  }

  function hatch(pen, left, top, cell) {
    Object.assign(pen, { strokeStyle: "#a8a8a8", lineWidth: 0.7 });
    pen.beginPath();
    for (let at = 4; at < 2 * cell; at += 5) {
      pen.moveTo(left + Math.max(0, at - cell), top + Math.min(cell, at));
      pen.lineTo(left + Math.min(cell, at), top + Math.max(0, at - cell));
    }
    pen.stroke();
  }

  function square(pen, card, x, left, top, cell, limit) {
    const share = Number.isFinite(x) ? Math.min(1, Math.abs(x) / limit) : 0;
    const least = el.closest(IN_THE_DARK) ? 155 : 125; // turned over, a mid tone is lighter than it was dark
    const { paint, ink } = card === "w" && state.options.softmax ? shade(COLORS.w, share, least) : shade(x < 0 ? "#2166AC" : "#B2182B", 0.92 * share, least);
    pen.fillStyle = Number.isFinite(x) ? paint : "#f5d76e"; // NaN and infinite
    pen.fillRect(left + 0.5, top + 0.5, cell - 1, cell - 1);
    if (cell < WITH_NUMBERS) return;
    const font = `${Math.max(10.5, Math.min(13, cell / 2.8))}px ${FONT}`;
    Object.assign(pen, { fillStyle: Number.isFinite(x) ? ink : INK, font, textBaseline: "middle", textAlign: "center" });
    pen.fillText(short(x, true), left + cell / 2, top + cell / 2, cell - 3); // the sentence below has it in full
  }

  /** The mark of a cell that is no longer as at first. */
  function corner(pen, left, top, cell) {
    const side = Math.max(3, Math.min(9, cell * 0.3));
    pen.beginPath();
    for (const [x, y] of [[-side, 0], [0, 0], [0, side], [-side, 0]]) pen.lineTo(left + cell + x - 0.5, top + y + 0.5);
    pen.fillStyle = "#000";
    pen.fill();
  }

  function table() {
    const node = make("table");
    node.append(make("caption", "weights: a row a query, a column a key"));
    const head = node.appendChild(make("tr"));
    head.append(make("td"), ...now.keys.map((text) => make("th", text, { scope: "col" })));
    now.queries.forEach((text, i) => {
      const row = node.appendChild(make("tr"));
      row.append(make("th", text, { scope: "row" }), ...computed.weights[i].map((x, j) => make("td", computed.hidden[i][j] ? "hidden" : short(x))));
    });
    scroll.replaceChildren(node);
  }

  more.addEventListener("toggle", () => more.open && table());
  const watcher = new ResizeObserver(() => redraw());
  watcher.observe(box);
  draw();
  return () => {
    watcher.disconnect();
    clearTimeout(speaking);
  };
}

export default { render };
