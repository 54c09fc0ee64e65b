"""Exercises that are answered on the page: what their check says of each answer, worked out when the site is built.

Nothing is worded here or in the page: every sentence of a diagnosis comes out of ``course_checks``, run on that answer.
"""

import copy
import functools
import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from course_checks.catalogue import catalogue
from course_checks.deciding.decide import decider
from course_checks.deciding.exercise import Exercise, Quiz
from course_checks.deciding.find import find
from course_checks.deciding.verdict import FAILS, LOOKS_LIKE, WIDTH, Verdict
from course_checks.running import observe_answer

from .one_case import ONE_CASE, OneCase

MEASURED = {"1.7", "3.7"}  # questions on numbers that only a run of the notebook's cells gives
YOURS = "{yours}"  # in the place of a typed number
OPTIONS = re.compile(r"^- \*\*[a-z]\.\*\*.*(?:\n(?:- |  ).*)*", re.MULTILINE)
HEADING = re.compile(r"\A#{2,3} (\d+\.\d+) · ")


def answered_here(stem: str) -> list[str]:
    """The numbers of the exercises that the page can judge of a lesson such as ``05_masking``, in order."""
    entries = [entry for entry in catalogue().values() if f"{entry.lesson:02d}" == stem[:2]]
    return [e.number for e in entries if e.number in ONE_CASE or (e.is_quiz and e.number not in MEASURED)]


@functools.cache
def judged(number: str) -> dict[str, Any]:
    """All that the page needs for one exercise, as plain data.

    Returns:
        ``kind`` and what its controls are made of; ``verdicts``, each with ``passed``, ``lines`` and ``remedy`` (what to try,
        told with the second failure); and for letters, cells, orders and counts ``answers``, from each answer that can be
        given to the index of its verdict. For a number ``right`` with its tolerances ``rtol`` and ``atol``, ``known``
        (pairs of a value and an index), and ``other``, the index for any other number, with ``{yours}`` in its place.
    """
    entry = find(number)
    if isinstance(entry, Quiz):
        decide = decider(entry, [])
        said = {letter: decide(observe_answer(letter, entry.call, [])) for letter in entry.explanations}
        return {"kind": "letter"} | _numbered(
            {letter: _told(verdict, verdict.text()) for letter, verdict in said.items()}
        )
    question = ONE_CASE[number]
    if question.control["kind"] == "number":
        return question.control | _known_numbers(entry, question)
    return question.control | _numbered({key: _one_case(verdict) for key, verdict in _all_results(entry, question)})


class _Unlisted(Exercise):
    """An exercise as its check would be if no mistake were listed: what can be seen in any exercise is left."""

    known_mistakes = ()


def for_results(exercise: Exercise) -> Exercise:
    """An exercise whose answers are results, not code: no call to watch, and no gradient to follow.

    With a single case two mistakes at once fit by chance, so pairs are not looked for.
    """
    return replace(exercise, off_limits=(), gradients=False, twice=False, most_operations=None, pairs=0)


def _unlisted(exercise: Exercise) -> Exercise:
    return _Unlisted(**{field.name: getattr(exercise, field.name) for field in fields(exercise)})


def verdict_on(exercise: Exercise, question: OneCase) -> Callable[[Any], Verdict]:
    """From a result to the verdict of an exercise on the one case."""
    decide, call = decider(exercise, [question.case]), exercise.call
    return lambda result: decide(observe_answer(lambda *_: result, call, [question.case]))


def mistaken(exercise: Exercise, question: OneCase) -> Iterator[Any]:
    """What comes out with each known mistake in the solution, where something comes out."""
    for mistake in exercise.known_mistakes:
        try:
            yield exercise.wrong(mistake)(*copy.deepcopy(list(question.case.values())))
        except Exception:  # noqa: BLE001, S112  a mistake may stop in any way
            continue


def _all_results(entry: Exercise, question: OneCase) -> Iterator[tuple[str, Verdict]]:
    exercise = for_results(entry)
    known = {question.key(result) for result in mistaken(exercise, question)}
    by_name, by_sight = (verdict_on(each, question) for each in (exercise, _unlisted(exercise)))
    for key in question.keys:
        yield key, (by_name if key in known else by_sight)(question.result(key))


