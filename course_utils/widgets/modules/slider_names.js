// Gives each slider of the box that it stands in a name for those who hear the page: ipywidgets gives them none.
// A slider's handle appears some time after the box, so the page is watched until all are there.

function render({ model, el }) {
  el.style.display = "none";
  const names = model.get("names");

  function named() {
    const box = el.closest(".widget-vbox");
    const handles = box ? [...box.querySelectorAll(".widget-slider [role='slider']")] : [];
    if (handles.length < names.length) return false;
    handles.forEach((handle, n) => handle.setAttribute("aria-label", names[n]));
    return true;
  }

  if (named()) return;
  const watching = new MutationObserver(() => named() && watching.disconnect());
  watching.observe(document.body, { childList: true, subtree: true });
  return () => watching.disconnect();
}

export default { render };
