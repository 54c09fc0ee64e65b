"""``report.html``: the class at a glance, and everything that wants a person's eye, on one page."""

import re
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from course_checks.catalogue import catalogue

from .gradebook import Gradebook, Reason, Student
from .html_page import code, document, text
from .lateness import describe_due
from .outcomes import words
from .pictures import histogram, legend, shares
from .results_folder import StoredResults
from .same_answers import Same, SameAnswers
from .table import lateness

MOST_MISTAKES, MOST_NAMES, MOST_SAME = 25, 12, 50
SAYS = re.compile(r"^It looks like: (.*?)(?=^\w[\w ]*: |\Z)", re.MULTILINE | re.DOTALL)
STYLE = """
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;font-size:.85rem;color:var(--faint)}
.rows{display:grid;grid-template-columns:minmax(9rem,34%) 1fr 4.5rem;gap:.35rem .8rem;align-items:center;font-size:.92rem}
.rows .mean{text-align:right;color:var(--faint);font-size:.85rem}.bar{width:100%;display:block;border-radius:3px}
.histogram{width:100%;max-width:44rem;height:auto}svg text{font:12px system-ui,sans-serif;fill:var(--text)}
svg text.inside{fill:var(--back);font-weight:600}.axis{stroke:var(--faint)}
.fill-right{fill:var(--right)}.fill-wrong{fill:var(--wrong)}.fill-limits{fill:var(--limits)}
.fill-stopped{fill:var(--stopped)}.fill-empty{fill:var(--empty)}
table{border-collapse:collapse;width:100%;font-size:.92rem}td,th{border-bottom:1px solid var(--line);padding:.35rem .6rem;
text-align:left;vertical-align:top}th{color:var(--faint);font-weight:500}td.n,th.n{text-align:right}.n,.one{white-space:nowrap}
.beside{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:0 1rem}
@media(max-width:44rem){.beside{display:block}.rows{grid-template-columns:1fr 4.5rem}.rows span:nth-child(3n+1){grid-column:1/-1}}
nav a{margin-right:1rem}a{color:inherit}.faint{color:var(--faint);font-size:.85rem}
@media screen{.scroll pre.code{max-height:26rem;overflow:auto}}
""".strip()


@dataclass
class _Mistake:
    """One mistake by name: who made it, and what the check says of it."""

    students: list[str] = field(default_factory=list)
    says: str = ""


def class_page(book: Gradebook, results: StoredResults, same: SameAnswers) -> str:
    """The page.

    Args:
        book: The class.
        results: Where the results are; read one at a time.
        same: Knows what was handed out; nothing has been added to it.
    """
    mistakes: dict[tuple[str, str], _Mistake] = {}
    for student in book.students:
        for work in student.work.values():
            result = results.result(*work.entry.result) if work.entry else None
            for exercise in result["exercises"] if result else ():
                number = exercise["number"]
                same.add(number, student.name, exercise.get("code", ""))
                if exercise.get("mistake"):
                    mistake = mistakes.setdefault((number, exercise["mistake"]), _Mistake())
                    mistake.students.append(student.name)
                    mistake.says = mistake.says or _says(exercise["message"])
    parts = [*_top(book), legend()]
    for lesson in book.lessons:
        parts += _lesson(book, lesson)
    parts += [*_mistakes(mistakes), *_review(book, results), *_same(same.groups()), *_lists(book)]
    return document("The class", parts, STYLE)


def _top(book: Gradebook) -> list[str]:
    handed_in = sum(student.handed_in for student in book.students)
    count = f"{len(book.students)} students, {handed_in} handed something in"
    lessons = ", ".join(book.lessons) or "none"
    places = {
        "mistakes": "Mistakes",
        "review": "To be looked at",
        "same": "Same answers",
        "lists": "Late, by hand, not graded",
    }
    links = "".join(f'<a href="#{place}">{name}</a>' for place, name in places.items())
    return ["<h1>The class</h1>", f'<p class="meta">{count} · lessons: {lessons}</p>', f"<nav>{links}</nav>"]


