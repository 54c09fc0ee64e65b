"""A tensor as a card: a grid of cells colored by value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
from torch import Tensor

from .drawing import Sheet
from .palette import CELL, DIVERGING, FAINT, INK, LABEL, MOST, MOST_NUMBERS, NAME, NUMBER, ROLES, SHADES, SHAPE, SOFT
from .words import cell_number, part, short


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


class Table(Sheet):
    """A sheet that tensors can be laid on."""

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


def _luminance(color) -> float:
    red, green, blue = color[:3]
    return 0.299 * red + 0.587 * green + 0.114 * blue
