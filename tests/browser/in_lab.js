// What the tests ask of a JupyterLab page; `window.jupyterapp` is there because the server was told to expose it.
window.lab = (() => {
  const panel = () => window.jupyterapp.shell.currentWidget;
  const cells = () => panel().content.widgets.map((widget) => ({ widget, model: widget.model }));
  const VIEW = "application/vnd.jupyter.widget-view+json";

  let restored = false;
  function started() {
    window.jupyterapp.restored.then(() => (restored = true));
    return restored;
  }

  const open = (path) => window.jupyterapp.commands.execute("docmanager:open", { path });

  // Shown, its kernel waiting for work.
  function ready(path) {
    const session = panel()?.sessionContext;
    if (path && panel()?.context?.path !== path) return false;
    return Boolean(session?.isReady && panel().context.isReady && session.session?.kernel?.status === "idle");
  }

  async function close() {
    const notebook = panel();
    await notebook.sessionContext.shutdown();
    notebook.context.model.dirty = false; // or it would ask whether to save
    notebook.dispose();
  }

  // Run the cells of these ids, or all; `done` says when.
  let running = false;
  async function run(ids) {
    running = true;
    const notebook = panel().content;
    try {
      if (!ids) await window.jupyterapp.commands.execute("notebook:run-all-cells");
      for (const id of ids ?? []) {
        notebook.activeCellIndex = notebook.widgets.findIndex((cell) => cell.model.id === id);
        notebook.deselectAll();
        await window.jupyterapp.commands.execute("notebook:run-cell");
      }
    } finally {
      running = false;
    }
  }
  const done = () => !running && ready();

  function write(id, text) {
    cells().find(({ model }) => model.id === id).model.sharedModel.setSource(text);
  }

  const outputs = () =>
    cells().filter(({ model }) => model.type === "code").map(({ model }) => ({
      id: model.id, ran: model.executionCount !== null || !model.sharedModel.getSource().trim(), outputs: model.outputs.toJSON(),
    }));

  // Every widget that an output shows gets a mark; what is told of each: its text, its size, its kinds of controls.
  function widgets() {
    const found = [];
    for (const { widget, model } of cells()) {
      if (model.type !== "code") continue;
      model.outputs.toJSON().forEach((output, place) => {
        if (!output.data?.[VIEW]) return;
        const node = widget.outputArea.widgets[place].node;
        node.dataset.seen = found.length;
        const name = [].concat(output.data["text/plain"] ?? "").join("");
        found.push({ cell: model.id, name, text: node.innerText, height: node.getBoundingClientRect().height });
      });
    }
    return found;
  }

  const rooms = (node) => [node, ...[...node.querySelectorAll("*")].flatMap((one) => (one.shadowRoot ? rooms(one.shadowRoot) : []))];
  const all = (node, selector) => rooms(node).flatMap((room) => [...room.querySelectorAll(selector)]);

  function words(room, left_out) {
    const found = [], walker = document.createTreeWalker(room, NodeFilter.SHOW_TEXT);
    while (walker.nextNode())
      if (!walker.currentNode.parentElement.closest(left_out)) found.push(walker.currentNode.data);
    return found.join(" ");
  }

  // What a person sees of a widget; null while an image is on its way. Where there is a figure, a slider's own number does
  // not count, nor which choice is marked.
  function picture(node) {
    const images = all(node, "img"), canvases = all(node, "canvas"), drawn = images.length + canvases.length > 0;
    if (images.some((image) => !image.complete)) return null;
    const [outside, ...inside] = rooms(node).map((room) => {
      if (room !== node) return room.innerHTML;
      return words(room, drawn ? ".widget-readout, .jp-OutputPrompt" : ".jp-OutputPrompt");
    });
    const marked = drawn ? [] : all(node, "input").map(({ checked, value }) => `${checked} ${value}`);
    return [outside, ...inside, ...marked, ...images.map(({ src }) => src), ...canvases.map((c) => c.toDataURL())].join("|");
  }

  // From the first input after this call until the picture is another one, in milliseconds; null if it stays for `limit`.
  let watched = null;
  function watch(index, limit) {
    const node = document.querySelector(`[data-seen="${index}"]`);
    const before = picture(node), inputs = ["keydown", "pointerdown", "input", "change", "click"];
    watched = new Promise((resolve) => {
      const stop = (value) => {
        inputs.forEach((name) => document.removeEventListener(name, begin, true));
        resolve(value);
      };
      const begun = performance.now();
      let from = null;
      const begin = (event) => (from ??= event.timeStamp);
      inputs.forEach((name) => document.addEventListener(name, begin, true));
      const look = () => {
        const now = performance.now(), seen = from === null ? null : picture(node);
        if (seen !== null && seen !== before) stop(performance.now() - from);
        else if (now - (from ?? begun) > limit) stop(null);
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
  }
  const changed = () => watched;

  // What is wider than its place: of figures, tables, formulas and widgets.
  function cut() {
    const found = [];
    for (const { widget, model } of cells()) {
      const area = widget.outputArea?.node ?? widget.node.querySelector(".jp-MarkdownOutput");
      if (!area?.getBoundingClientRect().width) continue;
      const limit = area.getBoundingClientRect().right + 1;
      for (const part of all(area, "*")) {
        const box = part.getBoundingClientRect();
        const style = box.width ? getComputedStyle(part) : null;
        if (!style || style.visibility === "hidden" || part.closest?.("mjx-assistive-mml, .jp-OutputPrompt")) continue;
        const scrolls = /auto|scroll|hidden/.test(style.overflowX) && part.scrollWidth > part.clientWidth + 2 && box.height > 4;
        const one_line = part.matches("input, textarea, select, option, .widget-label, button");
        if ((box.right > limit && !part.closest("svg *")) || (scrolls && !one_line))
          found.push(`${model.id}: <${part.tagName.toLowerCase()} class="${part.className}"> ${Math.round(box.right - limit + 1)} px too wide, ${part.scrollWidth} in ${part.clientWidth}`);
      }
    }
    return found;
  }

  // Lines of code that are longer than their cell is wide: they scroll.
  const long_lines = () =>
    cells().filter(({ widget, model }) => {
      const scroller = model.type === "code" && widget.node.querySelector(".cm-scroller");
      return scroller && scroller.scrollWidth > scroller.clientWidth + 2;
    }).map(({ model }) => model.id);

  const theme = (name) => window.jupyterapp.commands.execute("apputils:change-theme", { theme: name });
  return { started, open, ready, close, run, done, write, outputs, widgets, watch, changed, cut, long_lines, theme };
})();
