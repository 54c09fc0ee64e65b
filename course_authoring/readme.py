"""The list of lessons in the README, made from the sources."""

import re
import textwrap
from pathlib import Path

from .errors import AuthoringError
from .source import Source

BEGIN, END = "<!-- lessons: made by `make build`, do not edit -->", "<!-- end of lessons -->"
WIDTH = 120


def readme_text(root: Path, sources: list[Source]) -> str:
    """The README as it should read: everything outside the two marker comments as it stands.

    Raises:
        AuthoringError: The markers are missing.
    """
    text = (root / "README.md").read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise AuthoringError(f"needs one line {BEGIN!r} and one line {END!r}", "README.md")
    lessons = "\n".join([BEGIN, *_lessons(sources), END])
    return re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: lessons, text, flags=re.DOTALL)


def _lessons(sources: list[Source]) -> list[str]:
    lines, exercises = [], {source.stem: source for source in sources if source.kind == "exercise"}
    for source in sources:
        if source.kind != "lesson":
            continue
        number, _, title = source.title.partition(" · ")
        summary = source.summary.removeprefix("By the end you can ")
        entry = f"- {number} [{title}](notebooks/{source.stem}.ipynb). {summary[:1].upper()}{summary[1:]}"
        if worked := exercises.get(source.stem):
            entry += f" [{len(worked.exercises)} exercises](exercises/{source.stem}.ipynb)."
        lines += textwrap.wrap(entry, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return lines
