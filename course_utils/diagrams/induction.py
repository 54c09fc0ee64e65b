"""How two heads continue a text that repeats: one writes down what came before, the other finds the place by that note."""

from collections.abc import Sequence

from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from ..arguments import require_shape
from .drawing import Drawing
from .formatting import shortened
from .palette import COLORS, LABEL, NAME, SOFT

MOST = 8  # letters
SIDE, NOTE = 0.42, 0.34  # inches: a letter's box, and the height of the others
NOTES, ASKING, SAID = 1.25, 2.5, 3.7  # lower edges of the rows of boxes, in inches above the letters'
STREAM = "#AEB6BF"


def induction(
    letters: Sequence[str],
    *,
    before: Float[Tensor, "L L"] | None = None,
    copying: Float[Tensor, "L L"] | None = None,
    says: str | None = None,
) -> Axes:
    """The mechanism of induction on a text whose last letter came before: ``induction("q f w a q".split())``.

    From below: the letters; in layer 0 a head looks from each position at the one before it and writes a note into the stream;
    in layer 1 a head looks from the last position for the note with its own letter, and hands over the letter that stands there.
    An arrow leads from who looks to what is looked at; what is handed over takes the way back in the color of values.

    Args:
        letters: 2 to 8 texts, one a position.
        before: Weights of a head of layer 0. Then each arrow leads where that head looks most, with its weight, and a note is
            written only where that is the position before. If None, the head does what it should.
        copying: Weights of a head of layer 1, likewise.
        says: The model's guess; if None, the letter that is handed over.

    Raises:
        ValueError: There are fewer or more letters, the last one did not come before (and no ``copying`` says where to look),
            or the weights have another shape.

    Source:
        Elhage et al., "A Mathematical Framework for Transformer Circuits", 2021 (induction heads by K-composition).
    """
    words = [shortened(str(letter), 4) for letter in letters]
    count = len(words)
    if not 2 <= count <= MOST:
        raise ValueError(f"letters ({count}) must be 2 to {MOST}")
    for name, weights in (("before", before), ("copying", copying)):
        if weights is not None:
            require_shape(name, weights, "L L", L=count)
    before, copying = (weights if weights is None else weights.detach() for weights in (before, copying))
    looked = [max(place - 1, 0) for place in range(count)] if before is None else before.argmax(dim=-1).tolist()
    notes = [f"after {words[key]}" if key == place - 1 else "" for place, key in enumerate(looked)]
    if copying is None:
        earlier = [place for place in range(count - 1) if letters[place] == letters[-1]]
        if not earlier:
            raise ValueError(f"letters must end with one that came before; {str(letters[-1])!r} did not")
        found = earlier[-1] + 1
    else:
        found = int(copying[-1].argmax())
    says = words[found] if says is None else shortened(says, 4)

    draw = Drawing()
    widest = max(draw.width_of(text) for text in (*notes, f"after {words[-1]}?", f"says {says}"))
    step = max(widest + 0.34, 0.86)
    columns = [place * step for place in range(count)]
    _letters(draw, columns, words, [letter == letters[-1] for letter in letters])
    _first_head(draw, columns, looked, notes, before, found)
    _second_head(draw, columns, words[-1], found, copying)
    _output(draw, columns, words[found], found, says)
    _rows(draw, min(-0.5 * step, -0.5))
    return draw.finish(_alt(words, looked, notes, found, says, before, copying))


def _letters(draw: Drawing, columns: Sequence[float], words: Sequence[str], same: Sequence[bool]) -> None:
    for x, word, again in zip(columns, words, same, strict=True):
        width = max(SIDE, draw.width_of(word, NAME) + 0.16)
        draw.line([(x, SIDE), (x, SAID if x == columns[-1] else NOTES + NOTE + 0.14)], STREAM, 2.2, zorder=1)
        draw.box(x - width / 2, 0, width, SIDE, word, "position", size=NAME, fill=0.4 if again else 0.12)


