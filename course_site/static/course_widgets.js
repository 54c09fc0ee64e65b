// Puts the course's anywidgets on a page that has no kernel: each module as it is, with a model that keeps the state here.

const bytes = (text) => new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);

/** What a module is given in a notebook, without a kernel behind it: get, set, on, off, save_changes. */
function model_of(state) {
  const listeners = new Map(); // event -> set of functions
  const tell = (event, ...words) => [...(listeners.get(event) ?? [])].forEach((listener) => listener(...words));
  const model = {
    get: (name) => state[name],
    set(name, value) {
      state[name] = value;
      tell(`change:${name}`, model, value);
      tell("change", model);
    },
    on: (event, listener) => listeners.set(event, (listeners.get(event) ?? new Set()).add(listener)),
    off: (event, listener) => (listener ? listeners.get(event)?.delete(listener) : listeners.delete(event)),
    save_changes() {}, // nobody is there to hear of them
    send() {},
  };
  return model;
}

async function mount(place) {
  const { module, state, bytes: sent } = JSON.parse(place.querySelector("script").textContent);
  for (const [name, text] of Object.entries(sent)) state[name] = bytes(text);
  const el = place.appendChild(document.createElement("div"));
  try {
    const { default: widget } = await import(new URL(`widgets/${module}.js`, import.meta.url));
    const model = model_of(state);
    await widget.initialize?.({ model });
    await widget.render({ model, el });
    place.dataset.alive = module;
  } catch (error) {
    el.textContent = `This moving picture could not be shown: ${error.message}`;
  }
}

const seen = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      mount(target);
    }
  },
  { rootMargin: "600px" }, // a little before it is scrolled into view
);
document.querySelectorAll(".course-widget").forEach((place) => seen.observe(place));
