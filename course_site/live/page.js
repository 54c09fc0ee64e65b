// What the pages are made of: elements, files with a bar while they load, buttons that copy and speak.

import { load } from "./transformer.js";

/** An element; `text` is never read as HTML. */
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

export { percent } from "./pronunciation.js";

const here = (name) => new URL(name, import.meta.url);

export async function json(name) {
  const response = await fetch(here(name));
  if (!response.ok) throw new Error(`${name} could not be loaded (${response.status})`);
  return response.json();
}

/** The five words, their weights as bytes. */
export async function worked_out() {
  const words = await json("words.json");
  for (const word of words) word.weights = new DataView(Uint8Array.from(atob(word.weights), (letter) => letter.charCodeAt(0)).buffer);
  return new Map(words.map((word) => [word.word, word]));
}

const loading = new Map(); // name -> promise of a model: each is fetched once

/** A model; `bar` is an element that is shown while it loads. */
export function model_of(name, bar, bytes) {
  if (!loading.has(name)) {
    const promise = fetched(`${name}.safetensors`, bar, bytes).then(load);
    promise.catch(() => loading.delete(name)); // a second try may succeed
    loading.set(name, promise);
  }
  return loading.get(name);
}

async function fetched(name, bar, bytes) {
  const progress = make("progress", { max: bytes, value: 0, "aria-label": "loading the weights" });
  const message = make("span");
  bar.replaceChildren(progress, message);
  bar.hidden = false;
  try {
    const response = await fetch(here(name));
    if (!response.ok) throw new Error(`the weights could not be loaded (${response.status})`);
    const parts = [];
    let length = 0;
    for (const reader = response.body.getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      length += value.length;
      progress.value = length;
      message.textContent = ` loading the weights: ${(length / 1e6).toFixed(1)} of ${(bytes / 1e6).toFixed(1)} MB`;
    }
    return await new Blob(parts).arrayBuffer();
  } finally {
    bar.hidden = true;
  }
}

/** A button that copies a text, and says so. */
export function copy_button(name, text) {
  const said = make("span", { role: "status", class: "copied" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      said.textContent = " copied";
    } catch {
      said.textContent = ` ${text()}`; // a browser that does not let pages copy: to be copied by hand
    }
  };
  return make("span", {}, make("button", { type: "button", onclick: copy }, name), said);
}

/** A button that speaks: `words()` gives the sounds of each word. */
export function listen_button(words) {
  const said = make("span", { role: "status", class: "copied" });
  const speak = async () => {
    try {
      await (await import("./voice.js")).speak(words());
      said.textContent = "";
    } catch (error) {
      said.textContent = ` There is no sound here: ${error.message}.`;
    }
  };
  const title = "a synthesizer speaks these sounds; it knows neither the spelling nor stress";
  return make("span", {}, make("button", { type: "button", class: "listen", title, onclick: speak }, "▶ Listen"), said);
}

/** Let the page be drawn before what takes long. */
export const drawn = () => new Promise((resolve) => setTimeout(resolve));