def _first_head(
    draw: Drawing, columns: Sequence[float], looked: Sequence[int], notes: Sequence[str], weights: Tensor | None, found: int
) -> None:  # fmt: skip
    for place, (x, key, note) in enumerate(zip(columns, looked, notes, strict=True)):
        if key != place:
            draw.arrow((x - 0.06, NOTES - 0.01), (columns[key] + 0.1, SIDE + 0.02), color=COLORS["query"])
            if weights is not None:
                middle = x - 0.6 * (columns[1] - columns[0])
                y = NOTES - 0.16 if note else NOTES + 0.08  # an arrow that leads far is flat
                draw.text(middle, y, f"{float(weights[place, key]):.2f}", LABEL, COLORS["weights"])
        if note:
            width = draw.width_of(note) + 0.22
            role = "key" if place == found else "plain"
            draw.box(x - width / 2, NOTES, width, NOTE, note, role, fill=0.3 if place == found else 0.06)


def _second_head(
    draw: Drawing, columns: Sequence[float], word: str, found: int, weights: Tensor | None
) -> None:  # fmt: skip
    asked, x = f"after {word}?", columns[-1]
    width = draw.width_of(asked) + 0.22
    draw.box(x - width / 2, ASKING, width, NOTE, asked, "query", fill=0.3)
    start, end = (x - width / 2 - 0.02, ASKING + 0.1), (columns[found] + 0.12, NOTES + NOTE + 0.03)
    if found == len(columns) - 1:
        start, end = (x, ASKING), (x, NOTES + NOTE)
    draw.arrow(start, end, color=COLORS["query"], width=2.2)
    if weights is not None:
        value = f"{float(weights[-1, found]):.2f}"
        draw.text(x - width / 2 - 0.1, ASKING + 0.28, value, LABEL, COLORS["weights"], ha="right")


def _output(draw: Drawing, columns: Sequence[float], word: str, found: int, says: str) -> None:
    x, y = columns[-1], SAID + NOTE / 2
    text = f"says {says}"
    width = draw.width_of(text) + 0.26
    draw.box(x - width / 2, SAID, width, NOTE, text, "output", fill=0.3)
    draw.text(x + 0.1, SAID - 0.3, "stream", LABEL, SOFT, ha="left")
    left = columns[found]
    if left == x:
        draw.arrow((x, ASKING + NOTE), (x, SAID), color=COLORS["value"], width=2.2)
    else:
        draw.line([(left, NOTES + NOTE), (left, y)], COLORS["value"], 2.2)
        draw.arrow((left - 0.012, y), (x - width / 2 - 0.02, y), color=COLORS["value"], width=2.2)
    draw.text(left - 0.1, SAID - 0.3, f"hands over {word}", LABEL, COLORS["value"], ha="right")


def _rows(draw: Drawing, x: float) -> None:
    rows = (
        (SIDE / 2, "letters", "", "position"),
        (NOTES + NOTE / 2, "layer 0", "previous-token head", "plain"),
        (ASKING + NOTE / 2, "layer 1", "induction head", "plain"),
        (SAID + NOTE / 2, "output", "", "output"),
    )
    for y, name, about, role in rows:
        draw.text(x, y + 0.1 * bool(about), name, LABEL, COLORS[role], ha="right", weight="bold")
        draw.text(x, y - 0.1, about, LABEL, SOFT, ha="right")


def _alt(
    words: Sequence[str], looked: Sequence[int], notes: Sequence[str], found: int, says: str, before: Tensor | None,
    copying: Tensor | None,
) -> str:  # fmt: skip
    def weight(weights: Tensor | None, query: int, key: int) -> str:
        return "" if weights is None else f" (weight {float(weights[query, key]):.2f})"

    looks = ", ".join(
        f"{words[place]} at {words[key]}{weight(before, place, key)}"
        for place, key in enumerate(looked)
        if key != place
    )
    note = f"whose note says “{notes[found]}”" if notes[found] else "which has no note"
    return (
        f"Letters {' '.join(words)}. In layer 0 the previous-token head looks from each position at one before it: {looks}; "
        f"where that is the one just before, it writes a note into the stream. In layer 1 the induction head looks from the last "
        f"position, {words[-1]}, for “after {words[-1]}”, and most at {words[found]} at position {found}, {note}"
        f"{weight(copying, len(words) - 1, found)}. It hands over {words[found]}; the model says {says}."
    )
