// The two pages that are not the theme's: the menu of pages on a narrow screen, and light or dark, kept as the theme keeps it.

const menu = document.querySelector(".top .menu");
const mode = document.querySelector(".top .mode");
const root = document.documentElement;

function open_menu(open) {
  menu.setAttribute("aria-expanded", String(open));
  document.body.classList.toggle("menu-open", open);
}

function show_mode() {
  mode.setAttribute("aria-pressed", String(root.dataset.theme === "dark"));
}

menu.addEventListener("click", () => open_menu(menu.getAttribute("aria-expanded") !== "true"));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || menu.getAttribute("aria-expanded") !== "true") return;
  open_menu(false);
  menu.focus();
});
mode.addEventListener("click", () => {
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  show_mode();
  try {
    for (const name of ["mode", "theme"]) localStorage.setItem(name, root.dataset.theme);
  } catch {
    // it holds until the page is left
  }
});
show_mode();
