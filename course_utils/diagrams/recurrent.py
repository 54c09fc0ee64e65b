"""An encoder and a decoder over time: through a summary, and with attention, look, step, speak."""

from collections.abc import Sequence

from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from ..arguments import require_one_of
from .drawing import Drawing
from .formatting import checked_labels, number, shortened
from .palette import COLORS, LABEL, NAME, NUMBER, SHAPE, SOFT

TALL, HIGH, MIDDLE, MAX_WIDTH = 0.36, 2.5, 1.45, 8.2  # inches: a box, the decoder, the context, all boxes side by side
PANEL, BETWEEN = 2.7, 0.35  # inches: one of three panels, the space between two
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
    source, target = _checked(source, target, weights, at, phase)
    draw = Drawing()
    step = min(0.95, MAX_WIDTH / (max(len(source), len(target)) + 1))
    _encoder(draw, source, 0.0, step)
    if weights is None:
        remark = _through_a_summary(draw, len(source), target[: at + 1], step)
    else:
        remark = _with_attention(draw, source, target, weights[at].tolist(), at, phase, 0.0, step)
    words = {
        "look": "look: the state before asks, the encoder's states answer", "step": "step: what was seen makes the new state",
        "speak": f"speak: “{shortened(target[at])}”",
    }  # fmt: skip
    told = remark if weights is None else f"{words[phase]};  {remark}"
    draw.text(-step, -0.9, told, LABEL, ha="left")
    draw.text(-step, -1.15, "below: the encoder reads;  above: the decoder writes", SHAPE, SOFT, ha="left")
    said = " ".join(target[: at + (phase == "speak")]) or "nothing"
    return draw.finish(f"Encoder and decoder over time, reading {' '.join(source)}. {told}. Said so far: {said}.")


def look_step_speak(
    source: Sequence[str], target: Sequence[str], weights: Float[Tensor, "L_t L_s"], *, at: int = 0
) -> Axes:
    """One step of a decoder with attention as three panels side by side: look, step, speak. Arguments as in ``unrolled``."""
    source, target = _checked(source, target, weights, at, "look")
    draw, step = Drawing(), PANEL / max(len(source) + 1, at + 2.5)
    old, new, given = f"s{at}", f"s{at + 1}", shortened(target[at - 1]) if at else "start"
    captions = (
        f"{old} asks: the weights,\nthe context c{at + 1}",
        f"c{at + 1}, “{given}” and {old}\nmake {new}",
        f"{new}, c{at + 1} and “{given}”\nmake “{shortened(target[at])}”",
    )
    for n, (phase, caption) in enumerate(zip(PHASES, captions, strict=True)):
        left = n * (PANEL + BETWEEN)
        _encoder(draw, source, left, step)
        remark = _with_attention(draw, source, target, weights[at].tolist(), at, phase, left, step)
        draw.text(left - step, HIGH + 1.15, f"{n + 1}  {phase}", NAME, ha="left")
        draw.text(left - step, -0.85, caption, LABEL, ha="left")
    told = "; ".join(caption.replace("\n", " ") for caption in captions)
    return draw.finish(f"One step of the decoder in three panels, reading {' '.join(source)}: {told}. {remark}.")


def _checked(source, target, weights, at: int, phase: str) -> tuple[list[str], list[str]]:
    if not 1 <= len(source) <= 10 or not 1 <= len(target) <= 8:
        raise ValueError(f"source ({len(source)}) must be 1 to 10 symbols and target ({len(target)}) 1 to 8")
    if not 0 <= at < len(target):
        raise ValueError(f"at ({at}) must be a step of the target, 0 to {len(target) - 1}")
    require_one_of("phase", phase, PHASES)
    if weights is not None and tuple(weights.shape) != (len(target), len(source)):
        raise ValueError(
            f"weights has shape {tuple(weights.shape)}; expected (L_t, L_s) = {(len(target), len(source))}"
        )
    return checked_labels(source, len(source), "source"), checked_labels(target, len(target), "target")


def _letters(step: float) -> int:
    """How many letters fit into a column."""
    return max(2, int(step / 0.125))


def _encoder(draw: Drawing, source: list[str], left: float, step: float) -> None:
    """The encoder's states with what each of them reads."""
    wide = 0.76 * step
    for n, word in enumerate(source):
        x = left + n * step
        draw.text(x + wide / 2, -0.34, shortened(word, _letters(step)), LABEL, va="top")
        draw.arrow((x + wide / 2, -0.3), (x + wide / 2, -0.02))
        draw.box(x, 0, wide, TALL, f"h{n + 1}", "key", size=NUMBER)
        if n:
            width = 1.6 if step > 0.5 else 1.0
            draw.arrow((x - step + wide, 0.65 * TALL), (x, 0.65 * TALL), width=width)
            draw.arrow((x, 0.3 * TALL), (x - step + wide, 0.3 * TALL), width=width)


