"""A page for the student: points, the same messages as in the notebook, and the own code. Nothing that is right stands in it."""

import html
import re

from course_checks.catalogue import catalogue

from ..names import printable
from .gradebook import Mark, Work
from .html_page import code, document, text
from .lateness import describe_due
from .outcomes import words

STYLE = """
.head{display:flex;justify-content:space-between;gap:1rem;font-weight:600;flex-wrap:wrap}
.total{font-size:1.2rem;font-weight:600;margin:.4rem 0}
p{margin:.4rem 0}.hand{border-left:3px solid var(--limits);padding-left:.6rem}
""".strip()


def page(student: str, label: str, result: dict, work: Work | None = None) -> str:
    """The student's page.

    Args:
        student: As the folder is called.
        label: What the file is called.
        result: Of ``grade_one``.
        work: What the instructor and the deadline make of it, where that is known already.
    """
    title = f"Lesson {result['lesson']}: feedback" if result["lesson"] else "Feedback"
    parts = [f"<h1>{text(title)}</h1>", f'<p class="meta">{text(student)} · {text(label or "no file")}</p>']
    if result["problem"]:
        why = f"<pre>{text(result['problem'], 400)}</pre>"
        parts.append(f'<section class="stopped"><div class="head">This file could not be graded</div>{why}</section>')
    else:
        parts += _points(result, work or Work())
    lines = [*result["restored"], *result["events"]]
    marks = work.marks if work else {}
    for exercise in result["exercises"]:
        own = [line for line in lines if _is_about(line, exercise["number"])]
        lines = [line for line in lines if line not in own]
        parts.append(_section(exercise, own, marks.get(exercise["number"], Mark())))
    if lines:
        items = "".join(f"<li>{text(line, 300)}</li>" for line in lines)
        parts.append(f"<h2>About the notebook</h2><ul>{items}</ul>")
    return document(title, parts, STYLE)


def _points(result: dict, work: Work) -> list[str]:
    """The sum, what lateness took off, what the instructor decided."""
    total, earned = (sum(exercise[part] for exercise in result["exercises"]) for part in ("points", "earned"))
    known = bool(work.marks)
    final = work.points if known else earned
    parts = [f'<p class="total">{final:g} of {total:g} points</p>']
    if work.due is not None:
        parts.append(f'<p class="meta">Due {describe_due(work.due.due)}</p>')
    if work.days:
        day = "1 day" if work.days == 1 else f"{work.days} days"
        policy = f" ({work.due.policy})" if work.due and work.due.policy else ""
        if work.decided or final == work.earned:
            parts.append(f"<p>Handed in {day} late.</p>")
        else:
            kept = f"{work.earned:g} points before that, {final:g} after it"
            parts.append(f"<p>Handed in {day} late{text(policy)}: {kept}. A day that has begun counts as a day.</p>")
    if known and work.decided:
        parts.append(
            f'<p class="hand">Your instructor set the points of this lesson by hand (before: {work.earned:g}).</p>'
        )
    if work.comment:
        parts.append(f'<p class="hand">Your instructor writes: {text(work.comment, 2_000)}</p>')
    return parts


def _section(exercise: dict, lines: list[str], mark: Mark) -> str:
    outcome, number = words(exercise["outcome"]), exercise["number"]
    name = f"{number} · {catalogue()[number].title}" if number in catalogue() else number
    earned = exercise["earned"] if mark.before is None else mark.earned
    parts = [
        f'<section class="{outcome.kind}"><div class="head"><span>{text(name)}</span>'
        f"<span>{text(outcome.heading)}, {earned:g} of {exercise['points']:g}</span></div>"
    ]
    if mark.before is not None:
        before = f"before: {mark.before:g}"
        parts.append(f'<p class="hand">Your instructor set these points by hand ({before}).</p>')
    if mark.comment:
        parts.append(f'<p class="hand">Your instructor writes: {text(mark.comment, 2_000)}</p>')
    repeats = exercise["message"] and outcome.kind in ("empty", "stopped")  # the message says it already
    if outcome.meaning and not repeats:
        parts.append(f"<p>{text(outcome.meaning, 300)}</p>")
    if exercise["message"]:
        parts.append(f"<pre>{html.escape(_lines(exercise['message']))}</pre>")
    parts += [f"<p>{text(line[:1].upper() + line[1:], 300)}.</p>" for line in lines]
    if source := exercise.get("code", ""):
        shown = " open" if outcome.kind not in ("right", "empty") else ""
        parts.append(f"<details{shown}><summary>What you handed in</summary>{code(source)}</details>")
    return "".join([*parts, "</section>"])


def _lines(message: str) -> str:
    return "\n".join(printable(line, 500) for line in message.split("\n")[:60])


def _is_about(line: str, number: str) -> bool:
    return re.search(rf"(?<![\d.]){re.escape(number)}(?!\.?\d)", line) is not None
