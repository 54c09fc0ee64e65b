"""The class page's pictures, as SVG in the page, each with its text alternative."""

import html
import math
from collections.abc import Sequence

from .outcomes import KINDS

NARROWEST = 5  # per cent of the width that a number needs
BINS = 20
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 190, 34, 34, 14


def legend() -> str:
    """Which color is what."""
    swatch = (
        '<svg width="12" height="12" aria-hidden="true"><rect width="12" height="12" rx="2" class="fill-{}"/></svg>'
    )
    items = "".join(f"<span>{swatch.format(kind)} {html.escape(label)}</span>" for kind, label in KINDS.items())
    return f'<p class="legend">{items}</p>'


def shares(counts: dict[str, int]) -> str:
    """One bar: how many of the class ended how.

    Args:
        counts: Kind of outcome (``outcomes.KINDS``) -> students.
    """
    total = sum(counts.values())
    parts, left = [], 0.0
    for kind in KINDS:
        count = counts.get(kind, 0)
        if not count:
            continue
        width = 100 * count / total
        parts.append(
            f'<rect x="{left:.3f}%" width="{width:.3f}%" height="22" class="fill-{kind}">'
            f"<title>{count} {html.escape(KINDS[kind])}</title></rect>"
        )
        if width >= NARROWEST:
            parts.append(f'<text x="{left + width / 2:.3f}%" y="16" text-anchor="middle" class="inside">{count}</text>')
        left += width
    label = ", ".join(f"{counts[kind]} {KINDS[kind]}" for kind in KINDS if counts.get(kind)) or "nobody"
    return f'<svg class="bar" height="22" role="img" aria-label="{html.escape(label)}">{"".join(parts)}</svg>'


def histogram(totals: Sequence[float], best: float) -> str:
    """How many students have how many points.

    Args:
        totals: Of each student.
        best: What can be earned; whoever has more stands in the last bin.
    """
    step = max(1, math.ceil(best / BINS))
    bins = [0] * (math.floor(best / step) + 1)
    for total in totals:
        bins[min(max(0, math.floor(total / step)), len(bins) - 1)] += 1
    tallest = max([1, *bins])
    width = (WIDTH - LEFT) / len(bins)
    parts, counted = [], []
    for index, count in enumerate(bins):
        low, high = index * step, min((index + 1) * step - 1, best)
        label = f"{low:g}" if high <= low else f"{low:g}\N{EN DASH}{high:g}"
        height = (HEIGHT - BOTTOM - TOP) * count / tallest
        x, y = LEFT + index * width, HEIGHT - BOTTOM - height
        if count:
            parts.append(
                f'<rect x="{x + 1:.1f}" y="{y:.1f}" width="{width - 2:.1f}" height="{height:.1f}" class="fill-right"/>'
            )
            parts.append(f'<text x="{x + width / 2:.1f}" y="{y - 3:.1f}" text-anchor="middle">{count}</text>')
            counted.append(f"{count} with {label}")
        every = math.ceil(len(bins) * 28 / (WIDTH - LEFT))  # labels that have room
        if index % every == 0:
            parts.append(f'<text x="{x + width / 2:.1f}" y="{HEIGHT - 18}" text-anchor="middle">{label}</text>')
    base = HEIGHT - BOTTOM
    parts.append(f'<line x1="{LEFT}" x2="{WIDTH}" y1="{base}" y2="{base}" class="axis"/>')
    parts.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 2}" text-anchor="middle">points of {best:g}</text>')
    parts.append(f'<text x="2" y="{TOP}">students</text>')
    alternative = html.escape(f"Students by points of {best:g}: {', '.join(counted) or 'nobody'}")
    return f'<svg class="histogram" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{alternative}">{"".join(parts)}</svg>'
