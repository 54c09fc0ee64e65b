"""Six slides a lesson, for instructors: ``python -m course_site.slides`` writes one HTML file each into ``build/slides``.

Each file is whole in itself: pictures, formulas, style and script are in it, and it asks no server for anything.
"""

import argparse
import sys
import tomllib
from pathlib import Path

import nbformat
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from .decks import deck
from .prose import to_html

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MOST_BYTES = 3_000_000  # of a file
PAGE = """# Slides

Six slides for each lesson, made from its own pictures, captions, questions and exercises: the goals, a question for the class,
two pictures, an exercise to do together, the recap. Each is one file that needs no network: save it, open it in any browser.

Go on with the arrow keys, the space bar or a clicker. A question keeps its answer to itself until you go on (or press `A`).
`F` fills the screen, and the browser prints the slides to a PDF, one a page.

"""


def environment() -> Environment:
    """The templates, in which a name that is not given is an error; ``md`` and ``line`` make HTML of Markdown."""
    made = Environment(loader=FileSystemLoader(HERE / "templates"), undefined=StrictUndefined, autoescape=True)
    made.filters["md"] = lambda text: Markup(to_html(text))
    made.filters["line"] = lambda text: Markup(to_html(text).strip().removeprefix("<p>").removesuffix("</p>"))
    return made


def write_slides(folder: Path) -> dict[str, str]:
    """Write the slides of every numbered lesson; file name -> title of the lesson.

    Raises:
        ValueError: A lesson lacks something that a slide needs, or its file would be larger than ``MOST_BYTES``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    template = environment().get_template("deck.html")
    chosen = tomllib.loads((HERE / "decks.toml").read_text(encoding="utf-8"))
    titles = {}
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        lesson, exercises = (
            nbformat.read(ROOT / kind / path.name, as_version=4) for kind in ("notebooks", "exercises")
        )
        contents = deck(lesson, exercises, path.stem, chosen.get(path.stem))
        text = template.render(deck=contents)
        if len(text.encode()) > MOST_BYTES:
            raise ValueError(f"{path.stem}: the slides have {len(text.encode()):,} bytes; at most {MOST_BYTES:,}")
        (folder / f"{path.stem}.html").write_text(text, encoding="utf-8")
        titles[f"{path.stem}.html"] = contents.title
    return titles


def slides_page(titles: dict[str, str]) -> str:
    """The site's page that leads to the slides, in Markdown."""
    links = [f'<li><a href="../slides/{name}">{title}</a></li>' for name, title in titles.items()]
    return "\n".join([PAGE, '<ul class="slides">', *links, "</ul>", ""])


def main(arguments: list[str] | None = None) -> int:
    """Write them; returns the process's exit status."""
    parser = argparse.ArgumentParser(prog="python -m course_site.slides", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/slides"), help="where to (default: build/slides)")
    folder = parser.parse_args(arguments).output
    print(f"{len(write_slides(folder))} files in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
