"""What a leak from the future looks like: losses that are too good, and outputs of the past that move."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from torch import Tensor

from ..plotting import COLORS, new_axes

GUESSERS = (":", "--", "-.")


def training_losses(
    steps: Sequence[int], losses: Mapping[str, Sequence[Sequence[float]]], landmarks: Mapping[str, float], unit: str
) -> Axes:
    """A thin line for each run, a color for each kind of run, and what guessers would lose as lines across.

    Args:
        steps: Training step of each loss.
        losses: Kind -> its runs, each a loss for each step.
        landmarks: Guesser -> its loss, written at its line.
        unit: What the losses are measured in.
    """
    ax = new_axes(7.6, 3.8)
    for color, (name, runs) in zip(COLORS, losses.items(), strict=False):
        for place, run in enumerate(runs):
            ax.plot(steps, run, color=color, lw=1.1, label=name if place == 0 else None)
    for style, (name, loss) in zip(GUESSERS, landmarks.items(), strict=False):
        ax.axhline(loss, color="0.45", ls=style, lw=1.2)
        ax.text(steps[-1], loss + 0.04, f"{name}: {loss:.2f}", color="0.3", ha="right", va="bottom", fontsize=9)
    ax.set(xlabel="training step", ylabel=f"training loss, {unit}", ylim=(0, None), xlim=(0, steps[-1]))
    ax.legend(frameon=False, loc="center right")
    return ax


def moved_outputs(moves: Mapping[str, Tensor]) -> Axes:
    """For each suspect a bar at every position: how far that output moved; the number stands on the bar, a 0 too."""
    ax = new_axes(7.0, 3.2)
    width = 0.84 / len(moves)
    for place, (name, change) in enumerate(moves.items()):
        where = [i + width * (place - (len(moves) - 1) / 2) for i in range(len(change))]
        bars = ax.bar(where, change.tolist(), 0.92 * width, color=COLORS[place], label=name)
        ax.bar_label(bars, [f"{value:.2f}".removesuffix(".00") for value in change.tolist()], fontsize=9, padding=1)
    ax.set(xlabel="position of the output, all in the past", ylabel="largest change", xticks=range(len(change)))
    ax.margins(y=0.12)
    ax.legend(frameon=False)
    return ax
