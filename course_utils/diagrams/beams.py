"""Which beams lived and which died."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from matplotlib.axes import Axes

from .drawing import Drawing
from .formatting import shortened
from .palette import COLORS, LABEL, NUMBER, SHAPE, SOFT

STEP, ROW, BOX = 1.75, 0.4, 1.0


@dataclass(frozen=True)
class Beam:
    """One hypothesis that a step of a beam search looked at.

    Args:
        tokens: What it says, from the first token.
        log_prob: The sum of the log-probabilities of its tokens.
        kept: Whether it was carried on (or is finished).
        ended: Whether its last token ends it.
        growing: Whether it would have been carried on, if the search had not stopped.
    """

    tokens: tuple[str, ...]
    log_prob: float
    kept: bool
    ended: bool = False
    growing: bool = False


def looked_at(
    log_probs: Callable[[tuple[str, ...]], dict[str, float]],
    beam_size: int,
    *,
    end: str = "end",
    max_len: int = 8,
    hasty: bool = False,
) -> list[list[Beam]]:
    """What a beam search looks at, step by step, for ``beam_tree``.

    As in ``course_utils.decoding.beam_search`` without a division by the length: what ends among the best ``beam_size`` is
    set aside, the best that do not end go on, and the search stops when ``beam_size`` sequences have ended and none that
    goes on is as probable as the best of them.

    Args:
        log_probs: From the tokens so far to the log-probability of each next token.
        beam_size: How many are carried on.
        end: The token that ends a sequence.
        max_len: Most steps.
        hasty: Stop as soon as ``beam_size`` sequences have ended, whatever still grows: what goes wrong then.
    """
    steps, alive, ended = [], [Beam((), 0.0, True)], []
    stopped = False
    while alive and not stopped and len(steps) < max_len:
        grown = [
            Beam((*beam.tokens, token), beam.log_prob + more, False, token == end)
            for beam in alive
            for token, more in log_probs(beam.tokens).items()
            if more > -math.inf
        ]
        grown.sort(key=lambda beam: -beam.log_prob)
        done = [beam for beam in grown[:beam_size] if beam.ended]
        alive = [beam for beam in grown if not beam.ended][:beam_size]
        ended += [beam.log_prob for beam in done]
        stopped = len(ended) >= beam_size and (hasty or not alive or alive[0].log_prob <= max(ended))
        kept = {beam.tokens for beam in (done if stopped else done + alive)}
        growing = {beam.tokens for beam in (alive if stopped else ())}
        steps.append([replace(beam, kept=beam.tokens in kept, growing=beam.tokens in growing) for beam in grown])
    return steps


def beam_tree(steps: Sequence[Sequence[Beam]], *, most: int = 5) -> Axes:
    """A beam search from left to right: a column a step, the most probable on top, a line from each to what it came from.

    Args:
        steps: For each step the hypotheses that it looked at.
        most: How many of each step are drawn, besides all that were kept or still grew; how many are left out stands below.
    """
    if not steps or not any(steps):
        raise ValueError("steps is empty: give the hypotheses of at least one step")
    draw, best, growing = Drawing(), None, []
    draw.box(-0.35, -ROW / 2, 0.7, ROW, "start", "plain", size=NUMBER)
    before = {(): (0.35, 0.0)}
    for place, beams in enumerate(steps):
        ranked = sorted(beams, key=lambda beam: -beam.log_prob)
        shown = [beam for n, beam in enumerate(ranked) if n < most or beam.kept or beam.growing]
        x = 0.35 + (place + 1) * STEP - BOX
        top, after = (len(shown) - 1) * (ROW + 0.14) / 2, {}
        draw.text(x + BOX / 2, top + ROW / 2 + 0.1, f"step {place + 1}", SHAPE, SOFT, va="bottom")
        for n, beam in enumerate(shown):
            y = top - n * (ROW + 0.14)
            lives = beam.kept or beam.growing
            role = "output" if beam.ended and beam.kept else "weights" if lives else "mask"
            label = f"{shortened(beam.tokens[-1], 7)}  {_probability(beam.log_prob)}"
            draw.box(
                x,
                y - ROW / 2,
                BOX,
                ROW,
                label,
                role,
                fill=0.22 if beam.kept else 0.0,
                size=NUMBER,
                dashed=not lives,
            )
            if (start := before.get(beam.tokens[:-1])) is not None:
                color = COLORS["weights"] if lives else COLORS["mask"]
                draw.line([start, (x, y)], color, 1.8 if beam.kept else 0.9, "-" if lives else ":")
            after[beam.tokens] = (x + BOX, y)
            growing += [f"{' '.join(beam.tokens)} p = {_probability(beam.log_prob)}"] if beam.growing else []
            if beam.ended and beam.kept and (best is None or beam.log_prob > best.log_prob):
                best = beam
        if hidden := len(ranked) - len(shown):
            draw.text(x + BOX / 2, -top - ROW / 2 - 0.08, f"and {hidden} more, dropped", SHAPE, SOFT, va="top")
        before = after
    text = (
        f"best that ended: {' '.join(best.tokens)}   p = {_probability(best.log_prob)}"
        if best
        else "none has ended yet"
    )
    low = min(y for _, y in before.values()) if before else 0.0
    deepest = min(low, *(-(min(len(b), most) - 1) * (ROW + 0.14) / 2 for b in steps))
    draw.text(-0.35, deepest - ROW - 0.3, text, LABEL, ha="left")
    legend = ["filled: carried on, or (brown) ended; dashed: dropped"]
    legend += ["white with a solid frame: still growing when the search stopped"] if growing else []
    for n, line in enumerate(legend):
        draw.text(-0.35, deepest - ROW - 0.55 - 0.22 * n, line, SHAPE, SOFT, ha="left")
    kept = [sum(beam.kept for beam in beams) for beams in steps]
    text += f". Still growing when the search stopped: {', '.join(growing)}" if growing else ""
    return draw.finish(
        f"Beam search over {len(steps)} steps; carried on or ended in each: {', '.join(map(str, kept))}. {text}."
    )


def _probability(log_prob: float) -> str:
    value = math.exp(log_prob)
    return f"{value:.3g}" if value >= 0.005 else f"{value:.0e}".replace("e-0", "e−")
