"""An encoder and a decoder over time: look, step, speak."""

from collections.abc import Sequence

from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from .drawing import Sheet
from .palette import LABEL, NUMBER, ROLES, SHAPE, SOFT
from .words import labels, number, short

TALL, MOST_WIDE = 0.36, 8.2  # inches
PHASES = ("look", "step", "speak")


def unrolled(
    source: Sequence[str],
    target: Sequence[str],
    weights: Float[Tensor, "L_t L_s"] | None = None,
    *,
    at: int = 0,
    phase: str = "speak",
) -> Axes:
    """A recurrent encoder and decoder over time, up to one moment of the decoder.

    Args:
        source: What is read, at most 10 symbols.
        target: What is said, at most 8 symbols.
        weights: How much each step looks at each state of the encoder; None: without attention, the last state is handed on.
        at: The step that is drawn in full; earlier ones are drawn pale.
        phase: How far it has come: ``look`` (the weights), ``step`` (the new state), ``speak`` (the symbol).
    """
    if not 1 <= len(source) <= 10 or not 1 <= len(target) <= 8:
        raise ValueError(f"source ({len(source)}) must be 1 to 10 symbols and target ({len(target)}) 1 to 8")
    if not 0 <= at < len(target):
        raise ValueError(f"at ({at}) must be a step of the target, 0 to {len(target) - 1}")
    if phase not in PHASES:
        raise ValueError(f"phase ({phase!r}) must be one of {', '.join(PHASES)}")
    if weights is not None and tuple(weights.shape) != (len(target), len(source)):
        raise ValueError(
            f"weights has shape {tuple(weights.shape)}; expected (L_t, L_s) = {(len(target), len(source))}"
        )
    source, target, sheet = labels(source, len(source), "source"), labels(target, len(target), "target"), Sheet()
    done, across = PHASES.index(phase), len(source) + (len(target) if weights is None else 0)
    step = min(0.95, MOST_WIDE / across)
    box_wide, letters = 0.76 * step, max(1, int(step / 0.13))
    for n, word in enumerate(source):
        x = n * step
        sheet.text(x + box_wide / 2, -0.34, short(word, letters), LABEL, va="top")
        sheet.arrow((x + box_wide / 2, -0.3), (x + box_wide / 2, -0.02))
        sheet.box(x, 0, box_wide, TALL, f"h{n + 1}", "key", size=NUMBER)
        if n:
            sheet.arrow((x - step + box_wide, TALL / 2), (x, TALL / 2))
    start, high = (len(source) * step + 0.25, 2.15) if weights is None else (0.0, 2.15)
    last = (len(source) - 1) * step
    for t in range(at + 1):
        now = t == at
        x, fill = start + t * step, 0.45 if now else 0.1
        said = target[t - 1] if t else "start"
        shown = 2 if not now else done
        sheet.text(x + box_wide / 2, high - 0.36, short(said, letters), NUMBER, SOFT, va="top")
        sheet.arrow((x + box_wide / 2, high - 0.34), (x + box_wide / 2, high - 0.02), color=SOFT)
        if t:
            sheet.arrow((x - step + box_wide, high + TALL / 2), (x, high + TALL / 2))
        sheet.box(
            x, high, box_wide, TALL, f"s{t + 1}" if shown else "…", "query", fill=fill, size=NUMBER, dashed=not shown
        )
        if shown == 2:
            sheet.arrow((x + box_wide / 2, high + TALL), (x + box_wide / 2, high + TALL + 0.26), color=SOFT)
            sheet.text(
                x + box_wide / 2,
                high + TALL + 0.28,
                short(target[t], letters),
                LABEL,
                va="bottom",
                weight="bold" if now else "normal",
            )
    x = start + at * step + 0.06
    if weights is None:
        sheet.line(
            [(last + box_wide, TALL / 2), (last + box_wide + 0.2, TALL / 2), (last + box_wide + 0.2, high + TALL / 2)],
            ROLES["key"],
        )
        sheet.arrow((last + box_wide + 0.2, high + TALL / 2), (start, high + TALL / 2), color=ROLES["key"])
        told = "one state, the last one, carries the whole source"
    else:
        row = weights[at].tolist()
        for n, weight in enumerate(row):
            if weight >= 0.02:
                sheet.line([(n * step + box_wide / 2, TALL), (x, high - 0.02)], ROLES["weights"], 0.6 + 5 * weight)
            sheet.text(
                n * step + box_wide / 2 + 0.07,
                TALL + 0.05,
                number(weight),
                NUMBER,
                ROLES["weights"],
                va="bottom",
                ha="left",
            )
        most = max(range(len(row)), key=row.__getitem__)
        told = f"step {at + 1} looks most at “{short(source[most])}” ({number(row[most])})"
    words = {
        "look": "look: the state before asks, the encoder's states answer", "step": "step: what was seen makes the new state",
        "speak": f"speak: “{short(target[at])}”",
    }  # fmt: skip
    sheet.text(0, -0.85, f"{words[phase]};  {told}", LABEL, ha="left")
    sheet.text(
        0,
        -1.1,
        "below: the encoder reads;  above: the decoder writes, each step fed with what was said before",
        SHAPE,
        SOFT,
        ha="left",
    )
    return sheet.done(
        f"Encoder and decoder over time, reading {' '.join(source)}. {words[phase]}; {told}. Said so far: "
        f"{' '.join(target[: at + (done == 2)]) or 'nothing'}."
    )
