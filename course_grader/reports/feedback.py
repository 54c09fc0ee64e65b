"""A page for the student: points, the same messages as in the notebook, and the own code. Nothing that is right stands in it."""

import re

from .gradebook import Mark, Work
from .outcomes import words
from .pages import render, title


def page(student: str, label: str, result: dict, work: Work | None = None) -> str:
    """The page of one file's result; ``work`` is what instructor and deadline make of it, where that is known already."""
    if work is None or not work.marks:
        earned = sum(exercise["earned"] for exercise in result["exercises"])
        work = Work(earned=earned, points=earned)
    lines = [*result["restored"], *result["events"]]
    exercises = []
    for exercise in result["exercises"]:
        number = exercise["number"]
        own = [line for line in lines if _is_about(line, number)]
        lines = [line for line in lines if line not in own]
        mark = work.marks.get(number, Mark(exercise["earned"]))
        found = {"title": title(number), "words": words(exercise["outcome"]), "mark": mark, "lines": own}
        exercises.append(found | {"exercise": exercise})
    return render(
        "feedback.html",
        title=f"Lesson {result['lesson']}: feedback" if result["lesson"] else "Feedback",
        student=student,
        label=label,
        result=result,
        work=work,
        exercises=exercises,
        lines=lines,
    )


def _is_about(line: str, number: str) -> bool:
    return re.search(rf"(?<![\d.]){re.escape(number)}(?!\.?\d)", line) is not None
