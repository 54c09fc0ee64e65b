"""The widget of lesson 11: type any word, see what beam search finds and which letters each sound looked at."""

import ipywidgets
from matplotlib.figure import Figure
from torch import nn

from course_utils.datasets.pronunciations import pronunciations
from course_utils.decoding import Beams, beam_search
from course_utils.pretrained.pronunciation import MAX_PHONEMES, SOUNDS, SPELLING, align, require_word

from .alignment import draw_alignment, word_control
from .live_figure import WIDE, LiveFigure


def pronouncer(model: nn.Module, word: str = "phoenix") -> LiveFigure:
    """The sounds of any word that is typed in, the beams with their probabilities, and the alignment. For lesson 11.

    ``model`` is a trained one with attention, letters in, phonemes out; ``word`` is shown first.
    """
    align(model, word)

    def draw(figure: Figure, word: str, beams: int, shown: int) -> None:
        word = require_word(word)
        results = beam_search(model, SPELLING.batch([word]), max_len=MAX_PHONEMES, beam_size=beams)
        place = min(shown, beams) - 1
        chosen = align(model, word, decode=lambda *_, **__: Beams(*(part[:, place:] for part in results)).best())
        draw_alignment(figure, word, chosen, describe_beams(word, results, place))

    controls = {
        "word": word_control(word),
        "beams": ipywidgets.IntSlider(5, min=1, max=8, description="beams", continuous_update=False, **WIDE),
        "shown": ipywidgets.IntSlider(1, min=1, max=8, description="draw number", continuous_update=False, **WIDE),
    }
    return LiveFigure("type a word, see its beams and its alignment", draw, controls, (10.4, 4.4))


def describe_beams(word: str, beams: Beams, shown: int) -> list[str]:
    """One line for each sequence found, best first, with its probability; then what the dictionary says.

    ``shown`` is the number of the one that is drawn, counted from 0.
    """
    accepted = pronunciations().get(word, ())
    lines = ["sequences found, best score first"]
    for place, (tokens, probability) in enumerate(zip(beams.tokens[0], beams.log_probs[0].exp().tolist(), strict=True)):
        sounds = tuple(SOUNDS.decode(tokens))
        if beams.scores[0, place].isfinite():
            marks = "  (dictionary)" * (sounds in accepted) + "  < drawn" * (place == shown)
            lines.append(f"{100 * probability:.1f} %  {_short(sounds)}{marks}")
    listed = [_short(sounds) for sounds in accepted]
    return [*lines, "", "the dictionary has" if listed else "not in the dictionary", *listed]


def _short(sounds: tuple[str, ...], most: int = 12) -> str:
    return " ".join(sounds if len(sounds) <= most else (*sounds[: most - 1], "..."))
