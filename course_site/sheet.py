"""The cheat sheet: ``python -m course_site.sheet`` writes two printable pages, as HTML and as PDF, into ``build/sheet``.

The words are in ``templates/sheet.html``, every number comes from ``sheet_numbers``, the pictures are the library's own.
"""

import argparse
import base64
import importlib.util
import io
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import torch
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from course_utils import diagrams, masks
from course_utils.diagrams.palette import COLORS
from course_utils.layers import EncoderLayer

from . import sheet_numbers
from .formulas import mathml
from .slides import environment

SMALLEST_PT = 7.5  # of any text on paper
DPI = 100  # at which a picture is looked at, to find where something is drawn
LARGER = 1.25  # the letters of the pictures, before all is made smaller
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Drawing:
    """One of the library's diagrams as it is printed.

    Attributes:
        src: The picture, SVG as a ``data:`` address.
        alt: What it shows, in words.
        width: In millimeters.
        smallest: Its smallest letters, in points, at that width.
    """

    src: str
    alt: str
    width: float
    smallest: float


def drawings() -> dict[str, Drawing]:
    """All pictures of the sheet by name, each as small as its letters allow."""
    torch.manual_seed(0)
    q, k = torch.tensor([[2.0, 0], [0, 2]]), torch.tensor([[2.0, 0], [0, 2], [1, 1]])
    v = torch.tensor([[8.0, 0], [4, 2], [0, 6]])
    tokens = torch.tensor([[1, 1, 1, 0]])
    allowed = {"padding": masks.padding_mask(tokens, 0), "causal": masks.causal_mask(4)}
    allowed["window 2"] = masks.sliding_window_mask(4, window=2)
    rotation = diagrams.rotation(*sheet_numbers.QUERY_AND_KEY, sheet_numbers.PLACES, frequency=sheet_numbers.FREQUENCY)
    return {
        "flow": drawing(diagrams.attention_flow(q, k, v, torch.tensor([[True, False, True], [True, True, True]]))),
        "masks": drawing(diagrams.mask_gallery(["I", "am", "up", "<pad>"], allowed), bottom=0.15, without="may"),
        "heads": drawing(diagrams.head_wiring(4, 2), without="heads,|cache|query attention"),
        "rotation": drawing(rotation, without="^query$|^key$|dotted"),
        "norms": drawing(diagrams.straight_streams({"pre-norm": EncoderLayer(8, 2, 16)}, torch.randn(1, 3, 8))),
        "induction": drawing(diagrams.induction("q f q".split())),
        "cache": drawing(diagrams.cache_strip("A B C D E".split(), 2), without="computes|computed"),
    }


def drawing(ax: Axes, *, bottom: float = 0.0, without: str = "") -> Drawing:
    """A diagram as SVG, larger letters in a smaller picture.

    Args:
        ax: What a function of ``course_utils.diagrams`` handed back.
        bottom: What share of its height is cut off below.
        without: Texts in which this pattern is found are left out: the sheet says it in words.
    """
    figure, sizes = ax.figure, []
    for text in figure.findobj(Text):
        text.set_fontsize(LARGER * text.get_fontsize())
        if without and re.search(without, text.get_text()):
            text.set_visible(False)
        if text.get_text().strip() and text.get_visible():
            sizes.append(text.get_fontsize())
    figure.canvas.draw()
    figure.set_layout_engine("none")  # so that nothing moves when it is saved
    box = _drawn(figure)
    box = Bbox.from_extents(box.x0, box.y0 + bottom * box.height, box.x1, box.y1)
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "sheet"}):  # the same bytes each time
        figure.savefig(buffer, format="svg", bbox_inches=box.padded(0.06), metadata={"Date": None})
    scale = SMALLEST_PT / min(sizes)
    address = f"data:image/svg+xml;base64,{base64.b64encode(buffer.getvalue()).decode()}"
    return Drawing(address, str(ax.get_label()), round(float(scale * box.width * 25.4), 1), scale * min(sizes))


def _drawn(figure: Figure) -> Bbox:
    """The part of a figure, in inches, in which something is drawn."""
    whole, buffer = figure.get_tightbbox().padded(0.1), io.BytesIO()
    figure.savefig(buffer, format="png", bbox_inches=whole, dpi=DPI, facecolor="white")
    buffer.seek(0)
    ink = torch.from_numpy(imread(buffer)[..., :3] < 0.98).any(-1)  # (height, width)
    down, across = (ink.any(axis).nonzero()[:, 0] / DPI for axis in (1, 0))
    pixel = 1 / DPI
    return Bbox.from_extents(
        whole.x0 + across.min(), whole.y1 - down.max() - pixel, whole.x0 + across.max() + pixel, whole.y1 - down.min()
    )


def sheet_html(back: str = "") -> str:
    """Both pages as one HTML file that needs no other; with a link to ``back``, which is seen on a screen alone."""
    template = environment().get_template("sheet.html")
    return template.render(
        back=back,
        n=sheet_numbers.all_numbers(),
        pictures=drawings(),
        colors=COLORS,
        f=lambda tex: Markup(mathml(tex)),
        d=lambda tex: Markup(mathml(tex, display=True)),
    )


def write_sheet(folder: Path, back: str = "") -> bool:
    """Write ``index.html`` and, where a browser is here, ``cheat-sheet.pdf``; hand back whether there is a PDF."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    page.write_text(sheet_html(back), encoding="utf-8")
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None or importlib.util.find_spec("playwright") is None:
        print(
            "no PDF of the cheat sheet: that takes Chromium and pip install -e '.[browser]'; its page prints the same"
        )
        return False
    print_pdf(page, folder / "cheat-sheet.pdf", browser)
    return True


def print_pdf(page: Path, pdf: Path, browser: str) -> None:
    """Print a page of this machine by a browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])  # root has none
        tab = running.new_page()
        tab.goto(page.resolve().as_uri())
        tab.pdf(path=pdf, prefer_css_page_size=True, print_background=True)
        running.close()


def sheet_page(has_pdf: bool) -> str:
    """The site's page that leads to the sheet, in Markdown."""
    pdf = ' · <a href="../sheet/cheat-sheet.pdf">PDF, two pages A4</a>' if has_pdf else ""
    return (
        "# Cheat sheet\n\nShapes, formulas, masks, caches and counts on two pages to print. Each block names the lesson that\n"
        "explains it. Numbers and pictures come from the course's library whenever the site is built.\n\n"
        f'<p><a href="../sheet/index.html">Open the cheat sheet</a>{pdf}</p>\n'
    )


def main(arguments: list[str] | None = None) -> int:
    """Write it; returns the process's exit status."""
    parser = argparse.ArgumentParser(prog="python -m course_site.sheet", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/sheet"), help="where to (default: build/sheet)")
    folder = parser.parse_args(arguments).output
    has_pdf = write_sheet(folder)
    print(f"{folder / 'index.html'}{' and cheat-sheet.pdf' if has_pdf else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
