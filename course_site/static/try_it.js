// Exercises answered on the page: what the check says of each answer was worked out when the site was built.

const KEPT = "attention-course-try-";

function kept(number) {
  try {
    return JSON.parse(localStorage.getItem(KEPT + number));
  } catch {
    return null; // a browser that keeps nothing
  }
}

function keep(number, state) {
  try {
    localStorage.setItem(KEPT + number, JSON.stringify(state));
  } catch {
    // it holds until the page is left
  }
}

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** A number with that many significant digits, as Python's ``f"{x:.4g}"``. */
export function general(x, digits) {
  if (x === 0) return Object.is(x, -0) ? "-0" : "0";
  const [mantissa, power] = x.toExponential(digits - 1).split("e");
  const exponent = Number(power);
  const bare = (text) => (text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text);
  if (exponent >= -4 && exponent < digits) return bare(x.toFixed(Math.max(0, digits - 1 - exponent)));
  return `${bare(mantissa)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

function close(a, b, { rtol, atol }) {
  return Math.abs(a - b) <= Math.max(rtol * Math.max(Math.abs(a), Math.abs(b)), atol);
}

/** The verdict on a number: right, a mistake known by its value, or another one. */
export function verdictOnNumber(exercise, typed) {
  const value = Math.fround(typed);
  if (close(value, exercise.right, exercise)) return exercise.verdicts[exercise.passed];
  const known = exercise.known.find(([mistaken]) => close(value, mistaken, exercise));
  const verdict = exercise.verdicts[known ? known[1] : exercise.other];
  let digits = 4; // as many as it takes to tell it from the right one
  while (digits < 16 && general(value, digits) === general(exercise.right, digits)) digits += 1;
  return { ...verdict, lines: verdict.lines.map((line) => line.replace("{yours}", general(value, digits))) };
}

/** Each kind: elements, ``read`` (an answer, or null with a reason in ``missing``) and ``show`` (an answer given before). */
const CONTROLS = {
  letter(exercise, place, number) {
    const items = [...place.querySelector("ul").children];
    const inputs = items.map((item) => {
      const letter = item.textContent.trim()[0];
      const input = element("input", { type: "radio", name: `try-${number}`, value: letter });
      const inside = item.firstElementChild?.tagName === "P" ? item.firstElementChild : item;
      item.replaceChildren(element("label", {}, input, element("span", {}, ...inside.childNodes)));
      return input;
    });
    place.querySelector("ul").classList.add("try-options");
    return {
      elements: [place.querySelector("ul")],
      missing: "Choose one first.",
      read: () => inputs.find((input) => input.checked)?.value ?? null,
      show: (letter) => inputs.forEach((input) => (input.checked = input.value === letter)),
    };
  },

  cells(exercise) {
    const buttons = [];
    let touched = false; // a table of False alone may be an answer, but not before anything was pressed
    const press = (button, on) => {
      button.setAttribute("aria-pressed", String(on));
      button.textContent = on ? "True" : "False";
      button.setAttribute("aria-label", `${button.dataset.where}: ${button.textContent}`);
    };
    const head = element("tr", {}, element("td"), ...exercise.columns.map((name) => element("th", { scope: "col" }, name)));
    const rows = exercise.rows.map((row, i) => {
      const cells = exercise.columns.map((column, j) => {
        const button = element("button", { type: "button", className: "try-cell" });
        button.dataset.where = `${row}, ${column}`;
        button.addEventListener("click", () => {
          touched = true;
          press(button, button.getAttribute("aria-pressed") !== "true");
        });
        button.addEventListener("keydown", (event) => {
          const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
          const next = steps && j + steps[1] in exercise.columns && buttons[(i + steps[0]) * exercise.columns.length + j + steps[1]];
          if (!next) return;
          next.focus();
          event.preventDefault();
        });
        press(button, false);
        buttons.push(button);
        return element("td", {}, button);
      });
      return element("tr", {}, element("th", { scope: "row" }, row), ...cells);
    });
    const table = element("table", { className: "try-table" }, element("tbody", {}, head, ...rows));
    return {
      elements: [element("div", { className: "try-wide" }, table)],
      missing: "Press the cells that are True first.",
      read: () => (touched ? buttons.map((button) => (button.getAttribute("aria-pressed") === "true" ? "1" : "0")).join("") : null),
      show: (key) => {
        touched = true;
        buttons.forEach((button, i) => press(button, key[i] === "1"));
      },
    };
  },

  order(exercise) {
    const list = element("ol", { className: "try-order" });
    const move = (item, step) => {
      const other = step < 0 ? item.previousElementSibling : item.nextElementSibling;
      if (!other) return;
      if (step < 0) other.before(item);
      else other.after(item);
      item.querySelector(step < 0 ? "button" : "button:last-of-type").focus();
    };
    const items = exercise.items.map((name, i) => {
      const item = element("li", {}, element("span", {}, name));
      item.dataset.place = i;
      for (const [step, sign, word] of [[-1, "↑", "earlier"], [1, "↓", "later"]]) {
        const button = element("button", { type: "button", className: "try-move" }, sign);
        button.setAttribute("aria-label", `${name}: ${word}`);
        button.addEventListener("click", () => move(item, step));
        item.append(button);
      }
      return item;
    });
    list.append(...items);
    return {
      elements: [list],
      read: () => [...list.children].map((item) => item.dataset.place).join(""),
      show: (key) => list.append(...[...key].map((place) => items[Number(place)])),
    };
  },

  counts(exercise) {
    const inputs = exercise.names.map(() => element("input", { type: "number", min: 0, max: exercise.most, step: 1, required: true }));
    const rows = exercise.names.map((name, i) => element("label", { className: "try-count" }, name, inputs[i]));
    const fits = (input) => input.value !== "" && Number.isInteger(Number(input.value)) && Number(input.value) in [...Array(exercise.most + 1)];
    return {
      elements: [element("div", {}, ...rows)],
      missing: `Each is a whole number from 0 to ${exercise.most}.`,
      read: () => (inputs.every(fits) ? inputs.map((input) => Number(input.value)).join("") : null),
      show: (key) => inputs.forEach((input, i) => (input.value = key[i])),
    };
  },

  number(exercise) {
    const input = element("input", { type: "text", inputMode: "decimal", autocomplete: "off", size: 10 });
    return {
      elements: [element("label", { className: "try-count" }, exercise.label, input)],
      missing: `Type a number with ${exercise.decimals} decimals.`,
      read: () => (input.value.trim() !== "" && Number.isFinite(Number(input.value.replace(",", "."))) ? input.value.trim().replace(",", ".") : null),
      show: (text) => (input.value = text),
    };
  },
};

function verdictOn(exercise, answer) {
  if (exercise.kind === "number") return verdictOnNumber(exercise, Number(answer));
  return exercise.verdicts[exercise.answers[answer]];
}

/** A sentence whose names stand between backticks, as pieces of a paragraph. */
const withCode = (text) => text.split("`").map((piece, i) => (i % 2 ? element("code", {}, piece) : piece));

function enliven(place) {
  const number = place.dataset.try;
  const exercise = JSON.parse(place.querySelector("script").textContent);
  const control = CONTROLS[exercise.kind](exercise, place, number);
  const said = element("div", { className: "try-said" });
  said.setAttribute("role", "status");
  let state = { answer: null, failures: 0, ...kept(number) };

  function tell(text) {
    said.className = "try-said";
    said.replaceChildren(element("p", {}, text));
  }

  function show() {
    const verdict = verdictOn(exercise, state.answer);
    if (!verdict) return; // kept by an earlier edition of this page
    const [head, ...lines] = verdict.lines;
    if (!verdict.passed && state.failures > 1 && verdict.remedy) lines.push(verdict.remedy);
    said.className = `try-said ${verdict.passed ? "try-right" : "try-wrong"}`;
    said.replaceChildren(element("p", {}, element("b", {}, head)), ...lines.map((line) => element("p", {}, ...withCode(line))));
    if (verdict.passed && exercise.kind !== "letter") {
      said.append(element("p", {}, "That is one case. The exercise asks for code that is right in all of them: write it in the notebook."));
    }
  }

  const form = element("form", { noValidate: true }, ...control.elements, element("button", { className: "try-check" }, "Check"), said);
  /** What was said of an answer goes as soon as the answer is another one. */
  function forget() {
    said.className = "try-said";
    said.replaceChildren();
  }

  form.addEventListener("input", forget);
  form.addEventListener("click", ({ target }) => target.closest(".try-cell, .try-move") && forget());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const answer = control.read();
    if (answer === null) return tell(control.missing);
    const failed = !verdictOn(exercise, answer).passed;
    state = { answer, failures: failed ? state.failures + 1 : 0 };
    keep(number, state);
    show();
  });
  place.append(form);
  if (state.answer !== null) {
    control.show(state.answer);
    show();
  }
  place.dataset.alive = "";
}

if (typeof document !== "undefined") document.querySelectorAll("[data-try]").forEach(enliven);
