"""The student's page, and what every page has: it opens offline, runs nothing, loads nothing, reads well on paper too.

The templates stand in ``templates/``; jinja2 escapes whatever is put into them.
"""

import functools
import re
from typing import Any

import jinja2

from course_checks.catalogue import catalogue

from ..names import counted, printable
from ..outcomes import KINDS, words
from .gradebook import Mark, Work
from .lateness import describe_due

MOST_LINES = 60  # of a message


def page(student: str, label: str, result: dict, work: Work | None = None) -> str:
    """The student's page of one file's result; nothing that is right stands in it.

    ``work`` is what instructor and deadline make of the result, where that is known already.
    """
    if work is None or not work.marks:
        earned = sum(exercise["earned"] for exercise in result["exercises"])
        work = Work(earned=earned, points=earned)
    lines = [*result["restored"], *result["events"]]
    exercises = []
    for exercise in result["exercises"]:
        number = exercise["number"]
        is_about = re.compile(rf"(?<![\d.]){re.escape(number)}(?!\.?\d)")
        own = [line for line in lines if is_about.search(line)]
        lines = [line for line in lines if line not in own]
        mark = work.marks.get(number, Mark(exercise["earned"]))
        exercises.append({"exercise": exercise, "mark": mark, "lines": own})
    heading = f"Lesson {result['lesson']}: feedback" if result["lesson"] else "Feedback"
    file = {"student": student, "label": label, "result": result, "work": work}
    return render("feedback.html", heading=heading, exercises=exercises, lines=lines, **file)


def render(template: str, **values: Any) -> str:
    """A whole page."""
    return _environment().get_template(template).render(values)


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__name__.rpartition(".")[0]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {"KINDS": KINDS, "words": words, "title": title, "counted": counted}
    environment.filters |= {"line": printable, "lines": _lines, "visible": visible, "due": describe_due}
    environment.filters |= {"number": lambda value: f"{value:g}"}
    return environment


def title(number: str) -> str:
    """An exercise as people call it."""
    return f"{number} · {catalogue()[number].title}" if number in catalogue() else number


def visible(code: str) -> str:
    """A stranger's code as it is; what cannot be seen is shown as a sign."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in code)


def _lines(message: str) -> str:
    return "\n".join(printable(line, 500) for line in message.split("\n")[:MOST_LINES])
