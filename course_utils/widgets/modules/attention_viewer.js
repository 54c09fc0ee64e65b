// Attention viewer: every layer and head of a model on one sequence. One module, nothing loaded from elsewhere.
// The model of the widget has two entries: "groups", a list of { name, layers, heads, queries, keys, offset }, and "weights",
// all weights of all groups as 16-bit numbers (65535 is 1), group after group, layer, head, query, key.

// ---------------------------------------------------------------- numbers

/** The weights of one head as rows. */
export function head(bytes, group, layer, index) {
  const [n, m] = [group.queries.length, group.keys.length];
  const start = group.offset + (layer * group.heads + index) * n * m;
  return Array.from({ length: n }, (_, i) => Array.from({ length: m }, (_, j) => bytes.getUint16(2 * (start + i * m + j), true) / 65535));
}

/** What one token gives or takes: its row (a query) or its column (a key), the largest first. */
export function strongest(rows, side, place, most = 5) {
  const line = side === "query" ? rows[place] : rows.map((row) => row[place]);
  return line
    .map((weight, at) => ({ weight, at }))
    .filter(({ weight }) => weight >= 0.005)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, most);
}

/** A sentence about one token. */
export function tell(rows, side, place, group) {
  const [own, others] = side === "query" ? [group.queries, group.keys] : [group.keys, group.queries];
  const found = strongest(rows, side, place);
  const list = found.map(({ weight, at }) => `“${others[at]}” ${weight.toFixed(2)}`).join(", ");
  if (side === "query") return `“${own[place]}” looks at ${list || "nothing"}`;
  return `“${own[place]}” is looked at by ${list || "nobody"}`;
}

// ---------------------------------------------------------------- the page

const INK = "#1f2328";
const COLOR = "#7A3E9D";
const STYLE = `
:host { display: block; font: 14px/1.4 system-ui, sans-serif; color: ${INK}; }
.box { background: #fff; border: 1px solid #d0d7de; border-radius: 8px; padding: 10px 12px; max-width: 100%; box-sizing: border-box; }
.bar { display: flex; flex-wrap: wrap; gap: 6px 10px; align-items: center; margin-bottom: 8px; }
button { font: inherit; padding: 3px 9px; border: 1px solid #8c959f; border-radius: 6px; background: #f6f8fa; color: inherit; min-height: 30px; }
button[aria-pressed="true"] { background: #0550ae; border-color: #0550ae; color: #fff; }
.parts { display: flex; flex-wrap: wrap; gap: 14px 24px; align-items: flex-start; }
canvas { display: block; max-width: 100%; } canvas:focus-visible, button:focus-visible, input:focus-visible { outline: 3px solid #bf8700; outline-offset: 2px; }
.main { overflow: auto; max-width: 100%; }
output { display: block; min-height: 2.9em; margin-top: 8px; padding: 6px 9px; background: #f6f8fa; border-radius: 6px; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
small { color: #59636e; display: block; margin-bottom: 3px; } label { display: inline-flex; gap: 6px; align-items: center; }
details { margin-top: 6px; } table { border-collapse: collapse; font-size: 12px; } td, th { border: 1px solid #d0d7de; padding: 2px 5px; text-align: right; }
.scroll { overflow: auto; max-height: 16em; }`;

const make = (tag, text, attributes = {}) => {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
};
const shade = (share) => `rgb(${Math.round(255 - 133 * share)}, ${Math.round(255 - 193 * share)}, ${Math.round(255 - 98 * share)})`;
const clip = (word, most = 12) => (word.length > most ? `${word.slice(0, most - 1)}…` : word);

