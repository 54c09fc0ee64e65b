"""A page that says which mistakes each exercise's check knows by name."""

import re

from course_checks.deciding.find import all_entries

TITLE = "What the checks can tell"
INTRODUCTION = f"""# {TITLE}

A check compares an answer with the right one on inputs it has not seen, and where they differ it says what the answer
*looks like it did*. Below stand, for each exercise, the mistakes that its check knows by name, in the words it uses. Two of
them at once are recognized as well, and so is what can go wrong in any exercise: axes exchanged, a factor too many, an
argument ignored or changed in place, a gradient cut, rows that do not sum to 1.

Reading this list before you have tried an exercise takes away half of its use.
"""


def mistakes_page() -> str:
    """The page as Markdown."""
    lines, lesson = [INTRODUCTION], None
    for number, entry in all_entries().items():
        if number.split(".")[0] != lesson:
            lesson = number.split(".")[0]
            lines += [f"## Lesson {int(lesson):02d}", ""]
        sentences = [mistake.looks_like for mistake in getattr(entry, "known_mistakes", ())]
        points = f"{entry.points} point{'s' * (entry.points > 1)}"
        lines += [f"### {number} · {escaped(entry.title)}", "", f"{points} · {_kind(entry, len(sentences))}", ""]
        lines += [*(f"- {escaped(_sentence(text))}" for text in sentences), ""]
    return "\n".join(lines)


def _kind(entry: object, known: int) -> str:
    name = type(entry).__name__
    if name == "Quiz":
        return "a question with options; a wrong one is explained"
    if name == "Experiment":
        return "an experiment of the student's own; what was read off is compared with the student's own numbers"
    return f"{known} mistake{'s' * (known != 1)} known by name"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def escaped(text: str) -> str:
    """Text in which nothing is markup."""
    return re.sub(r"([\\`*_{}\[\]<>#$|~^])", r"\\\1", text)
