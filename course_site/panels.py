"""Where a figure of several panels may be cut, so that a phone shows the panels one below the other.

A cut is looked for in the picture itself: a blank band from top to bottom near the middle, or two near the thirds.
"""

import base64
import hashlib
import io
import re

import numpy as np
from matplotlib.image import imread
from nbformat import NotebookNode

PNG = "image/png"
WIDE = 700  # pixels; what is narrower needs hardly any scrolling on a phone
BAND = 0.0065  # share of the width that must be blank; between two words it is less
TALL = 0.3  # share of the height over which there is something beside a cut: an axis, its numbers; not one word
BESIDE = 0.03  # share of the width that counts as beside it
AS_WIDE = 0.7  # of the widest band; a name beside the bar of colors has about half of it
NEAR = 0.03  # how far from the middle, or from a third, a cut may be, as a share of the width
BLANK = 0.98  # of white
SIDES = re.compile(r"\b(?:left|right)\b", re.IGNORECASE)
IN_COLUMNS = re.compile(r"\bcolumns=[2-9]")  # how a lesson asks for axes side by side


def panels_of(notebook: NotebookNode) -> dict[str, list[float]]:
    """File name of a figure -> where it is cut, as shares of its width.

    Only figures that the text around them, or their alternative text, calls left and right, or whose cell asks for columns: any
    other one may be a single drawing that is blank somewhere.
    """
    found = {}
    for before, cell, after in zip([None, *notebook.cells], notebook.cells, [*notebook.cells[1:], None], strict=False):
        for output in cell.get("outputs", ()):
            if PNG not in output.get("data", {}):
                continue
            said = [near.source for near in (before, after) if near is not None and near.cell_type == "markdown"]
            said.append(output.metadata.get(PNG, {}).get("alt", ""))
            side_by_side = SIDES.search(" ".join(said)) or IN_COLUMNS.search(cell.source)
            if side_by_side and (places := cuts(base64.b64decode(output.data[PNG]))):
                found[file_name(output.data[PNG])] = places
    return found


def file_name(encoded: str) -> str:
    """What MyST-NB calls the file of a picture, without its ending: the SHA-256 of the bytes that are ``encoded`` in base64."""
    return hashlib.sha256(base64.b64decode(encoded)).hexdigest()


def cuts(png: bytes) -> list[float]:
    """Where a picture can be cut into panels that are about as wide as one another; empty: nowhere."""
    pixels = imread(io.BytesIO(png))  # (height, width, 3 or 4)
    if pixels.shape[1] < WIDE:
        return []
    bands = _bands(pixels)
    for number in (2, 3):
        chosen = [_first_wide_near(bands, k / number) for k in range(1, number)]
        if None not in chosen:
            return [round((start + end) / 2, 4) for start, end in chosen]
    return []


def _bands(pixels: np.ndarray) -> list[tuple[float, float]]:
    """Start and end of each blank band that lies between panels, as shares of the width."""
    opacity = pixels[..., 3:] if pixels.shape[-1] == 4 else np.ones_like(pixels[..., :1])
    ink = (pixels[..., :3] * opacity + 1 - opacity < BLANK).any(-1)  # (height, width)
    height, width = ink.shape
    columns = ink.any(0).tolist()
    edges = [x for x in range(1, width) if columns[x] != columns[x - 1]]
    reach = round(BESIDE * width)
    found = []
    for start, end in zip(edges, edges[1:], strict=False):
        beside = ink[:, start - reach : start], ink[:, end : end + reach]
        if not columns[start] and end - start >= BAND * width and max(map(_extent, beside)) >= TALL * height:
            found.append((start / width, end / width))
    return found


def _extent(ink: np.ndarray) -> int:
    """From the first to the last row in which there is something."""
    rows = np.flatnonzero(ink.any(1))
    return int(rows[-1] - rows[0]) + 1 if len(rows) else 0


def _first_wide_near(bands: list[tuple[float, float]], place: float) -> tuple[float, float] | None:
    """The first of those that are about as wide as the widest.

    The name of an axis is blank on both sides, and belongs to what is right of it.
    """
    near = [(start, end) for start, end in bands if start < place + NEAR and end > place - NEAR]
    widest = max((end - start for start, end in near), default=0)
    return next(((start, end) for start, end in near if end - start >= AS_WIDE * widest), None)
