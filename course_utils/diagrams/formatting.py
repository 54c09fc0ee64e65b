"""Words and numbers short enough for a picture, and what a picture is given, looked at."""

import functools
import math
from collections.abc import Sequence

import matplotlib as mpl
import torch
from torch import Tensor

from ..attention import require_boolean
from .palette import MAX_SHOWN


def shown_indices(count: int, most: int = MAX_SHOWN) -> tuple[int | None, ...]:
    """Which of ``count`` rows are shown: all, or the first ones, a gap (None) and the last."""
    return tuple(range(count)) if count <= most else (*range(most - 2), None, count - 1)


def shortened(label: str, most: int = 12) -> str:
    """A token on one line, nothing invisible in it, long ones cut; for letters that the font has not stands a box."""
    line = "".join(map(_drawable, label))
    line = line.replace(" ", "\N{OPEN BOX}") if line.strip() == "" and line else line
    return line if len(line) <= most else line[: most - 1] + "…"


def _drawable(letter: str) -> str:
    if letter == "\n":
        return "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}"  # the font has it; it has no SYMBOL FOR NEWLINE
    return letter if letter.isprintable() and _font().get_char_index(ord(letter)) else "\N{WHITE SQUARE}"


@functools.cache
def _font():
    return mpl.font_manager.get_font(mpl.font_manager.findfont(mpl.font_manager.FontProperties()))


def number(value: float) -> str:
    """A number short enough for a cell."""
    if not math.isfinite(value):
        return str(value).upper() if value != value else ("−∞" if value < 0 else "∞")
    if 0 < abs(value) < 0.01:
        return f"{value:.0e}".replace("e-0", "e-").replace("-", "−")
    text = (
        f"{value:.2f}"
        if abs(value) < 10
        else f"{value:.0f}"
        if abs(value) < 1000
        else f"{value:.0e}".replace("e+0", "e")
    )
    text = text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
    return text.replace("-", "−") if text not in ("-0", "0") else "0"


def cell_number(value: float) -> str:
    """As ``number``, and without the zero before the point: at most four letters, if it can be."""
    text = number(round(value, 1) if 1 <= abs(value) < 1000 else value)
    return text.replace("0.", ".", 1) if text.lstrip("−").startswith("0.") else text


def checked_labels(texts: Sequence[str] | None, count: int, name: str) -> list[str] | None:
    """Labels as texts.

    Raises:
        ValueError: There are not ``count`` of them.
    """
    if texts is None:
        return None
    if len(texts) != count:
        raise ValueError(f"{name} ({len(texts)}) must be one for each of the {count} rows that it names")
    return [str(label) for label in texts]


def first_matrix(tensor: Tensor, name: str) -> tuple[Tensor, tuple[int, ...]]:
    """The first matrix of a tensor with any leading axes, and the sizes of those.

    Raises:
        ValueError: It has fewer than two axes or no number.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} ({type(tensor).__name__}) must be a tensor")
    if tensor.dim() < 2 or tensor.numel() == 0:
        raise ValueError(
            f"{name} has shape {tuple(tensor.shape)}; expected (..., rows, columns) with at least one of each"
        )
    return tensor.reshape(-1, *tensor.shape[-2:])[0], tuple(tensor.shape[:-2])


def stack_size(leading: tuple[int, ...]) -> int:
    """How many grids lie in a stack."""
    return max(1, math.prod(leading))


def equals(*values: float) -> str:
    """What stands between numbers: "=" if they are what ``number`` writes of them, "≈" if it rounds one."""
    written = [float(number(value).replace("−", "-").replace("∞", "inf")) for value in values]
    return "=" if all(math.isclose(*pair, rel_tol=1e-6) for pair in zip(values, written, strict=True)) else "≈"


def number_sum(terms: Sequence[tuple[float, float]]) -> str:
    """``0.75 · 8 + 0.25 · 4 = 7``, long ones cut in the middle."""
    total = sum(a * b for a, b in terms)
    written = [f"{number(a)} · {f'({number(b)})' if b < 0 else number(b)}" for a, b in terms]
    if len(written) > 5:
        written = [*written[:3], "…", written[-1]]
    return f"{' + '.join(written)} {equals(total, *(x for term in terms for x in term))} {number(total)}"


def allowed_mask(mask: Tensor | None, like: Tensor) -> Tensor:
    """A mask broadcast to a matrix; all True where there is none."""
    if mask is None:
        return torch.ones_like(like, dtype=torch.bool)
    require_boolean(mask)
    return mask
