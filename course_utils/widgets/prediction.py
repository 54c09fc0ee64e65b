"""Predictions: asked for before a cell runs, kept in this kernel, and shown again beside what came out.

``predict`` asks, ``came_out`` answers, ``predictions`` lists them all. A restart forgets them here; what a person kept
stays in their progress (``course_utils.progress``). Where nobody has kept one, what came out is behind a fold; and the build
folds the stored outputs of the cells that lead to it. The web site reads question and outcome from the ``data-`` attributes.
"""

import html
import json
from collections.abc import Sequence

import ipywidgets
from torch import Tensor

from course_utils import progress_log
from course_utils.progress_log import Display

from .live_figure import WIDE
from .slider_names import slider_names

BOX = "border-left:4px solid #5b7db1;padding:4px 10px;margin:4px 0"  # no color of its own: light and dark
NONE_KEPT = "no prediction was kept"

Value = str | float | tuple[float, ...]
_PREDICTIONS: dict[str, "Prediction"] = {}  # by name, in the order in which they were asked


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
        self.guess: Value | None = None
        self.outcome: Value | None = None
        self.button = ipywidgets.Button(description="Keep my prediction", layout={"width": "14em"})
        self.message = ipywidgets.HTML()
        self.button.on_click(self.keep)
        title = ipywidgets.HTML(f"<b>Predict {html.escape(name)}</b> · {html.escape(question)}")
        names = slider_names(self.inputs, about=question)
        super().__init__([title, *self.inputs, self.button, self.message, *names])
        if len(self.inputs) > 1:
            for control in self.inputs:
                control.observe(lambda change: self._show(self._formatted(self._value())), "value")

    def keep(self, _: object = None) -> None:
        """Keep the controls' present value; if the result is there already, show it at once."""
        value = self._value()
        if value is None:
            self._show("Choose first.")
            return
        self._keep(value)
        self.note()

    def take_over(self, before: "Prediction") -> None:
        """Set what was kept before, if the question was the same: its cell has run once more."""
        if before.guess is None or (before.question, before.labels) != (self.question, self.labels):
            return
        for control, old in zip(self.inputs, before.inputs, strict=True):
            control.value = old.value
        self._keep(before.guess)

    def _keep(self, value: Value) -> None:
        self.guess = value
        if self.outcome is None:
            self._show(f"Kept: {self._formatted(value)}. You'll see it again beside what comes out.")
        else:
            self._show(f"Kept. {self.comparison()}")

    def came_out(self) -> Display:
        """What came out beside the guess; without a guess, behind a fold."""
        text = html.escape(self.comparison())
        if self.guess is None:
            outcome = html.escape(self._formatted(self.outcome))
            asked = (
                f'<summary>Prediction {self.name}: what came out</summary><div data-came-out="{outcome}">{text}</div>'
            )
            page = f'<details style="{BOX}" data-prediction="{self.name}">{asked}</details>'
        else:
            page = f'<div style="{BOX}"><b>Prediction {self.name}</b> {text}{self._bars()}</div>'
        return Display(f"Prediction {self.name}. {self.comparison()}", page)

    def _bars(self) -> str:
        """Guess and outcome one below the other, on the scale of the controls; nothing for a choice among texts."""
        if isinstance(self.outcome, str):
            return ""
        guesses, outcomes = ((v if isinstance(v, tuple) else (v,)) for v in (self.guess, self.outcome))
        bars = ""
        for control, label, *pair in zip(self.inputs, self.labels or ("",), guesses, outcomes, strict=True):
            for value, who, color in zip(pair, (f"{label} you".strip(), "it"), ("#9aa5b1", "#5b7db1"), strict=True):
                share = min(max((value - control.min) / (control.max - control.min), 0), 1)
                filled = f'<div style="width:{share:.1%};min-width:1px;height:9px;background:{color}"></div>'
                bars += f'<div style="text-align:right">{html.escape(who)}</div><div style="align-self:center">{filled}</div>'
        return f'<div style="display:grid;grid-template-columns:max-content 18em;column-gap:8px;line-height:1.3">{bars}</div>'

    def comparison(self) -> str:
        """The guess and the outcome in one sentence."""
        outcome = f"It came out: {self._formatted(self.outcome)}."
        if self.guess is None:
            return f"{outcome} ({NONE_KEPT.capitalize()}.)"
        return f"You predicted: {self._formatted(self.guess)}. {outcome}"

    def row(self) -> tuple[str, str, str]:
        """Question, guess and outcome, for the table of all."""
        guess = NONE_KEPT if self.guess is None else self._formatted(self.guess)
        return self.question, guess, "not there yet" if self.outcome is None else self._formatted(self.outcome)

    def note(self) -> None:
        """Note it in the student's progress, if one was made."""
        if self.guess is not None:
            progress_log.predicted(self.name, *self.row())

    def _value(self) -> Value | None:
        values = tuple(control.value for control in self.inputs)
        if len(values) == 1:
            return values[0]
        return tuple(value / sum(values) for value in values) if sum(values) > 0 else None

    def _formatted(self, value: Value | None) -> str:
        if value is None:
            return "nothing has a share yet"
        if isinstance(value, tuple):
            return ", ".join(f"{label} {share:.2f}" for label, share in zip(self.labels, value, strict=True))
        return value if isinstance(value, str) else f"{value:.3g}"

    def _show(self, text: str) -> None:
        self.message.value = html.escape(text)

    def _repr_mimebundle_(self, **options: object) -> dict[str, object]:
        """As for every widget, with the whole text for pages without a kernel: ipywidgets cuts it."""
        return {**super()._repr_mimebundle_(**options), "text/plain": repr(self), "text/html": self._page()}

    def _page(self) -> str:
        """The question on a page without a kernel."""
        control = self.inputs[0]
        number = {} if self.labels else {"low": control.min, "high": control.max, "step": control.step}
        kind = "shares" if len(self.inputs) > 1 else "choice" if self.labels else "number"
        asks = html.escape(json.dumps({"name": self.name, "kind": kind, "labels": self.labels, **number}))
        choices = "".join(f"<li>{html.escape(label)}</li>" for label in self.labels)
        return (
            f'<div style="{BOX}" data-predict="{asks}"><b>Predict {self.name}</b> · {html.escape(self.question)}'
            f"{choices and f'<ul>{choices}</ul>'} <i>Run this cell to keep your prediction.</i></div>"
        )

    def __repr__(self) -> str:
        among = f" One of: {'; '.join(self.labels)}." if len(self.inputs) == 1 and self.labels else ""
        return f"[predict {self.name}: {self.question}{among} Run this cell to keep your prediction.]"