def _through_a_summary(draw: Drawing, letters: int, target: list[str], step: float) -> str:
    """The decoder without attention: the summary makes its first state and is read again at every step."""
    wide, key = 0.76 * step, COLORS["key"]
    middle, below, bus = ((letters - 1) * step + wide) / 2, 1.0, HIGH - 0.72
    for x in (wide / 2, (letters - 1) * step + wide / 2):  # the last backward state, the last forward state
        draw.line([(x, TALL), (x, below + TALL / 2), (middle, below + TALL / 2)], key)
    draw.box(middle - 0.6, below, 1.2, TALL, "summary", "key", fill=0.45, size=NUMBER)
    last = (len(target) - 1) * step + 0.3 * wide
    draw.line([(middle, below + TALL), (middle, bus)], key)
    draw.line([(min(-step + wide / 2, middle), bus), (max(last, middle), bus)], key)
    draw.arrow((-step + wide / 2, bus), (-step + wide / 2, HIGH - 0.02), color=key)
    draw.box(-step, HIGH, wide, TALL, "s0", "query", size=NUMBER)
    for t, word in enumerate(target):
        x = t * step
        draw.arrow((x - step + wide, HIGH + TALL / 2), (x, HIGH + TALL / 2))
        draw.arrow((x + 0.3 * wide, bus), (x + 0.3 * wide, HIGH - 0.02), color=key)
        given = shortened(target[t - 1] if t else "start", _letters(step))
        draw.text(x + 0.8 * wide, HIGH - 0.36, given, NUMBER, SOFT, va="top")
        draw.arrow((x + 0.8 * wide, HIGH - 0.34), (x + 0.8 * wide, HIGH - 0.02))
        draw.box(x, HIGH, wide, TALL, f"s{t + 1}", "query", size=NUMBER)
        draw.arrow((x + wide / 2, HIGH + TALL), (x + wide / 2, HIGH + TALL + 0.26))
        draw.text(x + wide / 2, HIGH + TALL + 0.28, shortened(word, _letters(step)), LABEL, va="bottom")
    return "one vector, the last state of each direction, carries the whole source to s0 and to every step"


def _with_attention(
    draw: Drawing, source: list[str], target: list[str], row: list[float], at: int, phase: str, left: float, step: float
) -> str:
    """The decoder up to one moment of step ``at``, above the encoder at ``left``; who looked where, in words."""
    done, wide, letters = PHASES.index(phase), 0.76 * step, _letters(step)
    draw.box(left - step, HIGH, wide, TALL, "s0", "query", fill=0.45 if not at and not done else 0.1, size=NUMBER)
    for t in range(at + 1):
        now, x = t == at, left + t * step
        shown = done if now else 2
        draw.arrow((x - step + wide, HIGH + TALL / 2), (x, HIGH + TALL / 2))
        fill = 0.45 if now and done or not done and t == at - 1 else 0.1
        draw.box(x, HIGH, wide, TALL, f"s{t + 1}" if shown else "…", "query", fill=fill, size=NUMBER, dashed=not shown)
        if shown == 2:
            draw.arrow((x + wide / 2, HIGH + TALL), (x + wide / 2, HIGH + TALL + 0.26))
            weight = "bold" if now else "normal"
            said = shortened(target[t], letters)
            draw.text(x + wide / 2, HIGH + TALL + 0.28, said, LABEL, va="bottom", weight=weight)
    x, fed = left + at * step, left + at * step + 0.85 * wide
    draw.text(fed, HIGH - 0.36, shortened(target[at - 1] if at else "start", 5), NUMBER, SOFT, va="top")
    draw.arrow((fed, HIGH - 0.34), (fed, HIGH - 0.02))
    order = sorted(range(len(row)), key=row.__getitem__, reverse=True)
    written = sorted(order) if step > 0.5 else sorted(order[:2])  # in narrow columns there is room for two numbers
    for n, weight in enumerate(row):
        foot = left + n * step + wide / 2
        if weight >= 0.02:
            draw.line([(foot, TALL), (x + 0.3 * wide, MIDDLE)], COLORS["weights"], 0.6 + 5 * weight)
        if weight >= 0.02 and n in written:
            before = n != written[-1] if step <= 0.5 else n < order[0]  # left of its foot, away from the thick line
            place, side = (foot - 0.05, "right") if before else (foot + 0.07, "left")
            draw.text(place, TALL + 0.05, f"{weight:.2f}", NUMBER, COLORS["weights"], va="bottom", ha=side)
    draw.box(x - 0.1 * wide, MIDDLE, max(0.34, 0.6 * wide), 0.8 * TALL, f"c{at + 1}", "output", size=NUMBER)
    style = ":" if done else "-"
    draw.arrow((x - step + wide / 2, HIGH), (x - 0.1 * wide, MIDDLE + 0.5 * TALL), color=COLORS["query"], style=style)
    if done:
        draw.arrow((x + 0.3 * wide, MIDDLE + 0.8 * TALL), (x + 0.3 * wide, HIGH), color=COLORS["output"])
    if done == 2:  # the context and the symbol before go to the output too, past the new state
        top = HIGH + TALL + 0.4
        side = x - 0.16 * step
        draw.line([(x + 0.3 * wide, HIGH - 0.18), (side, HIGH - 0.18), (side, top)], COLORS["output"], 1.2)
        draw.arrow((side, top), (x + 0.08 * wide, top), color=COLORS["output"], width=1.2)
        side = x + wide + 0.16 * step
        draw.line([(fed, HIGH - 0.18), (side, HIGH - 0.18), (side, top)], SOFT, 1.2)
        draw.arrow((side, top), (x + 0.92 * wide, top), width=1.2)
    return f"step {at + 1} looks most at “{shortened(source[order[0]])}” ({number(row[order[0]])})"
