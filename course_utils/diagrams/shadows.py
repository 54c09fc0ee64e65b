"""The dot product as a shadow and as an area."""

import math
from collections.abc import Mapping

from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from .drawing import Drawing
from .formatting import number
from .palette import COLORS, LABEL, NAME, SHAPE, SOFT

LONG = 2.2  # inches that the longest arrow has
WIDE = 7.6  # inches for all rectangles side by side


def projection(a: Float[Tensor, " 2"], b: Float[Tensor, " 2"], names: tuple[str, str] = ("a", "b")) -> Axes:
    """The dot product as an area: ``a`` throws a shadow on the line of ``b``; the area is shadow times length of ``b``.

    The rectangle stands on the shadow, and its other side is as long as ``b``. It is hatched where the shadow falls behind.

    Args:
        a: The vector that throws the shadow.
        b: The vector on whose line it falls; not zero.
        names: What they are called.
    """
    for vector, name in ((a, "a"), (b, "b")):
        if vector.shape != (2,):
            raise ValueError(f"{name} has shape {tuple(vector.shape)}; expected (2,), to be drawn in the plane")
    a, b = a.detach().double(), b.detach().double()
    if not b.norm():
        raise ValueError("b is zero: it has no line on which a shadow could fall")
    unit, dot, length = LONG / max(float(a.norm()), float(b.norm())), float(a @ b), float(b.norm())
    shadow, (along_x, along_y) = dot / length, (b / length).tolist()
    side = -1.0 if along_x * float(a[1]) - along_y * float(a[0]) >= 0 else 1.0  # away from a

    def place(along: float, across: float = 0.0) -> tuple[float, float]:
        """Inches of a point so far along the line of b, and so far across it, on the side away from a."""
        return unit * along * along_x - side * across * along_y, unit * along * along_y + side * across * along_x

    draw, color, foot = Drawing(), COLORS["output"], place(shadow)
    corners = [place(0), foot, place(shadow, unit * length), place(0, unit * length)]
    draw.area(corners, "output", hatched=dot < 0)
    draw.line([place(-0.2 * length), place(1.15 * max(length, shadow))], SOFT, 0.9, ":")
    tip = (unit * float(a[0]), unit * float(a[1]))
    draw.line([tip, foot], SOFT, 1.2, "--")
    draw.line([place(0, 0.07), place(shadow, 0.07)], color, 4)
    if math.dist(tip, foot) > 0.3 and abs(unit * shadow) > 0.3:  # the right angle
        back = shadow - math.copysign(0.14, shadow) / unit
        draw.line([place(back), place(back, -0.14), place(shadow, -0.14)], SOFT, 1.2)
    if abs(unit * shadow) > 0.6:
        draw.text(*place(shadow / 2, 0.3), number(shadow), LABEL, color)
        draw.text(*place(shadow - math.copysign(0.2, shadow) / unit, unit * length / 2), number(length), LABEL, color)
    close = math.dist(tip, place(length)) < 0.3  # then the second name is lower
    ends = ((a, names[0], "query", tip, 0.0), (b, names[1], "key", place(length), 0.24 * close))
    for vector, name, role, end, lower in ends:
        draw.arrow((0, 0), end, color=COLORS[role], width=2.4)
        right = end[0] >= 0
        written = f"{name} = ({', '.join(number(c) for c in vector.tolist())})"
        at = (end[0] + (0.12 if right else -0.12), end[1] + 0.1 - lower)
        draw.text(*at, written, LABEL, COLORS[role], ha="left" if right else "right", weight="bold")
    angle = math.degrees(math.acos(max(-1.0, min(1.0, shadow / float(a.norm()))))) if a.norm() else 90.0
    lines = [
        f"{names[0]} · {names[1]} = {number(dot)}",
        f"shadow of {names[0]} {number(shadow)} × length of {names[1]} {number(length)}",
        f"angle {angle:.0f}°, cosine {number(math.cos(math.radians(angle)))}",
    ]
    points = [*corners, tip, place(length), place(-0.2 * length), place(1.15 * max(length, shadow))]
    right, middle = max(x for x, _ in points) + 1.3, (max(y for _, y in points) + min(y for _, y in points)) / 2
    for row, text in enumerate(lines):
        size, ink = (NAME - 1, color) if row == 0 else (LABEL, SOFT)
        draw.text(right, middle + 0.3 - 0.3 * row, text, size, ink, ha="left")
    return draw.finish(
        f"The dot product as the area of a rectangle: {lines[0]}: {lines[1]}; {lines[2]}. A right angle marks where the "
        f"line from the tip of {names[0]} meets the line of {names[1]}."
    )


def areas(a: Float[Tensor, " 2"], others: Mapping[str, Float[Tensor, " 2"]], name: str = "a") -> Axes:
    """Dot products of one vector with several as rectangles on one scale: as high as the shadow, as wide as the other is long.

    Args:
        a: The vector that throws the shadows.
        others: Name -> vector on whose line it falls; none is zero; at most four.
        name: What ``a`` is called.
    """
    lengths = {other: float(vector.detach().double().norm()) for other, vector in others.items()}
    if not 1 <= len(lengths) <= 4 or not all(lengths.values()):
        raise ValueError(f"others ({', '.join(others) or 'empty'}) must hold vectors that are not zero, 1 to 4 of them")
    dots = {other: float(a.detach().double() @ vector.detach().double()) for other, vector in others.items()}
    unit, color = WIDE / sum(lengths.values()), COLORS["output"]
    draw, x = Drawing(), 0.0
    for other, length in lengths.items():
        wide, high = unit * length, unit * dots[other] / length
        draw.area([(x, 0), (x + wide, 0), (x + wide, high), (x, high)], "output", hatched=high < 0)
        draw.line([(x, 0), (x + wide, 0)], COLORS["key"], 2.4)
        draw.line([(x, 0), (x, high)], color, 4)
        lines = [f"{name} · {other} = {number(dots[other])}", f"{number(dots[other] / length)} × {number(length)}"]
        top = max(high, 0) + 0.1
        draw.text(x, top + 0.22, lines[0], LABEL, color, ha="left", va="bottom", weight="bold")
        draw.text(x, top, lines[1], SHAPE, SOFT, ha="left", va="bottom")
        draw.text(x, min(high, 0) - 0.1, f"length of {other}", SHAPE, COLORS["key"], ha="left", va="top")
        x += max(wide, draw.width_of(lines[0]), draw.width_of(f"length of {other}", SHAPE)) + 0.45
    return draw.finish(
        f"Dot products of {name} as rectangles on one scale, shadow times length: "
        + "; ".join(
            f"with {other} {number(dot / lengths[other])} × {number(lengths[other])} = {number(dot)}"
            for other, dot in dots.items()
        )
        + "."
    )
