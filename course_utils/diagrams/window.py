"""A cache with a window: which positions of the text it keeps, and the place in the cache that each is turned to."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from .drawing import Drawing
from .formatting import checked_labels, shortened
from .palette import CELL, COLORS, LABEL, NUMBER, SOFT

MAX_CELLS = 20  # of the text, in all panels: with more of them the letters could not be read on a page
UP = 1.1  # inches from the cache to the text above it


def window_places(tokens: Sequence[str], caches: Sequence[tuple[int, int]]) -> Axes:
    """The text above, what a cache keeps of it below; side by side for each cache.

    Args:
        tokens: The text so far; the last is the newest. Times the number of caches, at most 20.
        caches: ``(window, sinks)`` of each: how many of the latest positions it keeps, and how many first ones.

    Source:
        Xiao et al., "Efficient Streaming Language Models with Attention Sinks", 2023, figure 4.
    """
    length = len(tokens)
    if not 1 <= length * len(caches) <= MAX_CELLS:
        raise ValueError(f"tokens ({length}) times caches ({len(caches)}) must be at least 1 and at most {MAX_CELLS}")
    words = [shortened(word, 3) for word in checked_labels(tokens, length, "tokens")]
    draw, left, said = Drawing(), 0.0, []
    for window, sinks in caches:
        if window < 1 or sinks < 0 or window + sinks > length:
            raise ValueError(
                f"window ({window}) must be at least 1, sinks ({sinks}) at least 0, and both together at most {length}, "
                "the number of tokens"
            )
        kept = [*range(sinks), *range(length - window, length)]
        name = f"first {sinks} and latest {window}" if sinks else f"latest {window}"
        indent = (length - len(kept)) / 2 * CELL  # the cache stands under the middle of the text
        for place, position in enumerate(kept):
            top, bottom = left + (position + 0.5) * CELL, left + indent + (place + 0.5) * CELL
            draw.line([(top, UP), (bottom, CELL)], COLORS["plain" if position < sinks else "cache"], 1.0)
        for position, word in enumerate(words):
            role = "plain" if position < sinks else "cache" if position in kept else "mask"
            draw.box(left + position * CELL, UP, CELL, CELL, word, role, fill=0.2 if position in kept else 0.0)
            draw.text(left + (position + 0.5) * CELL, UP + CELL + 0.1, str(position), NUMBER, SOFT)
        for place, position in enumerate(kept):
            role = "plain" if position < sinks else "cache"
            draw.box(left + indent + place * CELL, 0.0, CELL, CELL, words[position], role, fill=0.2)
            draw.text(left + indent + (place + 0.5) * CELL, -0.1, str(place), NUMBER, COLORS[role])
        draw.text(left, UP + CELL + 0.36, name, LABEL, ha="left", weight="bold")
        if not said:
            draw.text(left - 0.12, UP + CELL / 2, "text", LABEL, ha="right")
            draw.text(left - 0.12, CELL / 2, "cache", LABEL, ha="right")
            draw.text(left - 0.12, -0.1, "place in the cache", NUMBER, SOFT, ha="right")
            draw.text(left - 0.12, UP + CELL + 0.1, "position", NUMBER, SOFT, ha="right")
        places = ", ".join(f"{position} at place {place}" for place, position in enumerate(kept))
        said.append(f"{name}: it holds position {places}")
        left += length * CELL + 0.5
    return draw.finish(f"What a cache keeps of {length} positions. " + ". ".join(said) + ".")
