"""How what stands at the first position reaches the last one: by a chain, a cone, a star."""

from collections.abc import Callable, Mapping, Sequence

from matplotlib.axes import Axes

from .drawing import Drawing
from .palette import COLORS, INK, LABEL, NAME, OPERATION, SHADES, SOFT

Node = tuple[int, int]  # row, counted from the tokens upward, and position
STEP, RADIUS, GAP = 0.29, 0.085, 0.75  # inches
RISE, ALONE = 0.5, 1.1  # inches from row to row; and where there is one row only above the tokens
FAR = "#C9CFD6"  # arrows that are not on the way


def growing_paths(panels: Mapping[str, tuple[Callable[[Node], set[Node]], Sequence[Node]]], length: int) -> Axes:
    """Side by side, what each kind of layer makes of the first token, and the shortest way to the last position.

    Args:
        panels: Name of a layer -> (which nodes are computed from a node, the nodes of a way). Nodes are pairs of row and
            position: row 0 holds the tokens, each further row what is computed from the rows below or from its own.
        length: How many positions there are.

    Raises:
        ValueError: There is no panel, a way has no arrow, or it goes where no arrow leads.
    """
    if not panels:
        raise ValueError("panels is empty; expected at least one layer with its way")
    for name, (feeds, way) in panels.items():
        if len(way) < 2 or any(after not in feeds(before) for before, after in zip(way, way[1:], strict=False)):
            raise ValueError(f"the way of {name!r} must follow the arrows, and at least one; it is {list(way)}")
    draw, wide = Drawing(), STEP * (length - 1)
    for place, (name, (feeds, way)) in enumerate(panels.items()):
        left = place * (wide + GAP)
        _panel(draw, left, feeds, way, length)
        draw.text(left + wide / 2, -0.5, name, NAME, INK, va="top", weight="bold")
        draw.text(left + wide / 2, -0.76, _arrows(way), OPERATION, COLORS["plain"], va="top")
    counted = "; ".join(f"{name} by {_arrows(way)}" for name, (_, way) in panels.items())
    return draw.finish(
        f"How the first of {length} tokens reaches the last position: {counted}. The shortest way is drawn in strong arrows; "
        "filled circles are what depends on the first token."
    )


def _panel(draw: Drawing, left: float, feeds: Callable[[Node], set[Node]], way: Sequence[Node], length: int) -> None:
    rows = max(row for row, _ in way)
    reached, arrows = _reached(feeds, way[0], rows)
    rise = RISE if rows > 1 else ALONE

    def at(node: Node) -> tuple[float, float]:
        return left + STEP * node[1], rise * node[0]

    strong = set(zip(way, way[1:], strict=False))
    for start, end in sorted(arrows - strong):
        draw.line([at(start), at(end)], FAR, 0.9, zorder=2)
    for start, end in strong:
        (x, y), (to_x, to_y) = at(start), at(end)
        reach = ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5
        cut_x, cut_y = RADIUS * (to_x - x) / reach, RADIUS * (to_y - y) / reach
        draw.arrow((x + cut_x, y + cut_y), (to_x - cut_x, to_y - cut_y), color=COLORS["plain"], width=1.9)
    for row in range(rows + 1):
        for position in range(length):
            node = (row, position)
            face = COLORS["plain"] if node in way else SHADES["plain"](0.22) if node in reached else "white"
            draw.node(*at(node), RADIUS, face, INK if node in reached else SOFT)
    draw.text(left, -0.2, "first", LABEL, SOFT, va="top")
    draw.text(left + STEP * (length - 1), -0.2, "last", LABEL, SOFT, va="top")


def _reached(feeds: Callable[[Node], set[Node]], start: Node, rows: int) -> tuple[set[Node], set[tuple[Node, Node]]]:
    """What depends on a node, as far up as the rows go, and by which arrows."""
    reached, arrows, waiting = {start}, set(), [start]
    while waiting:
        node = waiting.pop()
        for after in feeds(node):
            if after[0] <= rows:
                arrows.add((node, after))
                if after not in reached:
                    reached.add(after)
                    waiting.append(after)
    return reached, arrows


def _arrows(way: Sequence[Node]) -> str:
    count = len(way) - 1
    return f"{count} arrow{'s' if count != 1 else ''}"
