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

/** A figure that the page makes small opens in its own size, where one can zoom in. */
function let_pictures_be_opened() {
  for (const picture of document.querySelectorAll(".cell_output img:not(a img)")) {
    const whole = Object.assign(document.createElement("a"), { href: picture.src, className: "whole-picture" });
    picture.replaceWith(whole);
    whole.append(picture);
  }
}

name_buttons();
let_pictures_be_opened();
window.addEventListener("load", () => {
  name_buttons();
  globalThis.MathJax?.startup?.promise?.then(let_wide_formulas_be_reached);
});
