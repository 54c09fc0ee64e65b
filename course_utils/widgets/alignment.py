"""The widget of lesson 03: type a word, see how it is pronounced and which letters each sound looked at."""

from collections.abc import Sequence

import ipywidgets
from matplotlib.figure import Figure

from course_utils import plotting
from course_utils.datasets.pronunciations import pronunciations, split_of
from course_utils.models.recurrent import RecurrentSeq2Seq
from course_utils.pretrained.pronunciation import Alignment, align, require_word

from .live_figure import WIDE, LiveFigure


def alignment_viewer(model: RecurrentSeq2Seq, word: str = "knights") -> LiveFigure:
    """The alignment of any word that is typed in, and what the dictionary says of it. For lesson 03.

    ``model`` is a trained one with attention; ``word`` is shown first.
    """
    align(model, word)

    def draw(figure: Figure, word: str) -> None:
        word = require_word(word)
        alignment = align(model, word)
        lines = describe_word(word, alignment.sounds, alignment.probability)
        draw_alignment(figure, word, alignment, lines, width=0.6)

    return LiveFigure("type a word, see its alignment", draw, {"word": word_control(word)}, (9.6, 3.9))


def word_control(word: str) -> ipywidgets.Text:
    """A field for a word, read when Enter is pressed."""
    return ipywidgets.Text(word, description="word, then Enter", continuous_update=False, **WIDE)


def draw_alignment(
    figure: Figure, word: str, alignment: Alignment, lines: Sequence[str], *, width: float = 0.54
) -> None:
    """An alignment as a heatmap on the left of a figure, lines of text on its right.

    ``width`` is that of heatmap and color bar, as a share of the figure.
    """
    sounds = alignment.sounds
    ax = figure.add_axes((0.09, 0.16, width, 0.74))
    plotting.attention_heatmap(alignment.weights, sounds, list(word), ax=ax)
    ax.set(xlabel="letter", ylabel="sound")
    ax.tick_params(labelsize=9 if max(len(word), len(sounds)) <= 16 else 6)
    figure.text(width + 0.12, 0.55, "\n".join(lines), va="center", fontsize=9)


def describe_word(word: str, sounds: list[str], probability: float) -> list[str]:
    """What the model says and what the dictionary says, as lines of text."""
    phonemes = tuple(sound for sound in sounds if sound != "<end>")
    lines = ["model says", *_wrapped(phonemes), f"probability {probability:.2g}", ""]
    accepted = pronunciations().get(word)
    if accepted is None:
        return [*lines, "not in the dictionary"]
    where = "seen in training" if split_of(word) == "train" else f"held out ({split_of(word)})"
    listed = [line for sounds in accepted for line in _wrapped(sounds)]
    return [*lines, f"dictionary, {where}", *listed, "", "right" if phonemes in accepted else "wrong"]


def _wrapped(sounds: tuple[str, ...], per_line: int = 8) -> list[str]:
    return [f"  {' '.join(sounds[i : i + per_line])}" for i in range(0, len(sounds), per_line)]
