"""The table of lessons in the README, made from the sources."""

import re
from pathlib import Path

from .errors import AuthoringError
from .links import colab_link
from .source import Source

BEGIN, END = "<!-- lessons: made by `make build`, do not edit -->", "<!-- end of lessons -->"


def readme_text(root: Path, sources: list[Source], address: str) -> str:
    """The README as it should read: everything outside the two marker comments as it stands.

    Raises:
        AuthoringError: The markers are missing.
    """
    text = (root / "README.md").read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise AuthoringError(f"needs one line {BEGIN!r} and one line {END!r}", "README.md")
    table = "\n".join([BEGIN, *_table(sources, address), END])
    return re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: table, text, flags=re.DOTALL)


def _table(sources: list[Source], address: str) -> list[str]:
    rows = ["| | Lesson | What you can do at the end | Exercises | Colab |", "|---|---|---|---|---|"]
    exercises = {source.stem: source for source in sources if source.kind == "exercise"}
    for source in sources:
        if source.kind != "lesson":
            continue
        number, _, title = source.title.partition(" · ")
        worked = exercises.get(source.stem)
        colab = [f"[lesson]({colab_link(address, f'notebooks/{source.stem}.ipynb')})"]
        points = ""
        if worked:
            total = sum(exercise.points for exercise in worked.exercises)
            points = f"[{len(worked.exercises)}, {total} points](exercises/{source.stem}.ipynb)"
            colab.append(f"[exercises]({colab_link(address, f'exercises/{source.stem}.ipynb')})")
        rows.append(
            f"| {number} | [{title}](notebooks/{source.stem}.ipynb) | {source.summary} | {points} | {', '.join(colab)} |"
        )
    return rows
