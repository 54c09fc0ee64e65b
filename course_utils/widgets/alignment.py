"""The widget of lesson 03: type a word, see how it is pronounced and which letters each sound looked at."""

import ipywidgets
import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from course_utils import plotting
from course_utils.datasets.pronunciations import pronunciations, split_of
from course_utils.decoding import greedy_decode
from course_utils.pronounce import MAX_PHONEMES, SOUNDS, SPELLING, require_word
from course_utils.recurrent import RecurrentSeq2Seq
from course_utils.tokenizers import START_ID

from .live_figure import LiveFigure


def alignment_viewer(model: RecurrentSeq2Seq, word: str = "knights") -> LiveFigure:
    """The alignment of any word that is typed in, and what the dictionary says of it. For lesson 03.

    Args:
        model: A trained one with attention.
        word: Shown first.

    Raises:
        ValueError: The model has no attention, or ``word`` is not a word of the letters a to z.
    """
    align(model, word)

    def draw(figure: Figure, word: str) -> None:
        word = require_word(word)
        sounds, weights, probability = align(model, word)
        ax = figure.add_axes((0.09, 0.16, 0.6, 0.74))
        plotting.attention_heatmap(weights, sounds, list(word), ax=ax)
        ax.set(xlabel="letter", ylabel="sound")
        ax.tick_params(labelsize=9 if max(len(word), len(sounds)) <= 16 else 6)
        figure.text(0.72, 0.55, "\n".join(describe_word(word, sounds, probability)), va="center", fontsize=9)

    control = ipywidgets.Text(
        word,
        description="word, then Enter",
        continuous_update=False,
        style={"description_width": "11em"},
        layout={"width": "32em"},
    )
    return LiveFigure("type a word, see its alignment", draw, {"word": control}, (9.6, 3.9))


@torch.no_grad()
def align(model: RecurrentSeq2Seq, word: str) -> tuple[list[str], Float[Tensor, "L_t L_s"], float]:
    """The sounds of a word, the letters they looked at, and how probable the model holds the whole.

    Args:
        model: One with attention.
        word: Letters a to z; capitals are read as small letters.

    Returns:
        The sounds, ``"<end>"`` included where the model came to an end; weights, one row a sound, one column a letter; the
        probability.

    Raises:
        ValueError: The model has no attention, or ``word`` is not a word of the letters a to z.
    """
    model.eval()
    source = SPELLING.batch([require_word(word)])  # (1, L_s)
    tokens, log_probs = greedy_decode(model, source, max_len=MAX_PHONEMES)  # (1, L_t), (1,)
    previous = torch.cat((torch.full((1, 1), START_ID), tokens[:, :-1]), dim=1)  # (1, L_t): what each step was given
    _, weights = model(source, previous, return_weights=True)  # (1, L_t, L_s)
    return [SOUNDS.symbols[i] for i in tokens[0].tolist()], weights[0], log_probs.exp().item()


def describe_word(word: str, sounds: list[str], probability: float) -> list[str]:
    """What the model says and what the dictionary says, as lines of text."""
    said = tuple(sound for sound in sounds if sound != "<end>")
    lines = ["model says", *_wrapped(said), f"probability {probability:.2g}", ""]
    accepted = pronunciations().get(word)
    if accepted is None:
        return [*lines, "not in the dictionary"]
    where = "seen in training" if split_of(word) == "train" else f"held out ({split_of(word)})"
    listed = [line for sounds in accepted for line in _wrapped(sounds)]
    return [*lines, f"dictionary, {where}", *listed, "", "right" if said in accepted else "wrong"]


def _wrapped(sounds: tuple[str, ...], per_line: int = 8) -> list[str]:
    return [f"  {' '.join(sounds[i : i + per_line])}" for i in range(0, len(sounds), per_line)]
