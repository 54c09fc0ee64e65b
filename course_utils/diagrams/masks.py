"""Masks side by side on one real sentence."""

from collections.abc import Mapping, Sequence

from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from .drawing import Drawing, mask_cell_style
from .formatting import checked_labels, shortened
from .grids import GridDrawing
from .palette import COLORS, LABEL, MAX_SHOWN, NAME, NUMBER, PAGE, SOFT, WARNING

SQUARE, ROW_GAP = 0.2, 1.35


def mask_cells(ax: Axes, mask: Bool[Tensor, "L_q L_k"]) -> Axes:
    """A mask as cells of size 1 on Axes that are there already: filled or hatched as in ``mask_gallery``.

    The frame of a row that sees nothing is red.
    """
    for i, row in enumerate(mask.tolist()):
        for j, allowed in enumerate(row):
            ax.add_patch(Rectangle((j, i), 1, 1, **mask_cell_style(allowed, "weights")))
        if not any(row):
            ax.add_patch(Rectangle((0, i), len(row), 1, facecolor="none", edgecolor=WARNING, lw=2.4, zorder=3))
    ax.set(xlim=(-0.1, mask.shape[1] + 0.1), ylim=(len(mask) + 0.1, -0.1), aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    return ax


def mask_gallery(tokens: Sequence[str], masks: Mapping[str, Bool[Tensor, "..."]]) -> Axes:
    """Each mask as a grid: a row a query, a column a key; filled where the query may look, hatched where not.

    Args:
        tokens: The sentence, at most 16 tokens.
        masks: Name -> mask, broadcast to ``(L, L)``; of a batch or of heads the first is drawn.
    """
    length = len(tokens)
    if not 1 <= length <= 16:
        raise ValueError(f"tokens ({length}) must be 1 to 16: a longer sentence cannot be read in small grids")
    if not masks:
        raise ValueError("masks is empty: give at least one, by name")
    words = [shortened(word, 8) for word in checked_labels(tokens, length, "tokens")]
    draw, sentences = Drawing(), []
    left = max(map(draw.width_of, words))
    names = max(draw.width_of(str(name), NAME) for name in masks)
    wide = left + max(length * SQUARE, names) + 0.4
    across = max(1, int(PAGE // wide))
    for place, (name, mask) in enumerate(masks.items()):
        grid = _grid(name, mask, length)
        x, y = (place % across) * wide + left, -(place // across) * (length * SQUARE + ROW_GAP)
        draw.text(x, y + 0.75, name, NAME - 1, COLORS["weights"], ha="left", va="bottom", weight="bold")
        for row in range(length):
            middle = y - (row + 0.5) * SQUARE
            draw.text(x - 0.06, middle, words[row], NUMBER, ha="right")
            for column in range(length):
                draw.square(x + column * SQUARE, y - (row + 1) * SQUARE, SQUARE, bool(grid[row, column]), "weights")
        for column in range(length):
            draw.text(x + (column + 0.3) * SQUARE, y + 0.05, words[column], NUMBER, ha="left", va="bottom", rotation=60)
        share = f"{int(grid.sum())} of {length * length} pairs"
        draw.text(x, y - length * SQUARE - 0.06, share, NUMBER, SOFT, ha="left", va="top")
        sentences.append(f"{name}: {share}")
    rows = (len(masks) - 1) // across
    bottom = -rows * (length * SQUARE + ROW_GAP) - length * SQUARE - 0.62
    draw.square(left, bottom, SQUARE, True, "weights")
    draw.text(left + 0.28, bottom + SQUARE / 2, "the row's query may look at the column's key", LABEL, ha="left")
    second = left + 0.45 + draw.width_of("the row's query may look at the column's key")
    draw.square(second, bottom, SQUARE, False, "weights")
    draw.text(second + 0.28, bottom + SQUARE / 2, "it may not", LABEL, ha="left")
    return draw.finish(f"Masks over the tokens {', '.join(words)}, a row a query. " + "; ".join(sentences) + ".")


def masked_weights(
    tokens: Sequence[str], weights: Mapping[str, Float[Tensor, "L L"]], masks: Mapping[str, Bool[Tensor, "..."]]
) -> Axes:
    """Attention weights of one sequence to itself under several masks: hatched where a mask hides, else shaded, 0 to 1.

    Args:
        tokens: At most 12.
        weights: Name -> weights.
        masks: By the same names; broadcast to ``(L, L)``.
    """
    length = len(tokens)
    if not 1 <= length <= MAX_SHOWN or not weights or weights.keys() != masks.keys():
        raise ValueError(f"tokens ({length}) must be 1 to {MAX_SHOWN}, and weights and masks must have the same names")
    words = [shortened(word, 8) for word in checked_labels(tokens, length, "tokens")]
    draw, sentences, x = GridDrawing(), [], 0.0
    for name, table in weights.items():
        hidden = ~_grid(name, masks[name], length)
        look = {"hidden": hidden, "shades": True, "limit": 1.0, "write": False, "cell": 0.24}
        card = draw.grid(table, x, 0, "weights", rows=words, columns=words, **look)
        ahead = f"{float(table.triu(1).sum() / table.sum()):.0%} of the weight lies ahead"
        draw.text(x, -0.15, ahead, LABEL, SOFT, ha="left", va="top")
        draw.text(x, card.top + 0.75, name, NAME - 1, COLORS["weights"], ha="left", va="bottom", weight="bold")
        sentences.append(f"{name}: {int(hidden.sum())} of {length**2} pairs are hidden, {ahead}")
        x += max(card.width, draw.width_of(ahead), draw.width_of(name, NAME)) + 0.7 + max(map(draw.width_of, words))
    return draw.finish(f"Attention weights among {', '.join(words)}, a row a query. {'; '.join(sentences)}.")


def _grid(name: str, mask: Tensor, length: int) -> Tensor:
    try:
        grid = mask.expand(*mask.shape[:-2], length, length) if mask.dim() > 1 else mask.expand(length, length)
    except RuntimeError:
        raise ValueError(
            f"masks[{name!r}] has shape {tuple(mask.shape)}; it must broadcast to ({length}, {length})"
        ) from None
    return grid.reshape(-1, length, length)[0]