def predict(
    name: str,
    question: str,
    *,
    choices: Sequence[str] | None = None,
    between: tuple[float, float] | None = None,
    step: float | None = None,
    shares: Sequence[str] | None = None,
) -> Prediction:
    """Ask for a prediction and keep it; asked again, the same question still has what was kept.

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
    count = sum(kind is not None for kind in (choices, between, shares))
    if count != 1:
        raise ValueError(f"prediction {name}: give one of choices, between and shares; {count} were given")
    labels = tuple(choices or shares or ())
    if between is not None:
        low, high = between
        if not low < high:
            raise ValueError(f"prediction {name}: between must be (low, high) with low < high, not {between}")
        step = (high - low) / 100 if step is None else step
        shown = ".0f" if float(low).is_integer() and float(step).is_integer() else ".2f"
        narrow = {"style": {"description_width": "initial"}}  # beside the question, not under the middle of it
        style = WIDE | {"readout_format": shown, "description": "I say"} | narrow
        middle = low + round((high - low) / step) // 2 * step
        slider = ipywidgets.FloatSlider(middle, min=low, max=high, step=step, **style)
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
    before, asked = _PREDICTIONS.pop(name, None), Prediction(name, question, labels, controls)
    if before is not None:
        asked.take_over(before)
    _PREDICTIONS[name] = asked  # at the end
    return asked


def came_out(name: str, value: Tensor | Sequence[float] | float | str) -> Display:
    """Show what came out beside the prediction of that name.

    Args:
        name: As given to ``predict``.
        value: The right choice, the number, or a share for each of the texts, of the same form as the prediction.

    Raises:
        ValueError: No such prediction was asked for, or the value has another form than it.
    """
    if name not in _PREDICTIONS:
        raise ValueError(f"no prediction {name!r} was asked for in this run: run the cell with predict({name!r}, ...)")
    prediction = _PREDICTIONS[name]
    value = value.tolist() if isinstance(value, Tensor) else value
    options = prediction.labels if len(prediction.inputs) == 1 else ()
    if isinstance(value, list | tuple):
        value, fits = tuple(value), len(value) == len(prediction.inputs) > 1
    else:
        fits = value in options if options else len(prediction.inputs) == 1 and isinstance(value, int | float)
    if not fits:
        raise ValueError(f"prediction {name!r} asks for {_asks_for(prediction)}; {value!r} came out")
    prediction.outcome = value
    prediction.note()
    return prediction.came_out()


def predictions() -> Display:
    """All predictions of this run: what was asked, what was guessed, what came out (of those not kept, behind a fold)."""
    rows = [(name, *prediction.row()) for name, prediction in _PREDICTIONS.items()]
    if not rows:
        return Display("No predictions yet.", f'<div style="{BOX}">No predictions yet.</div>')
    text = "\n".join(f"{name} {asked} You: {guess}. It came out: {outcome}." for name, asked, guess, outcome in rows)
    header = ("", "asked", "you predicted", "it came out")
    kept = [row for row in rows if row[2] != NONE_KEPT]
    table = progress_log.html_table([header, *kept]) if kept else ""
    if rest := [row for row in rows if row[2] == NONE_KEPT]:
        folded = progress_log.html_table([header, *rest])
        table += f"<details><summary>{len(rest)} without a prediction of yours</summary>{folded}</details>"
    return Display(text, table)


def _asks_for(prediction: Prediction) -> str:
    if len(prediction.inputs) > 1:
        return f"{len(prediction.inputs)} shares"
    return f"one of {', '.join(prediction.labels)}" if prediction.labels else "one number"
