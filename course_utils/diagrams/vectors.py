"""Vectors: a map of words, and queries and keys that are turned by their positions."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from .drawing import Drawing
from .formatting import checked_labels, number, shortened
from .palette import COLORS, LABEL, NAME, SHAPE, SOFT


def word_map(
    vectors: Float[Tensor, "n d"], words: Sequence[str], *, near: Sequence[tuple[str, str]] = (), title: str = ""
) -> Axes:
    """Words at places in the plane: the two directions in which their vectors differ most (principal components).

    Args:
        vectors: One for each word.
        words: At most 40 of them.
        near: Pairs to join by a line.
        title: Written above.
    """
    words = checked_labels(words, len(vectors), "words")
    if not 2 <= len(words) <= 40:
        raise ValueError(f"words ({len(words)}) must be 2 to 40: more of them cannot be read on one map")
    centered = vectors.detach().double() - vectors.detach().double().mean(0)  # (n, d)
    _, sizes, directions = torch.linalg.svd(centered, full_matrices=False)
    directions = directions[:2] * directions[:2].sum(1, keepdim=True).sign().where(
        directions[:2].sum(1, keepdim=True) != 0, 1
    )
    flat = centered @ directions.T  # (n, 2)
    flat = torch.nn.functional.pad(flat, (0, 2 - flat.shape[1]))
    share = float((sizes[:2] ** 2).sum() / (sizes**2).sum().clamp(min=1e-30))
    reach = (flat.max(0).values - flat.min(0).values).clamp(min=1e-9)
    spots = (flat - flat.min(0).values) / reach * torch.tensor([6.6, 3.8])  # inches
    draw, places = Drawing(), dict(zip(words, spots.tolist(), strict=True))
    taken = [(x - 0.05, y - 0.05, x + 0.05, y + 0.05) for x, y in places.values()]
    for a, b in near:
        if a not in places or b not in places:
            raise ValueError(f"near ({a!r}, {b!r}) must name two of the words")
        draw.line([tuple(places[a]), tuple(places[b])], COLORS["weights"], 1.2)
        steps = [((1 - t / 24), t / 24) for t in range(25)]
        middle = [[s * p + t * q for p, q in zip(places[a], places[b], strict=True)] for s, t in steps]
        taken += [(x - 0.01, y - 0.01, x + 0.01, y + 0.01) for x, y in middle]
    for word, (x, y) in places.items():
        draw.dot(x, y, COLORS["query"])
        text, height = shortened(word), 0.17
        width = draw.width_of(text)
        tries = _around(x, y, width, height)
        spot = min(tries, key=lambda s: sum(_touch(s, other) for other in taken))  # the first of the freest
        if not any(_touch(spot, other) for other in taken[len(places) :] if other[3] - other[1] > 0.1):
            taken.append(spot)  # a word without room keeps its dot
            if max(spot[1] - y, y - spot[3]) > 0.15:  # far from its dot: a thin line leads to it
                draw.line([(x, y), (x, spot[1] if spot[1] > y else spot[3])], SOFT, 0.7)
            draw.text(spot[0], spot[1] + height / 2, text, LABEL, ha="left")
    draw.text(0, 4.25, title, NAME, ha="left")
    draw.text(
        0,
        -0.45,
        f"two directions of {vectors.shape[1]}; they hold {share:.0%} of how the vectors differ",
        SHAPE,
        SOFT,
        ha="left",
    )
    return draw.finish(
        f"Map of {len(words)} word vectors in the two directions in which they differ most ({share:.0%} of the variance). "
        + (f"Joined: {', '.join(f'{a} and {b}' for a, b in near)}." if near else "")
    )


def _around(x: float, y: float, width: float, height: float) -> list[tuple[float, float, float, float]]:
    """Places for a word beside its dot: left, bottom, right, top."""
    corners = [(x + 0.08, y - height / 2), (x - 0.08 - width, y - height / 2)]
    for far in (0.07, 0.25, 0.42):
        corners += [
            (x - width / 2, y + far),
            (x - width / 2, y - far - height),
            (x + 0.05, y + far),
            (x - width, y - far - height),
        ]
    return [(left, bottom, left + width, bottom + height) for left, bottom in corners]


def _touch(a: tuple, b: tuple) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def rotation(
    query: Float[Tensor, " 2"], key: Float[Tensor, " 2"], places: Sequence[tuple[int, int]], *, frequency: float = 0.35
) -> Axes:
    """A query and a key turned by their positions: the angle between them follows from their distance alone.

    Args:
        query: One pair of features of a query.
        key: The same pair of a key.
        places: ``(position of the query, position of the key)``, a circle each.
        frequency: Radians a position.
    """
    q, k = query.detach().double(), key.detach().double()
    if q.shape != (2,) or k.shape != (2,) or not q.norm() or not k.norm():
        raise ValueError(
            f"query {tuple(query.shape)} and key {tuple(key.shape)} must be two numbers each, not both zero"
        )
    if not places:
        raise ValueError("places is empty: give at least one pair of positions")
    draw, radius, sentences = Drawing(), 0.95, []
    unit = radius * 0.95 / max(float(q.norm()), float(k.norm()))
    for place, (m, n) in enumerate(places):
        x, y = (place % 4) * 2.35, -(place // 4) * 2.95
        draw.ring(x, y, radius)
        turned = [_rotated(v, frequency * position) for v, position in ((q, m), (k, n))]
        for before, after, role in ((q, turned[0], "query"), (k, turned[1], "key")):
            draw.line([(x, y), (x + unit * before[0].item(), y + unit * before[1].item())], COLORS[role], 1.0, ":")
            end = (x + unit * after[0].item(), y + unit * after[1].item())
            draw.arrow((x, y), end, color=COLORS[role], width=2.2)
        score = float(turned[0] @ turned[1])
        draw.text(x, y + radius + 0.12, f"distance {m - n}", LABEL, va="bottom", weight="bold")
        draw.text(x, y - radius - 0.1, f"query at {m}, key at {n}", SHAPE, SOFT, va="top")
        draw.text(x, y - radius - 0.3, f"q · k = {number(score)}", LABEL, COLORS["scores"], va="top")
        sentences.append(f"query at {m}, key at {n}: {number(score)}")
    rows = (len(places) - 1) // 4
    bottom = -rows * 2.95 - radius - 0.68
    draw.text(-radius, bottom, "query", LABEL, COLORS["query"], ha="left", weight="bold")
    draw.text(-radius + 0.55, bottom, "key", LABEL, COLORS["key"], ha="left", weight="bold")
    draw.text(-radius + 0.95, bottom, "dotted: before they were turned", SHAPE, SOFT, ha="left")
    return draw.finish(
        "Rotary positions in one plane; equal distance, equal dot product. " + "; ".join(sentences) + "."
    )


def _rotated(vector: Tensor, angle: float) -> Tensor:
    cos, sin = math.cos(angle), math.sin(angle)
    return torch.tensor([[cos, -sin], [sin, cos]], dtype=vector.dtype) @ vector


def clock_hands(places: Sequence[int], d: int, *, base: float = 10000.0) -> Axes:
    """Sinusoidal positions as the hands of clocks: a row a position, a clock for each pair of features.

    The hand of pair ``i`` points at (sine, cosine) of ``position * base ** (-2 i / d)``: up at position 0, then clockwise.

    Args:
        places: The positions.
        d: Size of the vectors, even; pairs beyond the eighth are not drawn.
        base: Pair ``i`` comes round once in ``2 pi base ** (2 i / d)`` positions.
    """
    if not places or d < 2 or d % 2:
        raise ValueError(f"places ({len(places)}) must not be empty, and d ({d}) must be even and at least 2")
    draw, radius, step, pairs = Drawing(), 0.32, 0.92, min(d // 2, 8)
    angles = [[place * base ** (-2 * i / d) for i in range(pairs)] for place in places]
    for i in range(pairs):
        around = 2 * math.pi * base ** (2 * i / d)
        draw.text(i * step, 0.62, f"pair {i}", LABEL, COLORS["position"], weight="bold")
        draw.text(i * step, 0.44, f"round in {around:,.0f}", SHAPE - 1.5, SOFT)
    for row, place in enumerate(places):
        y = -row * 0.78
        draw.text(-0.45, y, f"position {place}", LABEL, ha="right")
        for i, angle in enumerate(angles[row]):
            end = (i * step + 0.95 * radius * math.sin(angle), y + 0.95 * radius * math.cos(angle))
            draw.ring(i * step, y, radius)
            draw.arrow((i * step, y), end, color=COLORS["position"], width=2.0)
    moved = ", ".join(f"{math.degrees(angle):,.0f}" for angle in angles[-1])
    return draw.finish(
        f"Positions {', '.join(map(str, places))} as clocks, {pairs} each, one for a pair of features. All hands point up at "
        f"position 0. At position {places[-1]} they have turned by {moved} degrees: the first is fast, each next one slower."
    )
