"""A tensor as a grid of cells colored by value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
from torch import Tensor

from .drawing import Drawing
from .formatting import cell_number, shortened, shown_indices
from .palette import (
    CELL,
    COLORS,
    DIVERGING,
    FAINT,
    INK,
    LABEL,
    MAX_NUMBERS,
    MAX_SHOWN,
    NAME,
    NUMBER,
    SHADES,
    SHAPE,
    SOFT,
)


@dataclass(frozen=True)
class Grid:
    """A tensor in a drawing: where it lies and where its cells are.

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


class GridDrawing(Drawing):
    """A drawing that tensors can be laid on."""

    def grid(
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
        struck: Tensor | None = None,
        shades: bool = False,
        limit: float | None = None,
        write: bool | None = None,
        stack: int = 1,
        below: bool = True,
        cell: float = CELL,
        most: int = MAX_SHOWN,
    ) -> Grid:
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
            struck: ``(n, m)``, True where a number is there and takes no part: hatched, the number gray.
            shades: Colors from white (0) to the role's (1), in place of blue, white and red.
            limit: The size that has the darkest color; None: that of the largest.
            write: Whether numbers are written into the cells; None: if there are few.
            stack: How many such grids lie behind one another.
            below: Whether name and shape stand below the grid, not above it.
            cell: Width and height of a cell.
            most: How many rows and columns are shown; of more, the middle is left out.
        """
        values = values.detach().double()
        shown = Grid(x, y, shown_indices(values.shape[0], most), shown_indices(values.shape[1], most), cell)
        for behind in reversed(range(1, min(stack, 4))):
            self._frame(x + 0.07 * behind, y + 0.07 * behind, shown.width, shown.height, role, 1.2)
        finite = values[values.isfinite()].abs()
        hatched = {"hidden": hidden, "struck": struck}
        limit = limit or (float(finite.max()) if finite.numel() else 1.0) or 1.0
        write = values.numel() <= MAX_NUMBERS and cell >= CELL if write is None else write
        for row in shown.rows:
            for column in shown.columns:
                self._cell(shown, values, row, column, hatched, SHADES[role] if shades else None, limit, write)
        self._frame(x, y, shown.width, shown.height, role, 2.2, face="none")
        self._labels(shown, rows, columns, lift=0.07 * (min(stack, 4) - 1))
        where = y - 0.08 if below else shown.top + 0.1 + 0.07 * (min(stack, 4) - 1)
        middle, up = x + shown.width / 2, "top" if below else "bottom"
        if name and below:
            self.text(middle, where, name, NAME, COLORS[role], va=up, weight="bold")
            self.text(middle, where - 0.25, shape, SHAPE, SOFT, va=up)
        elif name:
            self.text(middle, where + 0.2, name, NAME, COLORS[role], va=up, weight="bold")
            self.text(middle, where, shape, SHAPE, SOFT, va=up)
        return shown

    def _cell(self, grid, values, row, column, hatched, shades, limit, write) -> None:
        place = (grid.columns.index(column), grid.rows.index(row))
        x, y = grid.x + place[0] * grid.cell, grid.top - (place[1] + 1) * grid.cell
        if row is None or column is None:
            self._rectangle(x, y, grid.cell, grid.cell, facecolor="white", edgecolor="none")
            self.text(x + grid.cell / 2, y + grid.cell / 2, "⋯" if row is not None else "⋮", LABEL, SOFT)
            return
        value = float(values[row, column])
        kind = next((name for name, cells in hatched.items() if cells is not None and bool(cells[row, column])), None)
        if kind:
            self._rectangle(x, y, grid.cell, grid.cell, facecolor="white", edgecolor="#A8A8A8", hatch="////", lw=0.5)
            if kind == "struck" and write:
                self.text(x + grid.cell / 2, y + grid.cell / 2, cell_number(value), NUMBER, SOFT)
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
        self._rectangle(x, y, grid.cell, grid.cell, facecolor=color, edgecolor=FAINT, lw=0.6)
        if write and (value != 0 or not shades):
            text = cell_number(value)
            self.text(x + grid.cell / 2, y + grid.cell / 2, text, NUMBER if len(text) <= 3 else NUMBER - 0.8, ink)

    def _labels(self, grid: Grid, rows: Sequence[str] | None, columns: Sequence[str] | None, lift: float) -> None:
        for row in grid.rows if rows is not None else ():
            if row is not None:
                _, bottom, _, height = grid.box(row=row)
                self.text(grid.x - 0.08, bottom + height / 2, shortened(rows[row]), LABEL, ha="right")
        for column in grid.columns if columns is not None else ():
            if column is not None:
                left, _, width, _ = grid.box(column=column)
                self.text(
                    left + width / 2 - 0.02,
                    grid.top + 0.09 + lift,
                    shortened(columns[column]),
                    LABEL,
                    ha="left",
                    va="bottom",
                    rotation=60,
                )

    def mark(self, grid: Grid, row: int | None = None, column: int | None = None, color: str = "black") -> None:
        """A thick frame around a cell, a row or a column."""
        if box := grid.box(row, column):
            self._rectangle(*box, facecolor="none", edgecolor=color, lw=2.4, zorder=6)


def _luminance(color) -> float:
    red, green, blue = color[:3]
    return 0.299 * red + 0.587 * green + 0.114 * blue
