"""Predictions: asked for before a cell runs, kept in this kernel, and shown again beside what came out.

``predict`` asks, ``came_out`` answers, ``predictions`` lists them all. A restart forgets them here; what a person kept
stays in their progress (``course_utils.progress``).
"""

import html
from collections.abc import Sequence

import ipywidgets
from torch import Tensor

from course_utils import progress_log

from .live_figure import WIDE

BOX = "border-left:4px solid #5b7db1;padding:4px 10px;margin:4px 0"  # no color of its own: light and dark
NONE_KEPT = "no prediction was kept"

Value = str | float | tuple[float, ...]
_ASKED: dict[str, "Prediction"] = {}  # by name, in the order in which they were asked


class Prediction(ipywidgets.VBox):
    """One question with its control and a button that keeps the answer.

    Args:
        name: Such as ``"4.1"``.
        question: In one or two sentences.
        labels: What shares or choices are called; empty for a number.
        controls: The controls of its value: one, or one a share.
    """

    def __init__(
        self, name: str, question: str, labels: tuple[str, ...], controls: Sequence[ipywidgets.ValueWidget]
    ) -> None:
        self.name, self.question, self.labels = name, question, labels
        self.inputs = tuple(controls)
        self.kept: Value | None = None
        self.outcome: Value | None = None
        self.button = ipywidgets.Button(description="Keep my prediction", layout={"width": "14em"})
        self.said = ipywidgets.HTML()
        self.button.on_click(self.keep)
        title = ipywidgets.HTML(f"<b>Predict {html.escape(name)}</b> · {html.escape(question)}")
        super().__init__([title, *self.inputs, self.button, self.said])
        if len(self.inputs) > 1:
            for control in self.inputs:
                control.observe(lambda change: self._say(self._shown(self._present())), "value")

    def keep(self, _: object = None) -> None:
        """Keep the controls' present value; if the result is there already, show it at once."""
        value = self._present()
        if value is None:
            self._say("Choose first.")
            return
        self.kept = value
        if self.outcome is None:
            self._say(f"Kept: {self._shown(value)}. You'll see it again beside what comes out.")
        else:
            self._say(f"Kept. {self.compared()}")
        progress_log.predicted(self.name, self.kept is not None, *self.cells())

    def compared(self) -> str:
        """The guess and the outcome in one sentence."""
        came_out = f"It came out: {self._shown(self.outcome)}."
        if self.kept is None:
            return f"{came_out} ({NONE_KEPT.capitalize()}.)"
        return f"You predicted: {self._shown(self.kept)}. {came_out}"

    def cells(self) -> tuple[str, str, str]:
        """Question, guess and outcome, for the table of all."""
        guess = NONE_KEPT if self.kept is None else self._shown(self.kept)
        return self.question, guess, "not there yet" if self.outcome is None else self._shown(self.outcome)

    def _present(self) -> Value | None:
        values = tuple(control.value for control in self.inputs)
        if len(values) == 1:
            return values[0]
        return tuple(value / sum(values) for value in values) if sum(values) > 0 else None

    def _shown(self, value: Value | None) -> str:
        if value is None:
            return "nothing has a share yet"
        if isinstance(value, tuple):
            return ", ".join(f"{label} {share:.2f}" for label, share in zip(self.labels, value, strict=True))
        return value if isinstance(value, str) else f"{value:.3g}"

    def _say(self, text: str) -> None:
        self.said.value = html.escape(text)

    def _repr_mimebundle_(self, **options: object) -> dict[str, object]:
        """As for every widget, with the whole text for pages without a kernel: ipywidgets cuts it."""
        return {**super()._repr_mimebundle_(**options), "text/plain": repr(self)}

    def __repr__(self) -> str:
        among = f" One of: {'; '.join(self.labels)}." if len(self.inputs) == 1 and self.labels else ""
        return f"[predict {self.name}: {self.question}{among} Run this cell to keep your prediction.]"


class Told:
    """Text that notebooks show as a box, and everything else as it stands."""

    def __init__(self, text: str, page: str) -> None:
        self.text, self.page = text, page

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.page