def _known_numbers(entry: Exercise, question: OneCase) -> dict[str, Any]:
    exercise = for_results(entry)
    verdict = verdict_on(exercise, question)
    right = float(exercise.right(*question.case.values()))
    values = [float(result) for result in mistaken(exercise, question)]
    told, known = [], []
    for value in values:
        if not (one := verdict(question.result(str(value)))).passed:
            known.append([value, len(told)])
            told.append(_one_case(_with_yours(one)))
    other = next(n for n in (right + 0.1234 * step for step in range(1, 99)) if min(abs(n - v) for v in values) > 0.01)
    passed, unknown = verdict(question.result(str(right))), verdict(question.result(str(other)))
    return {
        "verdicts": [*told, _one_case(_with_yours(unknown)), _one_case(passed)],
        "known": known,
        "other": len(told),
        "passed": len(told) + 1,
        "right": right,
        "rtol": entry.rtol,
        "atol": entry.atol,
        "decimals": question.decimals,
    }


def _with_yours(verdict: Verdict) -> Verdict:
    return replace(verdict, difference=replace(verdict.difference, yours=YOURS))


def _one_case(verdict: Verdict) -> dict[str, Any]:
    """A verdict on one case: its points are earned by a function that is right in all.

    The right value is kept back, as in the feedback of the class grader; the arguments stand in the question.
    """
    head, *rest = replace(verdict, called_with="").text(show_expected=False, remedy=False).split("\n")
    mark = "✓ " if verdict.passed else ""
    head = f"{mark}{verdict.number} {'right' if verdict.passed else 'not yet'} · one case"
    return _told(verdict, "\n".join([head, *rest]))


def _told(verdict: Verdict, text: str) -> dict[str, Any]:
    remedy = f"Try: {verdict.advice}" if verdict.advice else ""
    return {"passed": verdict.passed, "lines": unwrapped(text), "remedy": remedy}


def unwrapped(text: str) -> list[str]:
    """The lines of a message before they were broken at 90 characters."""
    broken = text.split("\n")
    lines = broken[:1]
    for before, line in zip(broken, broken[1:], strict=False):
        fitted = len(before) + 1 + len(line.split(" ")[0]) <= WIDTH  # so the line was not broken there
        if len(lines) == 1 or fitted or line.startswith((LOOKS_LIKE, FAILS)):
            lines.append(line)
        else:
            lines[-1] += f" {line}"
    return lines


def _numbered(said: dict[str, dict]) -> dict[str, Any]:
    """Each verdict once: of a thousand answers many are told the same."""
    verdicts: list[dict] = []
    places: dict[str, int] = {}
    answers = {}
    for key, told in said.items():
        text = json.dumps(told)
        if text not in places:
            places[text] = len(verdicts)
            verdicts.append(told)
        answers[key] = places[text]
    return {"verdicts": verdicts, "answers": answers}


def with_questions(source: str) -> str:
    """The Markdown of an exercise's statement, with the place where ``static/try_it.js`` puts its controls, and an anchor."""
    if not (match := HEADING.match(source)):
        return source
    asked = with_question(source, match.group(1))
    return source if asked == source else f"({anchor(match.group(1))})=\n{asked}"


def with_question(source: str, number: str) -> str:
    """The same for a statement whose heading doesn't hold the exercise's number; unchanged if no page can judge it."""
    if number not in catalogue() or number not in answered_here(f"{catalogue()[number].lesson:02d}"):
        return source
    if number in ONE_CASE:
        return f"{source.rstrip()}\n\n{place(number, ONE_CASE[number].ask)}"
    return OPTIONS.sub(lambda options: place(number, options.group()), source, count=1)


def place(number: str, text: str) -> str:
    """The block on the page: the question in Markdown, and what the check says as JSON."""
    data = json.dumps(judged(number), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    name = html.escape(f"Exercise {number}, answered on this page")
    return (
        f'<div class="try-it" data-try="{number}" role="group" aria-label="{name}">'
        f'<script type="application/json">{data}</script>\n\n{text}\n\n'
        "<noscript>To answer here, this page needs JavaScript.</noscript>\n\n</div>\n"
    )


def anchor(number: str) -> str:
    """Where on the page of the exercises this one begins."""
    return f"try-{number.replace('.', '-')}"


def list_of_questions(stems: list[str]) -> str:
    """Markdown: every question that is answered on a page, by lesson.

    Args:
        stems: Names of the exercise notebooks, such as ``05_masking``.
    """
    lines = []
    for stem in stems:
        entries = [catalogue()[number] for number in answered_here(stem)]
        links = [f'<a href="{stem}.html#{anchor(e.number)}">{e.number} · {html.escape(e.title)}</a>' for e in entries]
        lines.append(f"- lesson {stem[:2]}: {', '.join(links)}")
    return "\n".join(lines)
