"""What every diagram is drawn with: a drawing measured in inches, with boxes, arrows, lines and words on it."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Polygon, Rectangle
from matplotlib.transforms import Bbox

from .formatting import cell_number
from .palette import COLORS, FAINT, INK, LABEL, NUMBER, OPERATION, SHADES, SOFT


def mask_cell_style(filled: bool, role: str) -> dict[str, object]:
    """How a cell of a mask looks: filled in the color of a role, or hatched."""
    style = {"facecolor": SHADES[role](0.55)} if filled else {"facecolor": "white", "hatch": "//////"}
    return style | {"edgecolor": "white" if filled else "#B8B8B8", "lw": 0.5}


class Drawing:
    """An empty figure to draw on, in inches from the lower left; ``finish`` cuts it to what was drawn."""

    def __init__(self) -> None:
        self.figure = Figure(figsize=(40, 40), facecolor="white")
        FigureCanvasAgg(self.figure)
        self.ax = self.figure.add_axes((0, 0, 1, 1))
        self.ax.set(xlim=(0, 40), ylim=(0, 40))
        self.ax.set_axis_off()
        self._offset = 15.0  # so that what is drawn left of 0 or below it is on the figure too

    def cell(self, x: float, y: float, width: float, height: float, value: float, color: str) -> None:
        """One cell with a number, lightly filled with a color."""
        face = LinearSegmentedColormap.from_list("", ["#FFFFFF", color])(0.35)
        self._rectangle(x, y, width, height, facecolor=face, edgecolor="white", lw=0.8)
        self.text(x + width / 2, y + height / 2, cell_number(value), NUMBER)

    def square(self, x: float, y: float, side: float, filled: bool, role: str) -> None:
        """A cell of a mask: filled in the color of a role, or hatched."""
        self._rectangle(x, y, side, side, **mask_cell_style(filled, role))

    def arrow(
        self, start: tuple[float, float], end: tuple[float, float], text: str = "", color: str = SOFT, bend: float = 0.0,
        width: float = 1.6, style: str = "-",
    ) -> None:  # fmt: skip
        """An arrow with the operation written above its middle."""
        points = [(self._offset + x, self._offset + y) for x, y in (start, end)]
        how = {"arrowstyle": "-|>", "mutation_scale": 13, "shrinkA": 0, "shrinkB": 0, "linestyle": style}
        self.ax.add_patch(
            FancyArrowPatch(*points, color=color, lw=width, connectionstyle=f"arc3,rad={bend}", zorder=3, **how)
        )
        if text:
            middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
            self.text(middle[0], middle[1] + 0.07, text, OPERATION, va="bottom")

    def line(
        self, points: Sequence[tuple[float, float]], color: str = SOFT, width: float = 1.4, style: str = "-", zorder: float = 2,
    ) -> None:  # fmt: skip
        """A line through points."""
        xs, ys = zip(*points, strict=True)
        xs, ys = [self._offset + x for x in xs], [self._offset + y for y in ys]
        self.ax.plot(xs, ys, style, color=color, lw=width, zorder=zorder)

    def outline(self, x: float, y: float, width: float, height: float, color: str, zorder: float = 5) -> None:
        """A thick frame around cells."""
        corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
        self.line([*corners, corners[0]], color, 2.4, zorder=zorder)

    def area(self, corners: Sequence[tuple[float, float]], role: str, hatched: bool = False) -> None:
        """What corners enclose, lightly filled in the color of a role, behind everything."""
        moved = [(self._offset + x, self._offset + y) for x, y in corners]
        style = {"hatch": "////"} if hatched else {}
        self.ax.add_patch(
            Polygon(moved, facecolor=SHADES[role](0.22), edgecolor=COLORS[role], lw=0.8, zorder=1, **style)
        )

    def box(
        self, x: float, y: float, width: float, height: float, text: str = "", role: str = "plain", *, fill: float = 0.16,
        size: float = LABEL, dashed: bool = False,
    ) -> None:  # fmt: skip
        """A rounded box with words in it."""
        face = SHADES[role](fill)
        patch = FancyBboxPatch(
            (self._offset + x + 0.04, self._offset + y + 0.04), width - 0.08, height - 0.08,
            boxstyle="round,pad=0.04,rounding_size=0.06", facecolor=face, edgecolor=COLORS[role],
            lw=1.4, linestyle="--" if dashed else "-", zorder=4,
        )  # fmt: skip
        self.ax.add_patch(patch)
        if text:
            self.text(x + width / 2, y + height / 2, text, size, INK, zorder=7)

    def bar(self, x: float, y: float, width: float, height: float, role: str) -> None:
        """A bar that stands on ``y``."""
        self._rectangle(x, y, width, height, facecolor=SHADES[role](0.55), edgecolor=COLORS[role], lw=1.0)

    def dot(self, x: float, y: float, color: str) -> None:
        """A small dot."""
        self._circle(x, y, 0.035, facecolor=color, edgecolor="none", zorder=5)

    def node(self, x: float, y: float, radius: float, face: str | tuple, edge: str) -> None:
        """A filled circle with a thin edge, over lines and arrows."""
        self._circle(x, y, radius, facecolor=face, edgecolor=edge, lw=0.9, zorder=6)

    def ring(self, x: float, y: float, radius: float) -> None:
        """A thin circle."""
        self._circle(x, y, radius, facecolor="none", edgecolor=FAINT, lw=1.0, zorder=2)

    def plus(self, x: float, y: float) -> None:
        """A sum: a circle with a plus."""
        self._circle(x, y, 0.12, facecolor="white", edgecolor=INK, lw=1.4, zorder=6)
        self.line([(x - 0.07, y), (x + 0.07, y)], INK, 1.4, zorder=7)
        self.line([(x, y - 0.07), (x, y + 0.07)], INK, 1.4, zorder=7)

    def frame(self, x: float, y: float, width: float, height: float) -> None:
        """A dashed frame around what belongs together."""
        style = {"boxstyle": "round,pad=0,rounding_size=0.12", "facecolor": "#F6F8FA", "edgecolor": SOFT, "lw": 1.2}
        self.ax.add_patch(
            FancyBboxPatch((self._offset + x, self._offset + y), width, height, linestyle="--", zorder=1, **style)
        )

    def text(
        self, x: float, y: float, text: str, size: float = LABEL, color: str = INK, *, ha: str = "center", va: str = "center",
        rotation: float = 0.0, weight: str = "normal", zorder: float = 7,
    ) -> None:  # fmt: skip
        """Words, as they are: a dollar sign begins no formula."""
        if text:
            self.ax.text(
                self._offset + x, self._offset + y, text, fontsize=size, color=color, ha=ha, va=va, rotation=rotation,
                weight=weight, zorder=zorder, parse_math=False, rotation_mode="anchor" if rotation else "default",
            )  # fmt: skip

    def width_of(self, text: str, size: float = LABEL) -> float:
        """How wide words are, in inches."""
        font = mpl.font_manager.FontProperties(size=size)
        return self._renderer().get_text_width_height_descent(text, font, False)[0] / self.figure.dpi

    def finish(self, alt: str) -> Axes:
        """The Axes, cut to what was drawn; ``alt`` says what it shows to readers who cannot see it."""
        artists = [*self.ax.texts, *self.ax.patches, *self.ax.lines]
        extent = Bbox.union([artist.get_window_extent(self._renderer()) for artist in artists])
        box = Bbox(extent.get_points() / self.figure.dpi)
        (left, bottom), (right, top) = box.get_points() + [[-0.1, -0.1], [0.14, 0.1]]
        self.figure.set_size_inches(right - left, top - bottom)
        self.ax.set(xlim=(left, right), ylim=(bottom, top))
        self.ax.set_label(alt)
        return self.ax

    def _renderer(self):
        return self.figure.canvas.get_renderer()

    def _circle(self, x: float, y: float, radius: float, **style) -> None:
        self.ax.add_patch(Circle((self._offset + x, self._offset + y), radius, **style))

    def _rectangle(self, x: float, y: float, width: float, height: float, **style) -> None:
        self.ax.add_patch(Rectangle((self._offset + x, self._offset + y), width, height, **{"zorder": 4, **style}))

    def _frame(self, x, y, width, height, role, line, face="white") -> None:
        self._rectangle(
            x, y, width, height, facecolor=face, edgecolor=COLORS[role], lw=line, zorder=5 if face == "none" else 3
        )