def _lesson(book: Gradebook, lesson: str) -> list[str]:
    works = [(student, student.work[lesson]) for student in book.students]
    totals = [work.points for _, work in works if work.is_there]
    best = book.worth(lesson)
    parts = [f"<h2>Lesson {lesson}</h2>"]
    if lesson in book.settings.deadlines:
        deadline = book.settings.deadlines[lesson]
        policy = f"; late: {deadline.policy}" if deadline.policy else ""
        parts.append(f'<p class="meta">Due {describe_due(deadline.due)}{text(policy)}</p>')
    parts.append('<div class="rows"><span></span><span></span><span class="mean">mean</span>')
    for number, worth in book.lessons[lesson].items():
        marks = [work.marks[number] for _, work in works]
        counts = Counter(words(mark.outcome).kind if mark.outcome else "empty" for mark in marks)
        mean = statistics.fmean([mark.earned or 0.0 for mark in marks] or [0.0])
        title = f"{number} {catalogue()[number].title}" if number in catalogue() else number
        row = f"<span>{text(title)}</span>{shares(counts)}<span class='mean'>{mean:.1f} of {worth:g}</span>"
        parts.append(row)
    parts.append("</div>")
    if totals:
        middle = f"median {statistics.median(totals):g}, mean {statistics.fmean(totals):.1f} of {best:g}"
        parts.append(f"<h3>Points of the {len(totals)} who handed in: {middle}</h3>{histogram(totals, best)}")
    return parts


def _mistakes(mistakes: dict[tuple[str, str], _Mistake]) -> list[str]:
    parts = ['<h2 id="mistakes">The most common mistakes</h2>']
    if not mistakes:
        return [*parts, "<p>None that has a name.</p>"]
    ranked = sorted(mistakes.items(), key=lambda item: (-len(item[1].students), item[0]))
    rows = "".join(
        f'<tr><td class="n">{len(mistake.students)}</td><td class="one">{text(number)}</td>'
        f"<td><b>{text(_named(number, name), 300)}</b>{'. ' if mistake.says else ''}{text(mistake.says, 400)}"
        f'<br><span class="faint">{_names(mistake.students)}</span></td></tr>'
        for (number, name), mistake in ranked[:MOST_MISTAKES]
    )
    head = '<tr><th class="n">Students</th><th class="one">Exercise</th><th>Mistake</th></tr>'
    rest = f"<p>{len(ranked) - MOST_MISTAKES} rarer ones are left out.</p>" if len(ranked) > MOST_MISTAKES else ""
    return [*parts, f"<table>{head}{rows}</table>{rest}"]


def _named(number: str, name: str) -> str:
    if number in catalogue() and catalogue()[number].is_quiz:
        return f"answered {name}: {catalogue()[number].options.get(name, '')}".rstrip(": ")
    return name


def _says(message: str) -> str:
    sentence = SAYS.search(message)
    return " ".join(sentence[1].split()) if sentence else ""


def _same(groups: list[Same]) -> list[str]:
    parts = ['<h2 id="same">Same answers</h2>']
    if not groups:
        return [*parts, "<p>No two students handed in the same answer of some length.</p>"]
    rule = "The same but for blanks and comments. Short answers and those equal to the course's solution are left out. "
    parts.append(
        f'<p class="faint">{rule}It is a hint: students may have worked together, as they were allowed to.</p>'
    )
    rows = "".join(
        f'<tr><td class="n">{len(group.students)}</td><td class="one">{text(group.number)}</td><td>'
        f"{_names(group.students, 60)}<details><summary>their answer</summary>{code(group.code)}</details></td></tr>"
        for group in groups[:MOST_SAME]
    )
    head = '<tr><th class="n">Students</th><th class="one">Exercise</th><th>Who</th></tr>'
    parts.append(f'<table class="scroll">{head}{rows}</table>')
    return [*parts, *([f"<p>{len(groups) - MOST_SAME} smaller groups are left out.</p>"] if groups[MOST_SAME:] else [])]


