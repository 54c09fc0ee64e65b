// Lessons on a narrow screen: what is optional and the code of pictures folded, panels one below the other.

const SIDES = { 2: ["left", "right"], 3: ["left", "middle", "right"] };
const make = (name, properties) => Object.assign(document.createElement(name), properties);

/** A fold with these nodes in the place of the first of them; its name says what a tap does. */
function fold(nodes, className, what) {
  const details = make("details", { className });
  const summary = make("summary", { textContent: `Show ${what}` });
  details.addEventListener("toggle", () => (summary.textContent = `${details.open ? "Hide" : "Show"} ${what}`));
  nodes[0].replaceWith(details);
  details.append(summary, ...nodes);
}

/** The code of a picture is as long as the picture, and what it shows stands below. */
function fold_code_of_pictures() {
  for (const code of document.querySelectorAll(".cell.tag_drawing > .cell_input")) {
    fold([code], "code-of-picture", "the code of this picture");
  }
}

/** Sections that are "more" keep their heading and their time; at the end of the last one stays how to go on. */
function fold_optional_sections() {
  const times = [...document.querySelectorAll("section > h2 + p > em:only-child")].filter((time) => time.textContent.startsWith("More · "));
  for (const time of times) {
    const section = time.closest("section");
    const [, , ...rest] = section.children;
    const how_to_go_on = time === times.at(-1) ? rest.findIndex((node) => node.matches("p") && node.querySelector("a[href*='exercises/']")) : -1;
    if (how_to_go_on >= 0) rest.splice(how_to_go_on);
    if (rest.length) fold(rest, "optional-section", "this section");
    for (const link of document.querySelectorAll(`.page-toc a[href="#${section.id}"]`)) {
      link.append(make("small", { textContent: ` ${time.textContent.toLowerCase()}` }));
    }
  }
  const open_target = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const folded = target.matches("section") ? target.querySelector(":scope > .optional-section") : target.closest(".optional-section");
    if (folded) folded.open = true;
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", open_target);
  window.addEventListener("load", open_target);
}

/** A picture's parts, where the build found that it has some (data-panels: where one ends, as shares of the width). */
function panels_of(picture) {
  const ends = [...picture.dataset.panels.split(" ").map(Number), 1];
  return ends.flatMap((end, n) => {
    const start = n ? ends[n - 1] : 0;
    const share = end - start;
    const part = n ? Object.assign(picture.cloneNode(), { alt: "" }) : picture; // it is described once
    part.style.cssText = `width: ${100 / share}%; left: ${(-100 * start) / share}%`;
    const panel = make("span", { className: "panel" });
    panel.style.aspectRatio = `${share * picture.naturalWidth} / ${picture.naturalHeight}`;
    panel.style.setProperty("--own-width", `${share * picture.naturalWidth}px`);
    panel.append(part);
    return [make("span", { className: "panel-name", textContent: SIDES[ends.length][n] }), panel];
  });
}

/** What is wider than the screen says so. */
function tell_to_swipe() {
  for (const whole of document.querySelectorAll(".whole-picture")) {
    const hint = make("span", { className: "swipe-hint", textContent: "Swipe: it goes on to the right →", ariaHidden: "true" });
    const tell = () => (whole.scrollWidth > 1.08 * whole.clientWidth ? whole.before(hint) : hint.remove());
    new ResizeObserver(tell).observe(whole);
    whole.querySelector("img").addEventListener("load", tell);
  }
}

function stack_panels() {
  for (const picture of document.querySelectorAll(".whole-picture > img[data-panels]")) {
    const stack = () => picture.parentElement.replaceChildren(...panels_of(picture));
    if (picture.complete) stack();
    else picture.addEventListener("load", stack, { once: true });
  }
}

if (matchMedia("(max-width: 600px)").matches) {
  fold_code_of_pictures();
  fold_optional_sections();
  stack_panels();
  tell_to_swipe();
}
