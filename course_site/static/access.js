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

/** What is too wide fades at its right edge until it has been moved to its end. */
function show_where_it_goes_on(selector) {
  const mark = (wide) => wide.classList.toggle("goes-on", wide.scrollWidth - wide.clientWidth - wide.scrollLeft > 4);
  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => mark(target)));
  for (const wide of document.querySelectorAll(selector)) {
    sizes.observe(wide);
    wide.addEventListener("scroll", () => mark(wide), { passive: true });
  }
}

/** The list of sections and the choice of a theme lie over the page on a phone: they go once one has chosen. */
function let_menus_close() {
  document.addEventListener("click", ({ target }) => {
    target.closest("dialog[open] a[href*='#']")?.closest("dialog").close();
    if (target.closest(".theme-change-button")) document.body.click();
  });
}

/** What is too wide for the page can be scrolled with the arrow keys. */
function let_what_scrolls_be_reached() {
  for (const wide of document.querySelectorAll("mjx-container, .cell_input pre")) {
    if (wide.scrollWidth > wide.clientWidth || wide.scrollHeight > wide.clientHeight) wide.tabIndex = 0;
  }
}

const NARROW = matchMedia("(max-width: 600px)").matches;
const SIDES = { 2: ["left", "right"], 3: ["left", "middle", "right"] };

/** Its parts one below the other, where the build found that it has some (data-panels: where one ends, as shares of the width). */
function panels_of(picture) {
  const ends = [...picture.dataset.panels.split(" ").map(Number), 1];
  return ends.flatMap((end, n) => {
    const start = n ? ends[n - 1] : 0;
    const share = end - start;
    const part = n ? Object.assign(picture.cloneNode(), { alt: "" }) : picture; // it is described once
    part.style.cssText = `width: ${100 / share}%; left: ${(-100 * start) / share}%`;
    const panel = Object.assign(document.createElement("span"), { className: "panel" });
    panel.style.aspectRatio = `${share * picture.naturalWidth} / ${picture.naturalHeight}`;
    panel.style.setProperty("--own-width", `${share * picture.naturalWidth}px`);
    panel.append(part);
    return [Object.assign(document.createElement("span"), { className: "panel-name", textContent: SIDES[ends.length][n] }), panel];
  });
}

/** A figure that the page makes small opens in its own size, where one can zoom in. */
function let_pictures_be_opened() {
  for (const picture of document.querySelectorAll(".cell_output img:not(a img)")) {
    const whole = Object.assign(document.createElement("a"), { href: picture.src, className: "whole-picture" });
    whole.style.setProperty("--own-width", "100%");
    const measure = () => {
      whole.style.setProperty("--own-width", `${picture.naturalWidth}px`);
      if (NARROW && picture.dataset.panels) whole.replaceChildren(...panels_of(picture));
    };
    picture.replaceWith(whole);
    whole.append(picture);
    if (picture.complete) measure();
    else picture.addEventListener("load", measure, { once: true });
  }
}

/** On a phone the code of a picture is folded: it is as long as the picture, and what it shows stands below. */
function fold_code_of_pictures() {
  if (!NARROW) return;
  for (const code of document.querySelectorAll(".cell.tag_drawing > .cell_input")) {
    const fold = Object.assign(document.createElement("details"), { className: "code-of-picture" });
    const [closed, open] = ["Show the code of this picture", "Hide the code of this picture"];
    const summary = Object.assign(document.createElement("summary"), { textContent: closed });
    fold.addEventListener("toggle", () => (summary.textContent = fold.open ? open : closed));
    code.replaceWith(fold);
    fold.append(summary, code);
  }
}

/** The theme scrolls the list of pages to this page; not where its name is in sight from the top, below title and search. */
function keep_the_search_in_sight() {
  const bar = document.querySelector(".bd-sidebar-primary");
  const here = bar && [...bar.querySelectorAll("li.active > a")].at(-1);
  if (!here || sessionStorage.getItem("sidebar-scroll-top") !== null) return;
  const below = here.getBoundingClientRect().bottom - bar.getBoundingClientRect().top + bar.scrollTop;
  if (below < bar.clientHeight) bar.scrollTop = 0;
}

fold_code_of_pictures();
name_buttons();
let_pictures_be_opened();
let_menus_close();
window.addEventListener("load", () => {
  name_buttons();
  let_what_scrolls_be_reached();
  show_where_it_goes_on(".bd-article :is(.whole-picture, pre, .pst-scrollable-table-container)");
  keep_the_search_in_sight();
  globalThis.MathJax?.startup?.promise?.then(() => {
    let_what_scrolls_be_reached();
    show_where_it_goes_on("mjx-container[display='true']");
  });
});
