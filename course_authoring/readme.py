"""The table of lessons in the README, made from the sources."""

import re
from pathlib import Path

from .errors import AuthoringError
from .source import Source

BEGIN, END = "<!-- lessons: made by `make build`, do not edit -->", "<!-- end of lessons -->"
COLUMNS = "| | Lesson | Short path | Everything | Exercises |\n|---|---|---|---|---|"


def readme_text(root: Path, sources: list[Source]) -> str:
    """The README as it should read: everything outside the two marker comments as it stands.

    Raises:
        AuthoringError: The markers are missing.
    """
    text = (root / "README.md").read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise AuthoringError(f"needs one line {BEGIN!r} and one line {END!r}", "README.md")
    exercises = {source.stem: len(source.exercises) for source in sources if source.kind == "exercise"}
    rows = [_row(source, exercises.get(source.stem, 0)) for source in sources if source.kind == "lesson"]
    table = "\n".join([BEGIN, COLUMNS, *rows, END])
    return re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: table, text, flags=re.DOTALL)


def _row(lesson: Source, exercises: int) -> str:
    number, _, title = lesson.title.partition(" · ")
    short_path, everything = lesson.times
    return f"| {number} | [{title}](notebooks/{lesson.stem}.ipynb) | {short_path} | {everything} | {exercises} |"