def _review(book: Gradebook, results: StoredResults) -> list[str]:
    parts = ['<h2 id="review">To be looked at</h2>']
    students = [student for student in book.students if student.review]
    if not students:
        return [*parts, "<p>Nothing.</p>"]
    parts.append(f'<p class="faint">{len(students)} students. The same lines stand in review.csv.</p>')
    for student in students:
        for entry in dict.fromkeys(reason.entry for reason in student.review):
            reasons = [reason for reason in student.review if reason.entry == entry]
            parts += _file(student, reasons, results.result(*entry.result))
    return parts


def _file(student: Student, reasons: list[Reason], result: dict | None) -> list[str]:
    entry = reasons[0].entry
    where = f"lesson {entry.lesson}" if entry.lesson else "no lesson"
    lines = "".join(f"<li>{text(reason.text, 1_000)}</li>" for reason in reasons)
    parts = [f'<section class="limits scroll"><b><bdi>{text(student.name, 300)}</bdi></b> ']
    parts.append(f'<span class="faint">{text(entry.label or "no file", 300)}, {where}</span><ul>{lines}</ul>')
    exercises = result["exercises"] if result else []
    named = {number for reason in reasons for number in re.findall(r"\d{1,2}\.\d{1,2}", reason.text)}
    chosen = [exercise for exercise in exercises if exercise["number"] in named]
    rest = [exercise for exercise in exercises if exercise["number"] not in named]
    parts += [_exercise(exercise) for exercise in chosen]
    if rest:
        inner = "".join(_exercise(exercise) for exercise in rest)
        which = "the other exercises" if chosen else "the exercises"
        parts.append(f"<details><summary>{which} of this file</summary>{inner}</details>")
    return [*parts, "</section>"]


def _exercise(exercise: dict) -> str:
    status, points = words(exercise["outcome"]).status, f"{exercise['earned']:g} of {exercise['points']:g}"
    message = "<br>".join(text(line, 300) for line in exercise["message"].split("\n")[:20])
    verdict = f"<h3>{text(exercise['number'])}: {text(status)}, {points}</h3>{message}"
    answer = code(exercise["code"]) if exercise.get("code") else ""
    return f'<div class="beside"><div>{verdict}</div><div>{answer}</div></div>'


def _lists(book: Gradebook) -> list[str]:
    late, by_hand, missing = [], [], []
    for student in book.students:
        for lesson, work in student.work.items():
            if days := lateness(lesson, work):
                late.append((student.name, days))
            if work.decided:
                by_hand.append(
                    (student.name, f"lesson {lesson}: {work.points:g} instead of {work.earned:g}. {work.comment}")
                )
            elif work.comment:
                by_hand.append((student.name, f"lesson {lesson}: {work.comment}"))
            for number, mark in work.marks.items():
                if mark.before is not None:
                    by_hand.append(
                        (student.name, f"{number}: {mark.earned:g} instead of {mark.before:g}. {mark.comment}")
                    )
                elif mark.comment:
                    by_hand.append((student.name, f"{number}: {mark.comment}"))
        if not any(work.is_there for work in student.work.values()):
            missing.append((student.name, "; ".join(student.notes)))
    parts = ['<h2 id="lists">Late, by hand, not graded</h2>']
    for title, rows in (("Late", late), ("Decided by hand", by_hand), ("Nothing graded", missing)):
        if rows:
            parts += [f"<h3>{title}: {len({name for name, _ in rows})}</h3>", _table(rows)]
    return [*parts, "" if late or by_hand or missing else "<p>Nothing.</p>"]


def _table(rows: Iterable[tuple[str, str]]) -> str:
    lines = "".join(f"<tr><td><bdi>{text(name, 200)}</bdi></td><td>{text(note, 600)}</td></tr>" for name, note in rows)
    return f"<table>{lines}</table>"


def _names(students: Iterable[str], most: int = MOST_NAMES) -> str:
    names = list(dict.fromkeys(students))
    shown = " · ".join(f"<bdi>{text(name, 60)}</bdi>" for name in names[:most])
    return f"{shown} · and {len(names) - most} more" if len(names) > most else shown
