// Predictions on a page without a kernel: asked, kept in this browser, and shown beside what came out when the page was run.

const KEPT = "attention-course-prediction-";

function kept(name) {
  try {
    return JSON.parse(localStorage.getItem(KEPT + name));
  } catch {
    return null; // a browser that keeps nothing
  }
}

function keep(name, guess) {
  try {
    localStorage.setItem(KEPT + name, JSON.stringify(guess));
  } catch {
    // it holds until the page is left
  }
}

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function slider(label, from, value, changed) {
  const input = element("input", { type: "range", min: from.low, max: from.high, step: from.step });
  input.value = value;
  const shown = element("output", {}, input.value);
  input.addEventListener("input", () => {
    shown.value = input.value;
    changed();
  });
  return { input, row: element("label", { className: "predict-row" }, element("span", {}, label), input, shown) };
}

/** The controls, and a function that reads them: null while nothing is chosen. */
function controls(question, changed) {
  if (question.kind === "choice") {
    const inputs = question.labels.map((value) => element("input", { type: "radio", name: `predict-${question.name}`, value }));
    const rows = inputs.map((input) => element("label", { className: "predict-row" }, input, element("span", {}, input.value)));
    return { rows, value: () => inputs.find((input) => input.checked)?.value ?? null };
  }
  if (question.kind === "number") {
    const { input, row } = slider("I say", question, (question.low + question.high) / 2, changed);
    return { rows: [row], value: () => Number(input.value) };
  }
  const part = { low: 0, high: 1, step: 0.01 };
  const sliders = question.labels.map((label) => slider(label, part, 1 / question.labels.length, changed));
  const value = () => {
    const shares = sliders.map(({ input }) => Number(input.value));
    const sum = shares.reduce((a, b) => a + b, 0);
    return sum > 0 ? shares.map((share) => share / sum) : null;
  };
  return { rows: sliders.map(({ row }) => row), value };
}

function written(question, guess) {
  if (question.kind === "shares") return question.labels.map((label, i) => `${label} ${guess[i].toFixed(2)}`).join(", ");
  return question.kind === "number" ? String(Number(guess.toPrecision(3))) : guess;
}

/** Opens every fold between the question and its answer, which stands on the same page. */
function uncover(place, answer) {
  for (const fold of document.querySelectorAll("details")) {
    const after = place.compareDocumentPosition(fold) & Node.DOCUMENT_POSITION_FOLLOWING;
    const before = fold === answer || fold.contains(answer) || fold.compareDocumentPosition(answer) & Node.DOCUMENT_POSITION_FOLLOWING;
    if (after && before && (fold === answer || fold.querySelector(".output") || fold.classList.contains("hide"))) fold.open = true;
  }
}

function enliven(place) {
  const question = JSON.parse(place.dataset.predict);
  const answer = document.querySelector(`details[data-prediction="${question.name}"]`);
  const said = element("p", { className: "predict-said" });
  said.setAttribute("role", "status");
  const { rows, value } = controls(question, () => {
    if (question.kind === "shares" && value()) said.textContent = written(question, value());
  });
  const button = element("button", { type: "button" }, "Keep my prediction");

  function show(guess) {
    const outcome = answer?.querySelector("[data-came-out]").dataset.cameOut;
    const text = outcome ? `You predicted: ${written(question, guess)}. It came out: ${outcome}.` : `Kept: ${written(question, guess)}.`;
    said.textContent = text;
    if (!answer) return;
    answer.querySelector("[data-came-out]").textContent = text;
    uncover(place, answer);
  }

  button.addEventListener("click", () => {
    const guess = value();
    if (guess === null) {
      said.textContent = "Choose first.";
      return;
    }
    keep(question.name, guess);
    show(guess);
  });
  place.querySelector("ul")?.remove();
  place.querySelector("i")?.remove();
  place.append(element("fieldset", {}, element("legend", { className: "predict-legend" }, `Prediction ${question.name}`), ...rows), button, said);
  const before = kept(question.name);
  if (before !== null && before !== undefined) show(before);
}

document.querySelectorAll("[data-predict]").forEach(enliven);
