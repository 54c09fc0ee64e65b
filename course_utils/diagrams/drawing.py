"""What every diagram is drawn with: a sheet measured in inches, cards for tensors, arrows for operations, one color a role.

The same color is the same thing in the whole course. The colors are told apart by readers with any common color blindness
(Okabe and Ito, "Color Universal Design", 2008), and every role is written beside its color as well.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import torch
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.transforms import Bbox
from torch import Tensor

ROLES = {
    "query": "#0072B2", "key": "#D55E00", "value": "#009E73", "scores": "#5A5A5A", "weights": "#7A3E9D",
    "output": "#9A6A00", "mask": "#8C8C8C", "cache": "#B0307A", "position": "#2A8FBD", "plain": "#404040",
}  # fmt: skip
INK, SOFT, FAINT = "#1F2328", "#59636E", "#D0D7DE"
NAME, SHAPE, LABEL, NUMBER, OPERATION = 13.0, 9.5, 10.0, 9.0, 11.0  # font sizes in points
CELL, SMALL = 0.34, 0.22  # inches; in small cells no numbers are written
PAGE = 9.0  # inches; a wider figure is made smaller by the page, its letters too
MOST = 12  # rows or columns that a card shows; more are cut, with dots
MOST_NUMBERS = 64  # cells in which numbers are written
DIVERGING = "RdBu_r"
SHADES = {role: LinearSegmentedColormap.from_list(role, ("#FFFFFF", color)) for role, color in ROLES.items()}


@dataclass(frozen=True)
class Card:
    """A tensor on a sheet: where it lies and where its cells are.

    Args:
        x: Left edge, in inches.
        y: Bottom edge.
        rows: Indices of the rows that are shown, from the top; None is a gap.
        columns: The same from the left.
        cell: Width and height of a cell.
    """

    x: float
    y: float
    rows: tuple[int | None, ...]
    columns: tuple[int | None, ...]
    cell: float = CELL

    @property
    def width(self) -> float:
        """In inches."""
        return self.cell * len(self.columns)

    @property
    def height(self) -> float:
        """In inches."""
        return self.cell * len(self.rows)

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.width

    @property
    def top(self) -> float:
        """The top edge."""
        return self.y + self.height

    def box(self, row: int | None = None, column: int | None = None) -> tuple[float, float, float, float] | None:
        """Left, bottom, width, height of a cell, a row, a column or the whole; None where that is not shown."""
        if (row is not None and row not in self.rows) or (column is not None and column not in self.columns):
            return None
        left = 0 if column is None else self.columns.index(column)
        above = 0 if row is None else self.rows.index(row)
        wide = len(self.columns) if column is None else 1
        tall = len(self.rows) if row is None else 1
        bottom = self.top - (above + tall) * self.cell
        return self.x + left * self.cell, bottom, wide * self.cell, tall * self.cell


class Sheet:
    """An empty figure to draw on, in inches from the lower left; ``done`` cuts it to what was drawn."""

    def __init__(self) -> None:
        self.figure = Figure(figsize=(40, 40), facecolor="white")
        FigureCanvasAgg(self.figure)
        self.ax = self.figure.add_axes((0, 0, 1, 1))
        self.ax.set(xlim=(0, 40), ylim=(0, 40))
        self.ax.set_axis_off()
        self._off = 15.0  # so that what is drawn left of 0 or below it is on the figure too

    def card(
        self,
        values: Tensor,
        x: float,
        y: float,
        role: str = "plain",
        *,
        name: str = "",
        shape: str = "",
        rows: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        hidden: Tensor | None = None,
        shades: bool = False,
        limit: float | None = None,
        write: bool | None = None,
        stack: int = 1,
        below: bool = True,
        cell: float = CELL,
        most: int = MOST,
    ) -> Card:
        """Draw a matrix.

        Args:
            values: ``(n, m)``.
            x: Left edge.
            y: Bottom edge.
            role: Whose color the frame has.
            name: Written below it (or above), in the color of the role.
            shape: Written under the name.
            rows: A label for each row, at the left.
            columns: A label for each column, above it.
            hidden: ``(n, m)``, True where a cell is hidden by a mask: hatched.
            shades: Colors from white (0) to the role's (1), in place of blue, white and red.
            limit: The size that has the darkest color; None: that of the largest.
            write: Whether numbers are written into the cells; None: if there are few.
            stack: How many such cards lie behind one another.
            below: Whether name and shape stand below the card, not above it.
            cell: Width and height of a cell.
            most: How many rows and columns are shown; of more, the middle is left out.
        """
        values = values.detach().double()
        shown = Card(x, y, part(values.shape[0], most), part(values.shape[1], most), cell)
        for behind in reversed(range(1, min(stack, 4))):
            self._frame(x + 0.07 * behind, y + 0.07 * behind, shown.width, shown.height, role, 1.2)
        finite = values[values.isfinite()].abs()
        limit = limit or (float(finite.max()) if finite.numel() else 1.0) or 1.0
        write = values.numel() <= MOST_NUMBERS and cell >= CELL if write is None else write
        for row in shown.rows:
            for column in shown.columns:
                self._cell(shown, values, row, column, hidden, SHADES[role] if shades else None, limit, write)
        self._frame(x, y, shown.width, shown.height, role, 2.2, face="none")
        self._labels(shown, rows, columns, lift=0.07 * (min(stack, 4) - 1))
        where = y - 0.08 if below else shown.top + 0.1 + 0.07 * (min(stack, 4) - 1)
        middle, up = x + shown.width / 2, "top" if below else "bottom"
        if name and below:
            self.text(middle, where, name, NAME, ROLES[role], va=up, weight="bold")
            self.text(middle, where - 0.25, shape, SHAPE, SOFT, va=up)
        elif name:
            self.text(middle, where + 0.2, name, NAME, ROLES[role], va=up, weight="bold")
            self.text(middle, where, shape, SHAPE, SOFT, va=up)
        return shown

    def _cell(self, card, values, row, column, hidden, shades, limit, write) -> None:
        place = (card.columns.index(column), card.rows.index(row))
        x, y = card.x + place[0] * card.cell, card.top - (place[1] + 1) * card.cell
        if row is None or column is None:
            self.ax.add_patch(self._rectangle(x, y, card.cell, card.cell, facecolor="white", edgecolor="none"))
            self.text(x + card.cell / 2, y + card.cell / 2, "⋯" if row is not None else "⋮", LABEL, SOFT)
            return
        value = float(values[row, column])
        if hidden is not None and bool(hidden[row, column]):
            self.ax.add_patch(
                self._rectangle(
                    x, y, card.cell, card.cell, facecolor="white", edgecolor="#A8A8A8", hatch="////", lw=0.5
                )
            )
            return
        color, ink = "white", INK
        if not math.isfinite(value):
            color = "#FFD7D5"
        elif value != 0:
            share = value / limit
            color = (
                shades(min(share, 1.0)) if shades else mpl.colormaps[DIVERGING](0.5 + 0.45 * max(-1.0, min(1.0, share)))
            )
            ink = "white" if _luminance(color) < 0.42 else INK
        self.ax.add_patch(self._rectangle(x, y, card.cell, card.cell, facecolor=color, edgecolor=FAINT, lw=0.6))
        if write and (value != 0 or not shades):
            said = cell_number(value)
            self.text(x + card.cell / 2, y + card.cell / 2, said, NUMBER if len(said) <= 3 else NUMBER - 0.8, ink)

    def cell(self, x: float, y: float, width: float, height: float, value: float, color: str) -> None:
        """One cell with a number, lightly filled with a color."""
        face = LinearSegmentedColormap.from_list("", ("#FFFFFF", color))(0.35)
        self.ax.add_patch(self._rectangle(x, y, width, height, facecolor=face, edgecolor="white", lw=0.8))
        self.text(x + width / 2, y + height / 2, cell_number(value), NUMBER)

    def square(self, x: float, y: float, side: float, filled: bool, role: str) -> None:
        """A cell of a mask: filled in the color of a role, or hatched."""
        style = {"facecolor": SHADES[role](0.55)} if filled else {"facecolor": "white", "hatch": "//////"}
        self.ax.add_patch(
            self._rectangle(x, y, side, side, edgecolor="white" if filled else "#B8B8B8", lw=0.5, **style)
        )

    def _labels(self, card: Card, rows: Sequence[str] | None, columns: Sequence[str] | None, lift: float) -> None:
        for row in card.rows if rows is not None else ():
            if row is not None:
                _, bottom, _, height = card.box(row=row)
                self.text(card.x - 0.08, bottom + height / 2, short(rows[row]), LABEL, ha="right")
        for column in card.columns if columns is not None else ():
            if column is not None:
                left, _, width, _ = card.box(column=column)
                self.text(
                    left + width / 2 - 0.02,
                    card.top + 0.09 + lift,
                    short(columns[column]),
                    LABEL,
                    ha="left",
                    va="bottom",
                    rotation=60,
                )

    def mark(self, card: Card, row: int | None = None, column: int | None = None, color: str = "black") -> None:
        """A thick frame around a cell, a row or a column."""
        if box := card.box(row, column):
            self.ax.add_patch(self._rectangle(*box, facecolor="none", edgecolor=color, lw=2.4, zorder=6))

    def arrow(
        self, start: tuple[float, float], end: tuple[float, float], said: str = "", color: str = SOFT, bend: float = 0.0,
        width: float = 1.6, style: str = "-",
    ) -> None:  # fmt: skip
        """An arrow with the operation written above its middle."""
        points = [(self._off + x, self._off + y) for x, y in (start, end)]
        how = {"arrowstyle": "-|>", "mutation_scale": 13, "shrinkA": 0, "shrinkB": 0, "linestyle": style}
        self.ax.add_patch(
            FancyArrowPatch(*points, color=color, lw=width, connectionstyle=f"arc3,rad={bend}", zorder=3, **how)
        )
        if said:
            middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
            self.text(middle[0], middle[1] + 0.07, said, OPERATION, va="bottom")

    def line(
        self, points: Sequence[tuple[float, float]], color: str = SOFT, width: float = 1.4, style: str = "-", zorder: float = 2,
    ) -> None:  # fmt: skip
        """A line through points."""
        xs, ys = zip(*points, strict=True)
        self.ax.plot(
            [self._off + x for x in xs], [self._off + y for y in ys], style, color=color, lw=width, zorder=zorder
        )

    def box(
        self, x: float, y: float, width: float, height: float, said: str = "", role: str = "plain", *, fill: float = 0.16,
        size: float = LABEL, dashed: bool = False,
    ) -> None:  # fmt: skip
        """A rounded box with words in it."""
        face = SHADES[role](fill)
        patch = FancyBboxPatch(
            (self._off + x + 0.04, self._off + y + 0.04), width - 0.08, height - 0.08, boxstyle="round,pad=0.04,rounding_size=0.06",
            facecolor=face, edgecolor=ROLES[role], lw=1.4, linestyle="--" if dashed else "-", zorder=4,
        )  # fmt: skip
        self.ax.add_patch(patch)
        if said:
            self.text(x + width / 2, y + height / 2, said, size, INK, zorder=7)

    def bar(self, x: float, y: float, width: float, height: float, role: str) -> None:
        """A bar that stands on ``y``."""
        self.ax.add_patch(
            self._rectangle(x, y, width, height, facecolor=SHADES[role](0.55), edgecolor=ROLES[role], lw=1.0)
        )

    def dot(self, x: float, y: float, color: str) -> None:
        """A small dot."""
        self.ax.add_patch(Circle((self._off + x, self._off + y), 0.035, facecolor=color, edgecolor="none", zorder=5))

    def ring(self, x: float, y: float, radius: float) -> None:
        """A thin circle."""
        self.ax.add_patch(
            Circle((self._off + x, self._off + y), radius, facecolor="none", edgecolor=FAINT, lw=1.0, zorder=2)
        )

    def plus(self, x: float, y: float) -> None:
        """A sum: a circle with a plus."""
        self.ax.add_patch(
            Circle((self._off + x, self._off + y), 0.12, facecolor="white", edgecolor=INK, lw=1.4, zorder=6)
        )
        self.line([(x - 0.07, y), (x + 0.07, y)], INK, 1.4, zorder=7)
        self.line([(x, y - 0.07), (x, y + 0.07)], INK, 1.4, zorder=7)

    def frame(self, x: float, y: float, width: float, height: float) -> None:
        """A dashed frame around what belongs together."""
        style = {"boxstyle": "round,pad=0,rounding_size=0.12", "facecolor": "#F6F8FA", "edgecolor": SOFT, "lw": 1.2}
        self.ax.add_patch(
            FancyBboxPatch((self._off + x, self._off + y), width, height, linestyle="--", zorder=1, **style)
        )

    def text(
        self, x: float, y: float, said: str, size: float = LABEL, color: str = INK, *, ha: str = "center", va: str = "center",
        rotation: float = 0.0, weight: str = "normal", zorder: float = 7, family: str | None = None,
    ) -> None:  # fmt: skip
        """Words, as they are: a dollar sign begins no formula."""
        if said:
            self.ax.text(
                self._off + x, self._off + y, said, fontsize=size, color=color, ha=ha, va=va, rotation=rotation, weight=weight,
                zorder=zorder, family=family, parse_math=False, rotation_mode="anchor" if rotation else "default",
            )  # fmt: skip

    def width_of(self, said: str, size: float = LABEL) -> float:
        """How wide words are, in inches."""
        return (
            self._renderer().get_text_width_height_descent(said, mpl.font_manager.FontProperties(size=size), False)[0]
            / self.figure.dpi
        )

    def done(self, alt: str) -> Axes:
        """The Axes, cut to what was drawn; ``alt`` says what it shows to readers who cannot see it."""
        artists = [*self.ax.texts, *self.ax.patches, *self.ax.lines]
        found = Bbox.union([artist.get_window_extent(self._renderer()) for artist in artists])
        box = Bbox(found.get_points() / self.figure.dpi)
        (left, bottom), (right, top) = box.get_points() + [[-0.1, -0.1], [0.14, 0.1]]
        self.figure.set_size_inches(right - left, top - bottom)
        self.ax.set(xlim=(left, right), ylim=(bottom, top))
        self.ax.set_label(alt)
        return self.ax

    def _renderer(self):
        return self.figure.canvas.get_renderer()

    def _rectangle(self, x: float, y: float, width: float, height: float, **style) -> Rectangle:
        return Rectangle((self._off + x, self._off + y), width, height, **{"zorder": 4, **style})

    def _frame(self, x, y, width, height, role, line, face="white") -> None:
        self.ax.add_patch(
            self._rectangle(
                x, y, width, height, facecolor=face, edgecolor=ROLES[role], lw=line, zorder=5 if face == "none" else 3
            )
        )


def part(count: int, most: int = MOST) -> tuple[int | None, ...]:
    """Which of ``count`` rows are shown: all, or the first ones, a gap (None) and the last."""
    return tuple(range(count)) if count <= most else (*range(most - 2), None, count - 1)


def short(label: str, most: int = 12) -> str:
    """A token on one line, nothing invisible in it, long ones cut; for letters that the font has not stands a box."""
    line = "".join(map(_drawable, label))
    line = line.replace(" ", "\N{OPEN BOX}") if line.strip() == "" and line else line
    return line if len(line) <= most else line[: most - 1] + "…"


def _drawable(letter: str) -> str:
    if letter == "\n":
        return "\N{SYMBOL FOR NEWLINE}"
    return letter if letter.isprintable() and _font().get_char_index(ord(letter)) else "\N{WHITE SQUARE}"


@functools.cache
def _font():
    return mpl.font_manager.get_font(mpl.font_manager.findfont(mpl.font_manager.FontProperties()))


def number(value: float) -> str:
    """A number short enough for a cell."""
    if not math.isfinite(value):
        return str(value).upper() if value != value else ("−∞" if value < 0 else "∞")
    if 0 < abs(value) < 0.01:
        return f"{value:.0e}".replace("e-0", "e−").replace("-", "−")
    text = f"{value:.2f}" if abs(value) < 10 else f"{value:.0f}" if abs(value) < 1000 else f"{value:.0e}"
    text = text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
    return text.replace("-", "−") if text not in ("-0", "0") else "0"


def cell_number(value: float) -> str:
    """As ``number``, and without the zero before the point: at most four letters, if it can be."""
    text = number(value) if abs(value) < 1 or value == int(value) else number(round(value, 1))
    return text.replace("0.", ".", 1) if text.lstrip("−").startswith("0.") else text


def labels(given: Sequence[str] | None, count: int, name: str) -> list[str] | None:
    """Labels as texts.

    Raises:
        ValueError: There are not ``count`` of them.
    """
    if given is None:
        return None
    if len(given) != count:
        raise ValueError(f"{name} ({len(given)}) must be one for each of the {count} rows that it names")
    return [str(label) for label in given]


def _luminance(color) -> float:
    red, green, blue = color[:3]
    return 0.299 * red + 0.587 * green + 0.114 * blue


def matrix(tensor: Tensor, name: str) -> tuple[Tensor, tuple[int, ...]]:
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


def stacked(leading: tuple[int, ...]) -> int:
    """How many cards lie in a stack."""
    return max(1, math.prod(leading))


def number_sum(terms: Sequence[tuple[float, float]]) -> str:
    """``0.75 · 8 + 0.25 · 4 = 7``, long ones cut in the middle."""
    total = sum(a * b for a, b in terms)
    written = [f"{number(a)} · {f'({number(b)})' if b < 0 else number(b)}" for a, b in terms]
    if len(written) > 5:
        written = [*written[:3], "…", written[-1]]
    return f"{' + '.join(written)} = {number(total)}"


def true_where(mask: Tensor | None, like: Tensor) -> Tensor:
    """A mask broadcast to a matrix; all True where there is none."""
    if mask is None:
        return torch.ones_like(like, dtype=torch.bool)
    if mask.dtype != torch.bool:
        raise TypeError(f"mask has dtype {mask.dtype}; expected torch.bool, True where attention is allowed")
    return mask
