// Attention viewer: every layer and head of a model on one sequence. One module, nothing loaded from elsewhere.
// The model of the widget has two entries: "groups", a list of { name, layers, heads, queries, keys, offset }, and "weights",
// all weights of all groups as 16-bit numbers (65534 is 1, 65535 is NaN), group after group, layer, head, query, key.

// ---------------------------------------------------------------- numbers

const ONE = 65534;

/** The weights of one head as rows. */
export function head(bytes, group, layer, index) {
  const [n, m] = [group.queries.length, group.keys.length];
  const start = group.offset + (layer * group.heads + index) * n * m;
  return Array.from({ length: n }, (_, i) => Array.from({ length: m }, (_, j) => weight(bytes, start + i * m + j)));
}

function weight(bytes, at) {
  const sent = bytes.getUint16(2 * at, true);
  return sent > ONE ? NaN : sent / ONE;
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

/** A sentence about one token; `shown`: how many queries can be seen. */
export function describe(rows, side, place, group, shown = rows.length) {
  const [own, others] = side === "query" ? [group.queries, group.keys] : [group.keys, group.queries];
  const seen = rows.slice(0, shown);
  const line = side === "query" ? rows[place] : seen.map((row) => row[place]);
  const list = strongest(side === "query" ? rows : seen, side, place).map(({ weight, at }) => `${quoted(others[at])} ${weight.toFixed(2)}`);
  if (line.some(Number.isNaN)) list.push("and there are weights that are NaN");
  if (side === "query") return `${quoted(own[place])} looks at ${list.join(", ") || "nothing"}`;
  return `${quoted(own[place])} is looked at by ${list.join(", ") || "nobody"}`;
}

/** A token as it can be shown: on one line, nothing invisible in it, long ones cut. */
export function visible(word, most) {
  const line = word.replace(/\n/g, "↵").replace(/\t/g, "⇥");
  const letters = [...(line.trim() === "" ? line.replace(/ /g, "␣") || "∅" : line)];
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : letters.join("");
}

const quoted = (word) => `“${visible(word, 30)}”`;

// ---------------------------------------------------------------- the page

const INK = "#1f2328";
const COLOR = [122, 62, 157]; // of the weights, in the whole course
const ROLES = { query: "#0072B2", key: "#D55E00" };
const FONT = "system-ui, sans-serif";
const TOUCH = globalThis.matchMedia?.("(hover: none)").matches;
const HINT = TOUCH ? "Tap a token: it says where it looks." : "Point at a token, or walk with Tab and the arrow keys: it says where it looks. A click keeps it.";
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
// Drawn dark on light: in the dark theme of JupyterLab or of the site light and dark change places, and hues stay.
const DARK = `:is([data-jp-theme-light="false"], [data-theme="dark"]) .drawn-light { filter: invert(0.96) hue-rotate(180deg); }`;
const STYLE = `
:host { display: block; font: 14px/1.4 ${FONT}; color: ${INK}; color-scheme: light; }
.box { background: #fff; border: 1px solid #d0d7de; border-radius: 8px; padding: 10px 12px; max-width: 100%; box-sizing: border-box; }
.bar { display: flex; gap: 6px; margin-bottom: 8px; }
button, select { font: inherit; padding: 3px 9px; border: 1px solid #8c959f; border-radius: 6px; background: #f6f8fa; color: inherit; min-height: 30px; cursor: pointer; }
button[aria-pressed="true"] { background: #0550ae; border-color: #0550ae; color: #fff; }
.views { display: flex; flex-wrap: wrap; gap: 18px 28px; } .view { min-width: 0; } .view b { display: block; }
.parts { display: flex; flex-wrap: wrap; gap: 8px 28px; align-items: flex-start; } .parts > div { min-width: 0; max-width: 100%; } .parts > div + div { flex: 1 1 260px; }
.bounds { overflow-x: auto; padding: 5px; margin: -5px; } canvas { display: block; }
:focus-visible { outline: 3px solid #9a6700; outline-offset: 2px; }
.row { display: flex; flex-wrap: wrap; gap: 4px 12px; margin: 4px 0; } label { display: inline-flex; gap: 6px; align-items: center; min-height: 30px; } input { width: 110px; accent-color: #0550ae; }
.sentence { position: sticky; bottom: 0; min-height: 2.8em; margin: 8px 0 0; padding: 6px 9px; background: #f6f8fa; border: 1px solid #d0d7de; border-radius: 6px; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
details { margin-top: 6px; } table { border-collapse: collapse; font-size: 12px; } td, th { border: 1px solid #d0d7de; padding: 2px 5px; text-align: right; }
.scroll { overflow: auto; max-height: 16em; }`;

function make(tag, text, attributes = {}) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text; // never as HTML: a token may hold any text
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** Red, green and blue of a weight; NaN has a color of its own. */
const channels = (share) => (Number.isNaN(share) ? [230, 160, 0] : COLOR.map((channel) => 255 - (255 - channel) * share));
const shade = (share) => `rgb(${channels(share).map(Math.round).join(", ")})`;
const within = (x, most) => Math.min(most - 1, Math.max(0, x));

function sized(canvas, width, height) {
  const ratio = globalThis.devicePixelRatio || 1;
  const [w, h] = [Math.ceil(width * ratio), Math.ceil(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  canvas.style.width = `${w / ratio}px`;
  canvas.style.height = `${h / ratio}px`;
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

function render({ model, el }) {
  const groups = model.get("groups");
  const raw = model.get("weights");
  const bytes = raw instanceof DataView ? raw : new DataView(raw.buffer ?? raw, raw.byteOffset ?? 0, raw.byteLength);
  // token: { view, side: "query" or "key", place }; fixed: a click or a key holds it
  const state = { lines: true, token: null, fixed: false };

  const root = el.appendChild(make("div", undefined, { class: "drawn-light" })).attachShadow({ mode: "open" });
  el.append(make("style", DARK));
  root.append(make("style", STYLE));
  const box = root.appendChild(make("div", undefined, { class: "box", role: "group", "aria-label": "Attention of every layer and head" }));
  const bar = box.appendChild(make("div", undefined, { class: "bar", role: "group", "aria-label": "drawn as" }));
  const buttons = ["lines", "heatmap"].map((name) => {
    const button = bar.appendChild(make("button", name, { type: "button" }));
    button.addEventListener("click", () => {
      state.lines = name === "lines";
      redraw();
    });
    return button;
  });
  const list = box.appendChild(make("div", undefined, { class: "views" }));
  const views = groups.map(build);
  // Views with the same queries belong together (a decoder's self-attention and cross-attention): they step together, and
  // a query that is pointed at in one is shown in all.
  for (const view of views) view.related = views.filter((other) => String(other.group.queries) === String(view.group.queries));
  const sentence = box.appendChild(make("p", HINT, { class: "sentence" }));
  const spoken = box.appendChild(make("div", undefined, { class: "unseen", role: "status" }));
  const more = box.appendChild(make("details"));
  more.append(make("summary", groups.length > 1 ? "These heads as tables" : "This head as a table"));
  const scroll = more.appendChild(make("div", undefined, { class: "scroll" }));

  // ------------------------------------------------ one kind of attention: a grid of all heads, and one head in large

  function build(group) {
    const view = { group, layer: 0, head: 0, shown: group.queries.length, rows: null, thumbs: null, places: {}, size: {} };
    const node = (view.node = list.appendChild(make("section", undefined, { class: "view", "aria-label": group.name })));
    node.append(make("b", group.name));
    const parts = node.appendChild(make("div", undefined, { class: "parts" }));
    const canvas = () => parts.appendChild(make("div")).appendChild(make("div", undefined, { class: "bounds" })).appendChild(make("canvas", undefined, { tabindex: 0, role: "application" }));
    [view.grid, view.large] = [canvas(), canvas()];
    const controls = make("div", undefined, { class: "row" });
    view.large.parentNode.before(controls);
    view.selects = ["layer", "head"].map((what) => {
      const label = controls.appendChild(make("label", `${what} `));
      const select = label.appendChild(make("select"));
      const count = group[`${what}s`];
      select.append(...Array.from({ length: count }, (_, n) => make("option", String(n), { value: n })));
      if (count < 2) label.remove();
      select.addEventListener("change", () => choose(view, ...view.selects.map(({ value }) => Number(value))));
      return select;
    });
    const label = controls.appendChild(make("label", "queries up to "));
    view.slider = label.appendChild(make("input", undefined, { type: "range", min: 1, max: group.queries.length, step: 1 }));
    if (group.queries.length < 2) label.remove();
    view.slider.addEventListener("input", () => {
      for (const other of view.related) other.shown = Number(view.slider.value);
      // Step by step through decoding: the query that was just added is the one that is told of.
      Object.assign(state, { token: { view, side: "query", place: view.shown - 1 }, fixed: true });
      redraw();
    });
    listen(view);
    return view;
  }

  function choose(view, layer, head) {
    Object.assign(view, { layer, head, rows: null });
    redraw();
  }

  function listen(view) {
    const { grid, large, group } = view;
    const point = (canvas, event) => {
      const bounds = canvas.getBoundingClientRect();
      return [event.clientX - bounds.left, event.clientY - bounds.top];
    };
    grid.addEventListener("pointerdown", (event) => {
      const [x, y] = point(grid, event);
      const [i, j] = [Math.floor((y - view.size.top) / view.size.thumb), Math.floor((x - view.size.left) / view.size.thumb)];
      if (i >= 0 && j >= 0 && i < group.layers && j < group.heads) choose(view, i, j);
    });
    grid.addEventListener("keydown", (event) => {
      const by = ARROWS[event.key];
      if (by) choose(view, within(view.layer + by[0], group.layers), within(view.head + by[1], group.heads));
      if (by) stop(event);
    });
    const tokenAt = (event) => {
      const [x, y] = point(large, event);
      const { top, left, row, width } = view.places;
      const [i, j] = [Math.floor((y - top) / row), Math.floor((x - left) / row)];
      const token = (side, place, most) => (place >= 0 && place < most ? { view, side, place } : null);
      if (state.lines) return x < width / 2 ? token("query", i, view.shown) : token("key", i, group.keys.length);
      return i < 0 ? token("key", j, group.keys.length) : token("query", i, view.shown);
    };
    large.addEventListener("pointermove", (event) => state.fixed || pointAt(tokenAt(event)));
    large.addEventListener("pointerleave", () => state.fixed || pointAt(null));
    large.addEventListener("pointerdown", (event) => {
      const token = tokenAt(event);
      state.fixed = token !== null && !(state.fixed && same(token, state.token));
      pointAt(token);
    });
    large.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        state.fixed = false;
        pointAt(null);
      } else if (event.key in ARROWS) {
        const by = ARROWS[event.key];
        let { side, place } = state.token?.view === view ? state.token : { side: "query", place: -1 };
        if (by[1]) [side, place] = [by[1] < 0 ? "query" : "key", Math.max(0, place)];
        state.fixed = true;
        pointAt({ view, side, place: within(place + by[0], side === "query" ? view.shown : group.keys.length) });
      } else return;
      stop(event);
    });
  }

  function stop(event) {
    event.preventDefault();
    event.stopPropagation(); // a notebook has shortcuts of its own
  }

  const same = (a, b) => a === b || (a && b && a.view === b.view && a.side === b.side && a.place === b.place);

  function pointAt(token) {
    if (!same(token, state.token)) {
      state.token = token;
      redraw();
    }
  }

  // ------------------------------------------------ drawing

  let waiting = false;
  /** Draw before the next picture, once for all that came in between. */
  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  }

  function draw() {
    const started = performance.now();
    buttons.forEach((button, n) => button.setAttribute("aria-pressed", String(state.lines === (n === 0))));
    const room = (box.clientWidth || 900) - 30;
    const columns = Math.max(1, Math.min(groups.length, Math.floor((room + 28) / (250 + 28))));
    const width = Math.floor((room - 28 * (columns - 1)) / columns);
    let changed = false;
    for (const view of views) {
      const { group, layer, slider, selects, grid, large } = view;
      if (!view.rows) changed = Boolean((view.rows = head(bytes, group, layer, view.head)));
      slider.value = view.shown;
      slider.setAttribute("aria-valuetext", `${view.shown} of ${group.queries.length}`);
      selects[0].value = layer;
      selects[1].value = view.head;
      view.node.style.width = `${width}px`;
      drawGrid(view, width);
      const beside = width - view.size.width - 40;
      (state.lines ? drawLines : drawHeatmap)(view, beside >= 260 ? beside : width - 10);
      name(grid, `${group.name}: ${group.layers} layers of ${group.heads} heads. Arrow keys choose.`);
      name(large, `${group.name}, layer ${layer}, head ${view.head}. Arrow keys walk over the tokens; left is the queries, right the keys.`);
    }
    if (more.open && changed) tables();
    const { view, side, place } = state.token ?? {};
    const sentences = view && (side === "query" ? view.related : [view]).map((one) => (groups.length > 1 ? `${one.group.name}: ` : "") + describe(one.rows, side, place, one.group, one.shown));
    say(sentences ? sentences.join(". ") : HINT);
    box.dataset.drawn = String(Math.round((performance.now() - started) * 10) / 10);
  }

  function name(canvas, label) {
    if (canvas.getAttribute("aria-label") !== label) canvas.setAttribute("aria-label", label);
  }

  let speaking;
  /** Seen at once; for those who listen it is spoken when it has stood for a moment. */
  function say(text) {
    if (sentence.textContent === text) return;
    sentence.textContent = text;
    clearTimeout(speaking);
    speaking = setTimeout(() => (spoken.textContent = text), 500);
  }

  /** Does the token that is pointed at belong to this view, or is it this one? */
  const concerns = (view) => state.token !== null && (state.token.view === view || (state.token.side === "query" && view.related.includes(state.token.view)));
  const isolated = (view, side, place) => concerns(view) && state.token.side === side && state.token.place === place;

  function drawGrid(view, width) {
    const { group } = view;
    const [left, top] = [20, 18];
    const rows = groups.reduce((most, { layers }) => Math.max(most, layers), 1);
    const thumb = Math.max(16, Math.min(52, Math.floor((Math.min(width, 400) - left - 4) / group.heads), Math.floor(420 / rows)));
    view.size = { left, top, thumb, width: Math.min(width, left + 4 + thumb * group.heads) };
    const [w, h] = [left + 4 + thumb * group.heads, top + 4 + thumb * group.layers];
    if (view.thumbs?.thumb !== thumb) {
      const canvas = document.createElement("canvas"); // the grid without the mark of the chosen head, drawn once
      view.thumbs = { thumb, canvas };
      const pen = sized(canvas, w, h);
      pen.fillStyle = INK;
      pen.font = `11px ${FONT}`;
      pen.textAlign = "center";
      for (let n = 0; n < group.heads; n++) pen.fillText(String(n), left + (n + 0.5) * thumb - 1, 13);
      for (let l = 0; l < group.layers; l++) {
        pen.fillText(String(l), 9, top + (l + 0.5) * thumb + 4);
        for (let n = 0; n < group.heads; n++) drawThumb(pen, group, l, n, left + n * thumb, top + l * thumb, thumb - 2);
      }
    }
    const pen = sized(view.grid, w, h);
    pen.drawImage(view.thumbs.canvas, 0, 0, w, h);
    pen.strokeStyle = "#9a6700";
    pen.lineWidth = 3;
    pen.strokeRect(left - 1 + view.head * thumb, top - 1 + view.layer * thumb, thumb, thumb);
  }

  /** One head in small. Where several weights fall on one dot it shows the largest: a thin diagonal stays whole. */
  function drawThumb(pen, group, layer, index, left, top, side) {
    const dots = Math.round(side * (globalThis.devicePixelRatio || 1));
    const [n, m] = [group.queries.length, group.keys.length];
    const [h, w] = [Math.min(n, dots), Math.min(m, dots)];
    const most = new Float32Array(h * w);
    head(bytes, group, layer, index).forEach((row, i) => {
      row.forEach((weight, j) => {
        const at = Math.floor((i * h) / n) * w + Math.floor((j * w) / m);
        if (!(weight <= most[at])) most[at] = weight;
      });
    });
    const image = new ImageData(w, h);
    most.forEach((weight, at) => image.data.set([...channels(weight), 255], 4 * at));
    const part = document.createElement("canvas");
    Object.assign(part, { width: w, height: h }).getContext("2d").putImageData(image, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(part, left, top, side, side);
    pen.strokeStyle = "#8c959f";
    pen.lineWidth = 0.8;
    pen.strokeRect(left, top, side, side);
  }

  function drawLines(view, room) {
    const { group, rows, shown } = view;
    const count = Math.max(group.queries.length, group.keys.length);
    const row = Math.max(12, Math.min(24, 420 / count));
    const width = Math.min(440, room);
    const [top, word] = [22, Math.min(100, 0.3 * width)];
    view.places = { top, row, width, left: word };
    const pen = sized(view.large, width, top + count * row + 6);
    const alone = concerns(view);
    for (let i = 0; i < shown; i++) {
      for (let j = 0; j < group.keys.length; j++) {
        if (rows[i][j] < 0.02 || (alone && !isolated(view, "query", i) && !isolated(view, "key", j))) continue;
        pen.strokeStyle = Number.isNaN(rows[i][j]) ? shade(NaN) : shade(1);
        const share = Number.isNaN(rows[i][j]) ? 0.5 : rows[i][j];
        pen.globalAlpha = alone ? 0.25 + 0.75 * share : 0.75 * share;
        pen.lineWidth = 0.5 + 4 * share;
        pen.beginPath();
        pen.moveTo(word, top + (i + 0.5) * row);
        pen.lineTo(width - word, top + (j + 0.5) * row);
        pen.stroke();
      }
    }
    pen.globalAlpha = 1;
    sides(pen, view, "query", group.queries, 0, word - 5, "right");
    sides(pen, view, "key", group.keys, width - word + 5, word - 5, "left");
  }

  /** The words of one side of the lines, shaded by their weight for the token that is pointed at. */
  function sides(pen, view, side, words, left, width, align) {
    const { top, row } = view.places;
    const { side: other, place } = state.token ?? {};
    const x = align === "right" ? left + width : left;
    pen.textAlign = align;
    pen.textBaseline = "middle";
    pen.font = `600 12px ${FONT}`;
    pen.fillStyle = INK;
    pen.fillText(side === "query" ? "queries" : "keys", x, 9);
    pen.fillStyle = ROLES[side];
    pen.fillRect(left, 17, width, 2.5);
    words.forEach((text, n) => {
      const seen = side === "key" || n < view.shown;
      const linked = isolated(view, other, place) && side !== other && seen;
      const share = linked ? (side === "key" ? view.rows[place][n] : view.rows[n][place]) : 0;
      if (!(share < 0.02)) {
        pen.fillStyle = shade(Number.isNaN(share) ? NaN : 0.6 * share);
        pen.fillRect(left, top + n * row + 1, width, row - 2);
      }
      pen.fillStyle = seen ? INK : "#8c959f";
      pen.font = `${isolated(view, side, n) ? "bold " : ""}${Math.max(10.5, Math.min(13, row * 0.85))}px ${FONT}`;
      pen.fillText(visible(text, 12), x, top + (n + 0.5) * row, width);
    });
  }

  function drawHeatmap(view, room) {
    const { group, rows, shown } = view;
    const [n, m] = [group.queries.length, group.keys.length];
    const letters = view.large.getContext("2d");
    letters.font = `bold 13px ${FONT}`;
    const longest = Math.min(84, Math.max(...[...group.queries, ...group.keys].map((text) => letters.measureText(visible(text, 12)).width)));
    const [beside, above, over] = [longest + 10, longest * Math.sin(1) + 10, longest * Math.cos(1)].map(Math.ceil);
    const fitting = Math.min(30, (room - beside - over) / m, 440 / n);
    const words = fitting >= 11; // else too small for words beside it
    const row = words ? fitting : Math.max(4, Math.min(11, (room - 16) / m, 560 / n));
    const [left, top] = words ? [beside, above] : [8, 8];
    const width = left + m * row + (words ? over : 8);
    view.places = { top, row, width, left };
    const pen = sized(view.large, width, top + n * row + 6);
    const alone = concerns(view);
    for (let i = 0; i < shown; i++) {
      for (let j = 0; j < m; j++) {
        pen.globalAlpha = !alone || isolated(view, "query", i) || isolated(view, "key", j) ? 1 : 0.25;
        pen.fillStyle = shade(rows[i][j]);
        pen.fillRect(left + j * row, top + i * row, row - 0.5, row - 0.5);
      }
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = "#8c959f";
    pen.strokeRect(left, top, m * row, n * row);
    if (!words) return;
    pen.textBaseline = "middle";
    const write = (text, side, place, seen = true) => {
      pen.fillStyle = seen ? INK : "#8c959f";
      pen.font = `${isolated(view, side, place) ? "bold " : ""}${Math.max(10.5, Math.min(13, row * 0.8))}px ${FONT}`;
      pen.fillText(visible(text, 12), 0, 0, longest);
    };
    group.queries.forEach((text, i) => {
      pen.save();
      pen.textAlign = "right";
      pen.translate(left - 5, top + (i + 0.5) * row);
      write(text, "query", i, i < shown);
      pen.restore();
    });
    group.keys.forEach((text, j) => {
      pen.save();
      pen.textAlign = "left";
      pen.translate(left + (j + 0.5) * row, top - 4);
      pen.rotate(-1);
      write(text, "key", j);
      pen.restore();
    });
  }

  function tables() {
    scroll.replaceChildren(
      ...views.map(({ group, layer, head, rows }) => {
        const node = make("table");
        node.append(make("caption", `${group.name}, layer ${layer}, head ${head}: a row a query, a column a key`));
        const first = node.appendChild(make("tr"));
        first.append(make("td"), ...group.keys.map((text) => make("th", text, { scope: "col" })));
        group.queries.forEach((text, i) => {
          const line = node.appendChild(make("tr"));
          line.append(make("th", text, { scope: "row" }), ...rows[i].map((weight) => make("td", weight.toFixed(2))));
        });
        return node;
      }),
    );
  }

  more.addEventListener("toggle", () => more.open && tables());
  const watcher = new ResizeObserver(redraw);
  watcher.observe(box);
  draw();
  return () => {
    watcher.disconnect();
    clearTimeout(speaking);
  };
}

export default { render };
