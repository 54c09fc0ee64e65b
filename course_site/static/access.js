// What the theme and MathJax leave out for those who use a keyboard or a screen reader.

function name_buttons() {
  for (const summary of document.querySelectorAll("summary")) {
    if (summary.textContent.trim()) summary.removeAttribute("aria-label"); // its visible text is its name
    if (summary.textContent.trim() || summary.hasAttribute("aria-label")) continue;
    const page = summary.closest("li")?.querySelector("a")?.textContent.trim() ?? "this part";
    summary.setAttribute("aria-label", `pages of ${page}`);
  }
  // Their visible text is their name.
  for (const button of document.querySelectorAll(".search-button-field")) button.removeAttribute("aria-label");
}

/** What is too wide for the page can be scrolled with the arrow keys. */
function let_wide_formulas_be_reached() {
  for (const formula of document.querySelectorAll("mjx-container")) {
    if (formula.scrollWidth > formula.clientWidth || formula.scrollHeight > formula.clientHeight) formula.tabIndex = 0;
  }
}

name_buttons();
window.addEventListener("load", () => {
  name_buttons();
  globalThis.MathJax?.startup?.promise?.then(let_wide_formulas_be_reached);
});
