// A string written twice, on the page: what the model expects, where two heads look, and what it costs to take one out.

import { before_score, continued, copy_score, strongest, written_twice } from "./induction.js";
import { read_as } from "./plain_letters.js";
import { json, make, model_of, percent } from "./page.js";

const STRINGS = ["thequickbrown", "qmzarwbk", "banana", "zyxwvutsrqponmlkjihgfedcba"];
const CELL = 22; // pixels of a weight at most
const of_name = (weights, name) => weights[name.split(".")[0]][name.split(".")[1]];
const figure = (bits) => bits.toFixed(2);

/** Puts all of it into `root`, and what was noted while the model was trained into `drawing`, an svg element. */
export async function induction_section(root, drawing) {
  const { letters, longest, bytes, curve } = await json("induction.json");
  const bar = make("p", { class: "bar", hidden: true });
  const box = make("input", { type: "text", id: "twice", value: STRINGS[0], maxlength: "40", spellcheck: "false", autocomplete: "off", autocapitalize: "off" });
  const chips = make("div", { class: "chips" }, ...STRINGS.map((text) => make("button", { type: "button", onclick: () => ask(text) }, text)));
  const form = make("form", { onsubmit: (event) => (event.preventDefault(), ask(box.value)) }, make("label", { for: "twice" }, "A string of letters"), make("div", { class: "ask" }, box, make("button", { type: "submit" }, "Write it twice")), chips);
  const problem = make("p", { class: "problem", role: "alert" });
  const read = make("p", { class: "read-as", role: "status" });
  const line = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "the string, twice" });
  const message = make("p", { class: "message", "aria-live": "polite" });
  const pictures = make("div", { class: "side-by-side stripes" });
  const switches = make("div", { class: "kinds" });
  const zeros = make("input", { type: "checkbox", id: "by-zeros", onchange: () => update() });
  const details = make("div", { hidden: true }, line, message, make("h3", {}, "Take a head out"), switches, make("p", { class: "row" }, zeros, make("label", { for: "by-zeros" }, " zeros in its place, not its mean over this string")), make("h3", {}, "Where two heads look"), pictures);
  root.replaceChildren(form, problem, read, bar, details);
  learning(drawing, curve);

  let model = null;
  let ids = null;
  const out = new Set();

  async function ask(text) {
    box.value = text;
    read.textContent = "";
    try {
      const twice = written_twice(text, letters);
      model ??= await model_of("induction", bar, bytes);
      ids = twice;
    } catch (error) {
      problem.textContent = `${error.message}.`;
      details.hidden = true; // it belongs to another string
      return;
    }
    problem.textContent = "";
    read.textContent = read_as(text, [ids.slice(0, ids.length / 2).map((id) => letters[id]).join("")]);
    details.hidden = false;
    if (!switches.childElementCount) lay_out();
    update();
  }

  function lay_out() {
    Object.values(model.attentions()).forEach((attention, layer) => {
      const buttons = Array.from({ length: attention.num_heads }, (_, h) => {
        const name = `${layer}.${h}`;
        return make("button", { type: "button", class: "head", "data-head": name, "aria-pressed": "true", "aria-label": `head ${name}`, onclick: () => (out.delete(name) || out.add(name), update()) }, name);
      });
      switches.append(make("fieldset", {}, make("legend", {}, `layer ${layer}`), make("div", { class: "heads" }, ...buttons)));
    });
  }

  function update() {
    if (!ids) return;
    const whole = continued(model, ids);
    const now = out.size ? continued(model, ids, out, zeros.checked ? "zeros" : "mean") : whole;
    for (const button of switches.querySelectorAll(".head")) button.setAttribute("aria-pressed", String(!out.has(button.dataset.head)));
    show_line(now);
    const half = ids.length / 2;
    const note = half > longest ? ` In training no string had more than ${longest} letters; this one has ${half}.` : new Set(ids).size < half ? " In training no letter came twice in a string." : "";
    const names = [...out].sort().join(", ");
    message.textContent = out.size
      ? `Without head${out.size > 1 ? "s" : ""} ${names} a letter of the second half costs ${figure(now.bits)} bits on average; with all heads ${figure(whole.bits)}.`
      : `A letter of the second half costs ${figure(now.bits)} bits on average; guessing costs ${figure(Math.log2(letters.length))}.${note}`;
    const [back, copier] = [strongest(whole.weights, before_score), strongest(whole.weights, (weights) => copy_score(weights, ids))];
    pictures.replaceChildren(
      picture(now, back, `Head ${back}: ${percent(before_score(of_name(now.weights, back)))} of its weight on the letter before, in the first half`),
      picture(now, copier, `Head ${copier}: ${percent(copy_score(of_name(now.weights, copier), ids))} on the letter after the earlier copy`),
    );
    root.dataset.shown = ids.map((id) => letters[id]).join("");
    root.dataset.bits = now.bits.toFixed(4);
    root.dataset.out = names;
  }

  function show_line({ expected }) {
    const half = ids.length / 2;
    const first = ids.slice(0, half).map((id) => make("td", { class: "given" }, letters[id]));
    const second = expected.map((one, k) => make("td", one ? { style: `--weight: ${one.right.toFixed(3)}`, class: one.best === ids[k] ? "good" : "bad" } : { class: "given" }, letters[ids[k]]));
    const best = expected.map((one) => make("td", {}, one ? letters[one.best] : "?"));
    const chance = expected.map((one) => make("td", { class: "number" }, one ? String(Math.round(100 * one.right)) : ""));
    const row = (name, cells) => make("tr", {}, make("th", { scope: "row" }, name), ...cells);
    const caption = "The string, once and again; for each letter of the second half what the model expected, and the chance in percent that it gave to the right letter";
    line.replaceChildren(make("table", { class: "twice" }, make("caption", { class: "unseen" }, caption), row("once", first), row("again", second), row("expected", best), row("chance, %", chance)));
  }

  /** The weights of one head as a picture: a row a query, a column a key. */
  function picture(result, name, text) {
    const weights = of_name(result.weights, name);
    const n = weights.length;
    const cell = Math.max(5, Math.min(CELL, Math.floor(Math.min(420, root.clientWidth - 30) / (n + 1))));
    const canvas = make("canvas", { width: String(2 * cell * (n + 1)), height: String(2 * cell * (n + 1)), role: "img", "aria-label": `${text}. A row for each query, a column for each key.` });
    canvas.style.width = canvas.style.height = `${cell * (n + 1)}px`;
    const pen = canvas.getContext("2d");
    const style = getComputedStyle(root);
    const [strong, ink, edge] = ["--weight-color", "--ink", "--line"].map((property) => style.getPropertyValue(property).trim());
    pen.scale(2, 2);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.font = `${Math.min(14, cell)}px ui-monospace, Menlo, Consolas, monospace`;
    pen.fillStyle = ink;
    const step = cell < 9 ? 2 : 1; // letters that would run into one another
    for (let i = 0; i < n; i += step) {
      pen.fillText(letters[ids[i]], (i + 1.5) * cell, cell / 2);
      pen.fillText(letters[ids[i]], cell / 2, (i + 1.5) * cell);
    }
    weights.forEach((row, i) =>
      row.forEach((weight, j) => {
        if (j > i) return;
        pen.fillStyle = `rgb(${strong} / ${weight})`;
        pen.fillRect((j + 1) * cell, (i + 1) * cell, cell, cell);
      }),
    );
    pen.strokeStyle = edge;
    pen.strokeRect(cell, cell, n * cell, n * cell);
    return make("figure", {}, canvas, make("figcaption", {}, text + (out.has(name) ? " (taken out: nobody reads what it finds)" : "")));
  }

  await ask(STRINGS[0]);
}