def predict(
    name: str,
    question: str,
    *,
    choices: Sequence[str] | None = None,
    between: tuple[float, float] | None = None,
    step: float | None = None,
    shares: Sequence[str] | None = None,
) -> Prediction:
    """Ask for a prediction and keep it; asked again, the question starts anew.

    Args:
        name: Lesson and count, such as ``"4.1"``.
        question: In one or two sentences.
        choices: The prediction is one of these texts.
        between: It is a number from the first to the second.
        step: Of that number; a hundredth of the range if not given.
        shares: It is a share for each of these; they sum to 1.

    Raises:
        ValueError: Not exactly one of choices, between and shares is given, or it leaves nothing to predict.
    """
    given = [kind for kind in (choices, between, shares) if kind is not None]
    if len(given) != 1:
        raise ValueError(f"prediction {name}: give one of choices, between and shares; {len(given)} were given")
    labels = tuple(choices or shares or ())
    if between is not None:
        low, high = between
        if not low < high:
            raise ValueError(f"prediction {name}: between must be (low, high) with low < high, not {between}")
        step = (high - low) / 100 if step is None else step
        slider = ipywidgets.FloatSlider((low + high) / 2, min=low, max=high, step=step, description="I say", **WIDE)
        controls = [slider]
    elif len(set(labels)) < 2 or len(set(labels)) < len(labels):
        raise ValueError(f"prediction {name}: at least two texts, all different, are needed, not {list(labels)}")
    elif choices is not None:
        controls = [ipywidgets.RadioButtons(options=labels, value=None, layout={"width": "auto"})]
    else:
        controls = [
            ipywidgets.FloatSlider(1 / len(labels), min=0.0, max=1.0, step=0.01, description=label, **WIDE)
            for label in labels
        ]
    _ASKED.pop(name, None)  # to the end
    _ASKED[name] = Prediction(name, question, labels, controls)
    return _ASKED[name]


def came_out(name: str, value: Tensor | Sequence[float] | float | str) -> Told:
    """Show what came out beside the prediction of that name.

    Args:
        name: As given to ``predict``.
        value: The right choice, the number, or a share for each of the texts, of the same form as the prediction.

    Raises:
        ValueError: No such prediction was asked for, or the value has another form than it.
    """
    if name not in _ASKED:
        raise ValueError(f"no prediction {name!r} was asked for in this run: run the cell with predict({name!r}, ...)")
    prediction = _ASKED[name]
    value = value.tolist() if isinstance(value, Tensor) else value
    one_of = prediction.labels if len(prediction.inputs) == 1 else ()
    if isinstance(value, list | tuple):
        value, fits = tuple(value), len(value) == len(prediction.inputs) > 1
    else:
        fits = value in one_of if one_of else len(prediction.inputs) == 1 and isinstance(value, int | float)
    if not fits:
        raise ValueError(f"prediction {name!r} asks for {_asks_for(prediction)}; {value!r} came out")
    prediction.outcome = value
    progress_log.predicted(prediction.name, prediction.kept is not None, *prediction.cells())
    said = prediction.compared()
    return Told(f"Prediction {name}. {said}", f'<div style="{BOX}"><b>Prediction {name}</b> {html.escape(said)}</div>')


def predictions() -> Told:
    """All predictions of this run: what was asked, what was guessed, what came out."""
    rows = [(name, *prediction.cells()) for name, prediction in _ASKED.items()]
    if not rows:
        return Told("No predictions yet.", f'<div style="{BOX}">No predictions yet.</div>')
    text = "\n".join(f"{name} {asked} You: {guess}. It came out: {outcome}." for name, asked, guess, outcome in rows)
    lines = [_row("th", ("", "asked", "you predicted", "it came out")), *(_row("td", row) for row in rows)]
    return Told(text, f"<table>{''.join(lines)}</table>")


def _row(cell: str, texts: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{cell} style='text-align:left'>{html.escape(text)}</{cell}>" for text in texts) + "</tr>"


def _asks_for(prediction: Prediction) -> str:
    if len(prediction.inputs) > 1:
        return f"{len(prediction.inputs)} shares"
    return f"one of {', '.join(prediction.labels)}" if prediction.labels else "one number"
