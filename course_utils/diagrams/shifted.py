"""What a model is asked at each position, and whether its mask gives the answer away."""

from collections.abc import Mapping, Sequence

from jaxtyping import Bool
from matplotlib.axes import Axes
from torch import Tensor

from .drawing import Drawing
from .formatting import checked_labels, shortened
from .palette import COLORS, LABEL, NAME, NUMBER, PAGE, SOFT, WARNING

SQUARE, GAP, MOST = 0.3, 0.6, 10


def shifted_targets(tokens: Sequence[str], masks: Mapping[str, Bool[Tensor, "L L"]], row: int) -> Axes:
    """A sentence, the same sentence shifted by one, and each mask between them; red where a row may see its own answer.

    Args:
        tokens: 2 to 11 of them: all but the last are read, all but the first are asked for.
        masks: Name -> mask, ``(L, L)`` with one row and one column for each token that is read.
        row: The position that is framed and written out.
    """
    length = len(tokens) - 1
    if not 1 <= length <= MOST:
        raise ValueError(f"tokens ({len(tokens)}) must be 2 to {MOST + 1}")
    if not masks or not 0 <= row < length:
        raise ValueError(
            f"row ({row}) must be one of the {length} that are read, and masks ({len(masks)}) at least one"
        )
    words = [shortened(word, 8) for word in checked_labels(tokens, length + 1, "tokens")]
    draw, sentences = Drawing(), []
    beside = max(max(map(draw.width_of, words)), draw.width_of("reads"))
    wide = max(2 * beside + 0.55 + length * SQUARE, 3.6) + GAP
    across = max(1, int((PAGE + GAP) // wide))
    tall = (length + 1) * SQUARE + 2.6
    for place, (name, mask) in enumerate(masks.items()):
        if tuple(mask.shape) != (length, length):
            raise ValueError(f"masks[{name!r}] has shape {tuple(mask.shape)}; expected ({length}, {length})")
        x, y = (place % across) * wide + beside, -(place // across) * tall
        sentences.append(f"{name}: {_panel(draw, x, y, name, mask, words, row)}")
    bottom = -((len(masks) - 1) // across) * tall - length * SQUARE - 1.5
    _key(draw, 0.0, bottom)
    read, asked = ", ".join(words[:-1]), ", ".join(words[1:])
    return draw.finish(f"Inputs {read}, a row and a column each; the rows are asked for {asked}; {' '.join(sentences)}")


def _panel(draw: Drawing, x: float, y: float, name: str, mask: Tensor, words: list[str], row: int) -> str:
    length = len(mask)
    right = x + length * SQUARE
    draw.text(x, y + 0.85, name, NAME - 1, COLORS["weights"], ha="left", va="bottom", weight="bold")
    draw.text(x - 0.08, y + 0.16, "reads", NUMBER, SOFT, ha="right")
    draw.text(right + 0.42, y + 0.16, "asked for", NUMBER, SOFT, ha="left")
    seen_answers = 0
    for i in range(length):
        middle = y - (i + 0.5) * SQUARE
        answer = i + 1 < length and bool(mask[i, i + 1])
        seen_answers += answer
        for j in range(length):
            draw.square(x + j * SQUARE, y - (i + 1) * SQUARE, SQUARE, bool(mask[i, j]), "weights")
        if answer:
            draw.outline(x + (i + 1) * SQUARE, y - (i + 1) * SQUARE, SQUARE, SQUARE, WARNING)
            draw.text(x + (i + 1.5) * SQUARE, middle, "!", LABEL, WARNING, weight="bold")
        draw.text(x - 0.08, middle, words[i], LABEL, ha="right")
        draw.arrow((right + 0.1, middle), (right + 0.36, middle), width=1.2)
        color, weight = (WARNING, "bold") if answer else (COLORS["output"], "normal")
        draw.text(right + 0.42, middle, words[i + 1], LABEL, color, ha="left", weight=weight)
        draw.text(x + (i + 0.4) * SQUARE, y + 0.06, words[i], LABEL, ha="left", va="bottom", rotation=60)
    draw.outline(x, y - (row + 1) * SQUARE, length * SQUARE, SQUARE, "black", zorder=6)
    seen = [words[j] for j in range(length) if mask[row, j]]
    lines = [f"“{words[row]}” sees {len(seen)}: {_listed(seen)}", f"and is asked for “{words[row + 1]}”"]
    count = f"{seen_answers} of {length} rows see their own answer" if seen_answers else "no row sees its own answer"
    for place, line in enumerate(lines):
        draw.text(x - 0.08, y - length * SQUARE - 0.2 - 0.22 * place, line, LABEL, ha="left")
    draw.text(x - 0.08, y - length * SQUARE - 0.7, count, LABEL, WARNING if seen_answers else SOFT, ha="left")
    return f"{lines[0]} {lines[1]}; {count}."


def _listed(words: list[str]) -> str:
    return ", ".join(words if len(words) <= 5 else [*words[:3], "…", words[-1]])


def _key(draw: Drawing, x: float, y: float) -> None:
    words = ("the row may look at the column", "it may not", "the answer itself")
    for place, text in enumerate(words):
        draw.square(x, y, 0.22, place != 1, "weights")
        if place == 2:
            draw.outline(x, y, 0.22, 0.22, WARNING)
        draw.text(x + 0.3, y + 0.11, text, LABEL, ha="left")
        x += 0.55 + draw.width_of(text)
