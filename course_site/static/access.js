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

/** A figure that the page makes small opens in its own size, where one can zoom in. */
function let_pictures_be_opened() {
  for (const picture of document.querySelectorAll(".cell_output img:not(a img)")) {
    const whole = Object.assign(document.createElement("a"), { href: picture.src, className: "whole-picture" });
    whole.style.setProperty("--own-width", "100%");
    const measure = () => whole.style.setProperty("--own-width", `${picture.naturalWidth}px`);
    picture.replaceWith(whole);
    whole.append(picture);
    if (picture.complete) measure();
    else picture.addEventListener("load", measure, { once: true });
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

/** A page that was found by a search opens where the words stand first. */
function go_to_what_was_searched() {
  const first = location.hash ? null : document.querySelector(".bd-article .highlighted");
  for (let fold = first?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  first?.scrollIntoView({ block: "center" });
}

name_buttons();
let_pictures_be_opened();
let_menus_close();
window.addEventListener("load", () => {
  name_buttons();
  let_what_scrolls_be_reached();
  show_where_it_goes_on(".bd-article :is(.whole-picture, pre, .pst-scrollable-table-container)");
  keep_the_search_in_sight();
  setTimeout(go_to_what_was_searched, 100); // the marks are made shortly after the page is loaded
  globalThis.MathJax?.startup?.promise?.then(() => {
    let_what_scrolls_be_reached();
    show_where_it_goes_on("mjx-container[display='true']");
  });
});