function sized(canvas, width, height) {
  const ratio = globalThis.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

function render({ model, el }) {
  const groups = model.get("groups");
  const raw = model.get("weights");
  const bytes = raw instanceof DataView ? raw : new DataView(raw.buffer ?? raw, raw.byteOffset ?? 0, raw.byteLength);
  const state = { group: 0, layer: 0, head: 0, view: "lines", token: null, fixed: false, step: null };
  const root = el.appendChild(make("div")).attachShadow({ mode: "open" });
  root.append(make("style", STYLE));
  const box = root.appendChild(make("div", undefined, { class: "box", role: "group", "aria-label": "Attention of every layer and head" }));
  const bar = box.appendChild(make("div", undefined, { class: "bar" }));
  const parts = box.appendChild(make("div", undefined, { class: "parts" }));
  const side = parts.appendChild(make("div"));
  side.append(make("small", "a row a layer, a column a head; choose one"));
  const grid = side.appendChild(make("canvas", undefined, { tabindex: 0, role: "application" }));
  const main = parts.appendChild(make("div", undefined, { class: "main" }));
  const title = main.appendChild(make("small"));
  const large = main.appendChild(make("canvas", undefined, { tabindex: 0, role: "application" }));
  const said = box.appendChild(make("output", "", { "aria-live": "polite" }));
  const more = box.appendChild(make("details"));
  more.append(make("summary", "This head as a table"));
  const scroll = more.appendChild(make("div", undefined, { class: "scroll" }));
  const buttons = [];
  let rows = [];
  let places = {};
  let thumbs = null; // the grid without the mark of the chosen head, drawn once for each group
  let size = {};

  function button(text, pressed, press) {
    const node = bar.appendChild(make("button", text, { type: "button" }));
    node.addEventListener("click", () => {
      press();
      draw();
    });
    buttons.push([node, pressed]);
  }
  if (groups.length > 1) {
    groups.forEach((group, n) =>
      button(group.name, () => state.group === n, () => Object.assign(state, { group: n, layer: 0, head: 0, token: null, fixed: false, step: null })),
    );
  }
  button("lines", () => state.view === "lines", () => (state.view = "lines"));
  button("heatmap", () => state.view === "heatmap", () => (state.view = "heatmap"));
  const steps = bar.appendChild(make("label", "queries up to "));
  const slider = steps.appendChild(make("input", undefined, { type: "range", min: 1, step: 1 }));
  slider.addEventListener("input", () => {
    state.step = Number(slider.value);
    ask();
  });

  const group = () => groups[state.group];
  const shown = () => state.step ?? group().queries.length;

  grid.addEventListener("pointerdown", (event) => {
    const bounds = grid.getBoundingClientRect();
    const scale = bounds.width / size.gridWidth;
    const [j, i] = [(event.clientX - bounds.left) / scale - 22, (event.clientY - bounds.top) / scale - 18].map((x) => Math.floor(x / size.thumb));
    if (i >= 0 && j >= 0 && i < group().layers && j < group().heads) choose(i, j);
  });
  grid.addEventListener("keydown", (event) => {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!by) return;
    event.preventDefault();
    const within = (x, most) => Math.min(most - 1, Math.max(0, x));
    choose(within(state.layer + by[0], group().layers), within(state.head + by[1], group().heads));
  });
  function choose(layer, head) {
    Object.assign(state, { layer, head });
    ask();
  }

  function tokenAt(event) {
    const bounds = large.getBoundingClientRect();
    const scale = bounds.width / places.width;
    const [x, y] = [(event.clientX - bounds.left) / scale, (event.clientY - bounds.top) / scale];
    if (state.view === "lines") {
      const n = Math.floor((y - places.top) / places.row);
      if (x < places.width / 2) return n >= 0 && n < shown() ? ["query", n] : null;
      return n >= 0 && n < group().keys.length ? ["key", n] : null;
    }
    const [i, j] = [Math.floor((y - places.top) / places.row), Math.floor((x - places.left) / places.row)];
    if (i >= 0 && i < shown() && j < group().keys.length) return ["query", i];
    return i < 0 && j >= 0 && j < group().keys.length ? ["key", j] : null;
  }
  large.addEventListener("pointermove", (event) => {
    if (state.fixed) return;
    const token = tokenAt(event);
    if (String(token) !== String(state.token)) {
      state.token = token;
      ask();
    }
  });
  large.addEventListener("pointerleave", () => {
    if (!state.fixed) {
      state.token = null;
      ask();
    }
  });
  large.addEventListener("pointerdown", (event) => {
    const token = tokenAt(event);
    state.fixed = token !== null && !(state.fixed && String(token) === String(state.token));
    state.token = token;
    ask();
  });
  large.addEventListener("keydown", (event) => {
    const moves = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: 0, ArrowRight: 0 };
    if (event.key === "Escape") Object.assign(state, { token: null, fixed: false });
    else if (event.key in moves) {
      let [which, place] = state.token ?? ["query", -1];
      if (moves[event.key] === 0) which = event.key === "ArrowLeft" ? "query" : "key";
      const count = which === "query" ? shown() : group().keys.length;
      state.token = [which, Math.min(count - 1, Math.max(0, place + moves[event.key]))];
      state.fixed = true;
    } else return;
    event.preventDefault();
    ask();
  });

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
    const now = group();
    for (const [node, pressed] of buttons) node.setAttribute("aria-pressed", String(pressed()));
    slider.max = now.queries.length;
    slider.value = shown();
    steps.style.display = now.queries.length > 1 ? "" : "none";
    rows = head(bytes, now, state.layer, state.head);
    drawGrid(now);
    title.textContent = `${now.name}, layer ${state.layer}, head ${state.head}`;
    (state.view === "lines" ? drawLines : drawHeatmap)(now);
    const [which, place] = state.token ?? [];
    said.textContent = which ? tell(rows, which, place, now) : "Point at a token, or walk with Tab and the arrow keys: it says where it looks. A click keeps it.";
    large.setAttribute("aria-label", `${title.textContent}. Arrow keys walk over the tokens; left is the queries, right the keys.`);
    grid.setAttribute("aria-label", `${now.layers} layers of ${now.heads} heads; chosen: layer ${state.layer}, head ${state.head}. Arrow keys choose.`);
    if (more.open) table(now);
    box.dataset.drawn = String(Math.round((performance.now() - started) * 10) / 10);
  }

  function drawGrid(now) {
    const room = Math.min(380, (box.clientWidth || 900) - 50);
    const thumb = Math.max(7, Math.min(52, Math.floor(room / now.heads)));
    const width = 24 + thumb * now.heads;
    const height = 20 + thumb * now.layers;
    if (!thumbs || thumbs.group !== state.group || thumbs.thumb !== thumb) {
      thumbs = { group: state.group, thumb, canvas: document.createElement("canvas") };
      const pen = sized(thumbs.canvas, width, height);
      pen.fillStyle = INK;
      pen.font = "10px system-ui, sans-serif";
      for (let h = 0; h < now.heads; h += Math.max(1, Math.ceil(14 / thumb))) pen.fillText(String(h), 22 + (h + 0.3) * thumb, 12);
      for (let l = 0; l < now.layers; l++) {
        pen.fillText(String(l), 6, 18 + (l + 0.6) * thumb);
        for (let h = 0; h < now.heads; h++) small(pen, now, l, h, 22 + h * thumb, 18 + l * thumb, thumb - 2);
      }
    }
    size = { thumb, gridWidth: width };
    const pen = sized(grid, width, height);
    pen.drawImage(thumbs.canvas, 0, 0, width, height);
    pen.strokeStyle = "#BF8700";
    pen.lineWidth = 3;
    pen.strokeRect(21 + state.head * thumb, 17 + state.layer * thumb, thumb, thumb);
  }

  function small(pen, now, layer, index, left, top, side) {
    const [n, m] = [now.queries.length, now.keys.length];
    const image = new ImageData(m, n);
    const start = now.offset + (layer * now.heads + index) * n * m;
    for (let at = 0; at < n * m; at++) {
      const share = Math.min(1, bytes.getUint16(2 * (start + at), true) / 65535);
      image.data.set([255 - 133 * share, 255 - 193 * share, 255 - 98 * share, 255], 4 * at);
    }
    const part = document.createElement("canvas");
    part.width = m;
    part.height = n;
    part.getContext("2d").putImageData(image, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(part, left, top, side, side);
    pen.strokeStyle = "#8c959f";
    pen.lineWidth = 0.8;
    pen.strokeRect(left, top, side, side);
  }

  function drawLines(now) {
    const count = Math.max(now.queries.length, now.keys.length);
    const row = Math.max(11, Math.min(24, 420 / count));
    const width = Math.max(240, Math.min(460, (box.clientWidth || 900) - 40));
    const [top, word] = [22, Math.min(100, 0.27 * width)];
    places = { top, row, width, left: word };
    const pen = sized(large, width, top + count * row + 6);
    const letters = Math.max(9, Math.min(13, row * 0.85));
    pen.font = `600 11px system-ui, sans-serif`;
    pen.textBaseline = "middle";
    pen.fillStyle = "#0072B2";
    pen.textAlign = "right";
    pen.fillText("queries", word - 6, 9);
    pen.fillStyle = "#D55E00";
    pen.textAlign = "left";
    pen.fillText("keys", width - word + 6, 9);
    const [which, place] = state.token ?? [];
    for (let i = 0; i < shown(); i++) {
      for (let j = 0; j < now.keys.length; j++) {
        const chosen = which === undefined || (which === "query" ? i === place : j === place);
        if (!chosen || rows[i][j] < 0.02) continue;
        pen.strokeStyle = COLOR;
        pen.globalAlpha = which === undefined ? 0.75 * rows[i][j] : 0.25 + 0.75 * rows[i][j];
        pen.lineWidth = 0.5 + 4 * rows[i][j];
        pen.beginPath();
        pen.moveTo(word, top + (i + 0.5) * row);
        pen.lineTo(width - word, top + (j + 0.5) * row);
        pen.stroke();
      }
    }
    pen.globalAlpha = 1;
    pen.font = `${letters}px system-ui, sans-serif`;
    const label = (text, x, n, own) => {
      const bold = which === own && place === n;
      const weight = which === undefined || which === own ? 0 : own === "key" ? rows[place][n] : rows[n][place];
      if (weight >= 0.02) {
        pen.fillStyle = shade(0.6 * weight);
        pen.fillRect(own === "key" ? width - word + 2 : 0, top + n * row + 1, word - 2, row - 2);
      }
      pen.fillStyle = own === "query" && n >= shown() ? "#b0b8c0" : INK;
      pen.font = `${bold ? "bold " : ""}${letters}px system-ui, sans-serif`;
      pen.fillText(clip(text), x, top + (n + 0.5) * row, word - 8);
    };
    pen.textAlign = "right";
    now.queries.forEach((text, n) => label(text, word - 6, n, "query"));
    pen.textAlign = "left";
    now.keys.forEach((text, n) => label(text, width - word + 6, n, "key"));
  }

  function drawHeatmap(now) {
    const room = Math.max(220, Math.min(520, (box.clientWidth || 900) - 130));
    const row = Math.max(5, Math.min(30, room / now.keys.length, 440 / now.queries.length));
    const words = row >= 9;
    const left = words ? 92 : 8;
    const top = words ? 70 : 22;
    const width = left + now.keys.length * row + 40;
    places = { top, row, width, left };
    const pen = sized(large, width, top + now.queries.length * row + 6);
    const [which, place] = state.token ?? [];
    for (let i = 0; i < shown(); i++) {
      for (let j = 0; j < now.keys.length; j++) {
        const chosen = which === undefined || (which === "query" ? i === place : j === place);
        pen.globalAlpha = chosen ? 1 : 0.25;
        pen.fillStyle = shade(rows[i][j]);
        pen.fillRect(left + j * row, top + i * row, row - 0.5, row - 0.5);
      }
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = "#8c959f";
    pen.strokeRect(left, top, now.keys.length * row, now.queries.length * row);
    pen.fillStyle = INK;
    pen.textBaseline = "middle";
    pen.font = `${Math.max(9, Math.min(13, row * 0.8))}px system-ui, sans-serif`;
    if (!words) return;
    pen.textAlign = "right";
    now.queries.forEach((text, n) => pen.fillText(clip(text), left - 5, top + (n + 0.5) * row));
    pen.textAlign = "left";
    now.keys.forEach((text, n) => {
      pen.save();
      pen.translate(left + (n + 0.5) * row, top - 4);
      pen.rotate(-1);
      pen.fillText(clip(text), 0, 0);
      pen.restore();
    });
  }

  function table(now) {
    const node = make("table");
    node.append(make("caption", `${title.textContent}: a row a query, a column a key`));
    const first = node.appendChild(make("tr"));
    first.append(make("td"), ...now.keys.map((text) => make("th", text, { scope: "col" })));
    now.queries.slice(0, shown()).forEach((text, i) => {
      const line = node.appendChild(make("tr"));
      line.append(make("th", text, { scope: "row" }), ...rows[i].map((weight) => make("td", weight.toFixed(2))));
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
