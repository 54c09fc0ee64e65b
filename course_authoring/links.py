"""Links from one notebook to another. They work in JupyterLab, on GitHub and, by a link of its own, in Colab."""

import re
from dataclasses import dataclass
from pathlib import Path

from .source import Source

TITLE = re.compile(r"^# # (\d\d · )?(.+?) *$", re.MULTILINE)


@dataclass(frozen=True)
class Outline:
    """What a notebook must know of the others to link them.

    Args:
        address: The repository's public address; None: it has none, and nothing links to Colab.
        lessons: Stem -> title of every lesson, in order.
        exercises: Stems that have exercises.
    """

    address: str | None
    lessons: dict[str, str]
    exercises: frozenset[str]

    @classmethod
    def read(cls, root: Path, address: str | None) -> "Outline":
        """From the names and titles of the sources; a source may be broken otherwise."""
        lessons = {}
        for path in sorted((root / "sources" / "lessons").glob("*.py")):
            title = TITLE.search(path.read_text(encoding="utf-8", errors="replace"))
            lessons[path.stem] = title.group(2) if title else path.stem
        exercises = (root / "sources" / "exercises").glob("*.py")
        return cls(address, lessons, frozenset(path.stem for path in exercises))

    def after(self, stem: str) -> str | None:
        """The stem of the lesson that follows; None after the last."""
        return next((later for later in sorted(self.lessons) if later[:2] > stem[:2]), None)


def colab_link(address: str, path: str) -> str:
    """Where Colab opens the notebook at ``path`` of the repository's main branch."""
    repository = re.sub(r"^https://github\.com/", "", address)
    return f"https://colab.research.google.com/github/{repository}/blob/main/{path}"


def placeholders(source: Source, outline: Outline, path: str) -> dict[str, str]:
    """What the placeholders in the Markdown of a source stand for.

    Args:
        source: The source.
        outline: The lessons and exercises there are.
        path: The notebook that its own Colab link opens.

    Returns:
        Name -> Markdown. A link that would lead nowhere (to the lesson after the last one) is left out; Colab's is empty.
    """
    stem, address = source.stem, outline.address
    # no badge: it would be loaded from elsewhere, and pages are read offline
    values = {"colab_link": f"[▶ Open in Colab]({colab_link(address, path)})" if address else ""}
    if source.kind == "tour":
        for lesson, title in outline.lessons.items():
            text = f"lesson {lesson[:2]}, {title}"
            values[f"lesson_{lesson[:2]}"] = _both(address, text, f"notebooks/{lesson}.ipynb")
        return values
    following = outline.after(stem)
    if stem in outline.exercises:
        values["exercises_link"] = _both(address, "exercises", f"exercises/{stem}.ipynb")
    if stem in outline.lessons:
        values["lesson_link"] = _both(address, f"lesson {stem[:2]}", f"notebooks/{stem}.ipynb")
    if following is not None:
        name = f"lesson {following[:2]}, {outline.lessons[following]}"
        values["next_lesson_link"] = _both(address, name, f"notebooks/{following}.ipynb")
    if source.kind == "exercise":
        onward = "That's all for this lesson. Go on to {next_lesson_link}."
        end = "That was the last exercise of the course. Well done!"
        values["next_steps"] = (onward if following else end).format(**values)
    elif "exercises_link" in values:
        onward = "Now do the {exercises_link}. After that, go on to {next_lesson_link}."
        end = "Now do the {exercises_link}. They are the last ones: after them you have finished the course."
        values["next_steps"] = (onward if following else end).format(**values)
    return values


def _both(address: str | None, text: str, path: str) -> str:
    """A relative link (every notebook is built one folder deep) and, since Colab follows none of those, one for Colab."""
    link = f"[{text}](../{path})"
    return f"{link} ([in Colab]({colab_link(address, path)}))" if address else link
