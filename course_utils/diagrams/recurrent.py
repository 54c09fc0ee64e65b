"""An encoder and a decoder over time: look, step, speak."""

from collections.abc import Sequence

from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from .drawing import Drawing
from .formatting import checked_labels, number, shortened
from .palette import COLORS, LABEL, NUMBER, SHAPE, SOFT

TALL, HIGH, MIDDLE, MAX_WIDTH = 0.36, 2.5, 1.45, 8.2  # inches: a box, the decoder, the context, all boxes side by side
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
        target: What is written, at most 8 symbols.
        weights: How much each step looks at each state of the encoder; None: without attention, the summary is handed on.
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
    source, target, draw = (
        checked_labels(source, len(source), "source"),
        checked_labels(target, len(target), "target"),
        Drawing(),
    )
    done, across = PHASES.index(phase), len(source) + (len(target) + 1 if weights is None else 0)
    step = min(0.95, MAX_WIDTH / across)
    wide, letters = 0.76 * step, max(1, int(step / 0.125))
    last = (len(source) - 1) * step + wide  # where the encoder ends
    for n, word in enumerate(source):
        x = n * step
        draw.text(x + wide / 2, -0.34, shortened(word, letters), LABEL, va="top")
        draw.arrow((x + wide / 2, -0.3), (x + wide / 2, -0.02))
        draw.box(x, 0, wide, TALL, f"h{n + 1}", "key", size=NUMBER)
        if n:
            draw.arrow((x - step + wide, 0.65 * TALL), (x, 0.65 * TALL))
            draw.arrow((x, 0.3 * TALL), (x - step + wide, 0.3 * TALL))
    start = last + 0.75 if weights is None else 0.0
    if weights is not None:
        draw.box(start - step, HIGH, wide, TALL, "s0", "query", fill=0.45 if not at and not done else 0.1, size=NUMBER)
    for t in range(at + 1):
        now, x = t == at, start + t * step
        shown = done if now else 2
        if now or weights is None:
            fed = x + wide * (0.5 if weights is None else 0.75)
            draw.text(fed, HIGH - 0.36, shortened(target[t - 1] if t else "start", letters), NUMBER, SOFT, va="top")
            draw.arrow((fed, HIGH - 0.34), (fed, HIGH - 0.02))
        if t or weights is not None:
            draw.arrow((x - step + wide, HIGH + TALL / 2), (x, HIGH + TALL / 2))
        fill = 0.45 if now and (weights is None or done) or not done and t == at - 1 else 0.1
        draw.box(x, HIGH, wide, TALL, f"s{t + 1}" if shown else "…", "query", fill=fill, size=NUMBER, dashed=not shown)
        if shown == 2:
            draw.arrow((x + wide / 2, HIGH + TALL), (x + wide / 2, HIGH + TALL + 0.26))
            weight = "bold" if now else "normal"
            above = HIGH + TALL + 0.28
            draw.text(x + wide / 2, above, shortened(target[t], letters), LABEL, va="bottom", weight=weight)
    if weights is None:
        right = last + 0.3
        draw.line([(last, TALL / 2), (right, TALL / 2), (right, HIGH + TALL / 2)], COLORS["key"])
        draw.line([(0, TALL / 2), (-0.15, TALL / 2), (-0.15, -0.62), (right, -0.62), (right, TALL / 2)], COLORS["key"])
        draw.arrow((right, HIGH + TALL / 2), (start, HIGH + TALL / 2), color=COLORS["key"])
        remark = "one vector, the last state of each direction, carries the whole source"
    else:
        remark = _context(draw, weights[at].tolist(), source, at, step, wide, asks=not done)
    words = {
        "look": "look: the state before asks, the encoder's states answer", "step": "step: what was seen makes the new state",
        "speak": f"speak: “{shortened(target[at])}”",
    }  # fmt: skip
    draw.text(0, -0.9, f"{words[phase]};  {remark}", LABEL, ha="left")
    draw.text(
        0,
        -1.15,
        "below: the encoder reads;  above: the decoder writes, each step fed with what was said before",
        SHAPE,
        SOFT,
        ha="left",
    )
    return draw.finish(
        f"Encoder and decoder over time, reading {' '.join(source)}. {words[phase]}; {remark}. Said so far: "
        f"{' '.join(target[: at + (done == 2)]) or 'nothing'}."
    )


def _context(
    draw: Drawing, row: list[float], source: list[str], at: int, step: float, wide: float, *, asks: bool
) -> str:
    """The context of one step between the encoder's states and the decoder's; who looked where, in words."""
    x = at * step
    for n, weight in enumerate(row):
        if weight >= 0.02:
            draw.line([(n * step + wide / 2, TALL), (x + 0.3 * wide, MIDDLE)], COLORS["weights"], 0.6 + 5 * weight)
        if weight >= 0.005:
            place = (n * step + wide / 2 + 0.07, TALL + 0.05)
            draw.text(*place, f"{weight:.2f}", NUMBER, COLORS["weights"], va="bottom", ha="left")
    draw.box(x, MIDDLE, 0.6 * wide, 0.8 * TALL, f"c{at + 1}", "output", size=NUMBER)
    before = x - step + wide / 2
    draw.arrow((before, HIGH), (x, MIDDLE + 0.5 * TALL), color=COLORS["query"], style="-" if asks else ":")
    if not asks:
        draw.arrow((x + 0.3 * wide, MIDDLE + 0.8 * TALL), (x + 0.3 * wide, HIGH), color=COLORS["output"])
    most = max(range(len(row)), key=row.__getitem__)
    return f"step {at + 1} looks most at “{shortened(source[most])}” ({number(row[most])})"