/** The bits while it was trained. */
function learning(drawing, { steps, two_layers, one_layer, guessing }) {
  const [width, height, left, bottom] = [matchMedia("(max-width: 600px)").matches ? 350 : 560, 190, 30, 26]; // no smaller on a phone: its letters would be
  const x = (step) => left + ((width - left - 76) * step) / steps.at(-1);
  const y = (bits) => 8 + (height - bottom - 8) * (1 - bits / 5);
  const svg = (tag, attributes, ...children) => {
    const node = document.createElementNS(drawing.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const curve = (bits, kind) => svg("polyline", { points: bits.map((b, i) => `${x(steps[i])},${y(b)}`).join(" "), class: kind });
  const label = (bits, text) => svg("text", { x: width - 72, y: y(bits) + 4 }, text);
  const ticks = [0, 1, 2, 3, 4, 5].map((b) => svg("text", { x: left - 8, y: y(b) + 4, "text-anchor": "end" }, String(b)));
  const marks = [0, 200, 400, 600].map((step) => svg("text", { x: x(step), y: height - 8, "text-anchor": "middle" }, String(step)));
  const frame = svg("path", { d: `M${left} ${y(5)} V${y(0)} H${x(steps.at(-1))}`, class: "axis" });
  const guess = svg("path", { d: `M${left} ${y(guessing)} H${x(steps.at(-1))}`, class: "guess" });
  drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
  drawing.setAttribute("aria-label", `Bits for a letter of the second half, by updates: with two layers ${figure(two_layers[0])} after ${steps[0]} and ${figure(two_layers.at(-1))} after ${steps.at(-1)}, with one layer ${figure(one_layer.at(-1))}`);
  drawing.replaceChildren(frame, guess, curve(one_layer, "one"), curve(two_layers, "two"), ...ticks, ...marks, label(guessing, "guessing"), label(one_layer.at(-1), "one layer"), label(two_layers.at(-1), "two layers"));
}
