"""Exercises answered on the page: what stands there is what the check says."""

import json
import random
import re

import pytest
import torch
from handed_in import ROOT
from node import run_node

from course_checks import NotYet, check
from course_checks.catalogue import catalogue
from course_checks.deciding.find import find
from course_site import try_it
from course_site.one_case import ONE_CASE
from course_site.try_it import answered_here, for_results, judged, mistaken, verdict_on, with_questions

LESSONS = sorted(path.stem for path in (ROOT / "exercises").glob("*.ipynb"))
NUMBERS = [number for stem in LESSONS for number in answered_here(stem)]
QUIZZES = [number for number in NUMBERS if number not in ONE_CASE]


def one_line(text):
    return " ".join(text.split())


def said_by_check(number, answer):
    try:
        check(number, answer)
    except NotYet as failure:
        return str(failure)
    return None


@pytest.mark.parametrize("stem", LESSONS)
def test_every_lesson_has_an_exercise_that_its_page_can_judge(stem):
    cells = json.loads((ROOT / "exercises" / f"{stem}.ipynb").read_text(encoding="utf-8"))["cells"]
    sources = [with_questions("".join(cell["source"])) for cell in cells if cell["cell_type"] == "markdown"]
    found = re.findall(r'data-try="([\d.]+)"', "\n".join(sources))
    assert found and found == answered_here(stem)


@pytest.mark.parametrize("number", QUIZZES)
def test_each_letter_is_told_what_the_check_tells(number, capsys):
    page = judged(number)
    assert set(page["answers"]) == set(catalogue()[number].options)
    for letter, place in page["answers"].items():
        verdict = page["verdicts"][place]
        message = said_by_check(number, letter) or capsys.readouterr().out
        assert one_line(" ".join(verdict["lines"])) == one_line(message)
        assert verdict["passed"] == (letter == find(number).right)


@pytest.mark.parametrize("number", [n for n, q in ONE_CASE.items() if q.keys])
def test_results_are_told_what_the_check_tells_of_this_case(number):
    question, page = ONE_CASE[number], judged(number)
    assert set(page["answers"]) == set(question.keys)
    exercise = for_results(find(number))
    right = question.key(exercise.right(*question.case.values()))
    assert [key for key, place in page["answers"].items() if page["verdicts"][place]["passed"]] == [right]
    decide = verdict_on(exercise, question)
    named = {question.key(result) for result in mistaken(exercise, question)} & set(question.keys)
    for key in [*sorted(named)[:4], *random.Random(number).sample(question.keys, 4)]:
        verdict, shown = decide(question.result(key)), page["verdicts"][page["answers"][key]]
        if verdict.found_by == "pair":  # by chance, in a single case
            continue
        first, *rest = verdict.text(show_expected=False, remedy=False).split("\n")
        text = one_line(" ".join(line for line in rest))
        for line in shown["lines"][1:]:
            assert one_line(line) in text
        assert not shown["remedy"] or shown["remedy"] == f"Try: {verdict.advice}"


@pytest.mark.parametrize("number", ONE_CASE)
def test_a_known_mistake_is_named_as_by_the_check_of_the_whole_exercise(number):
    question, page, entry = ONE_CASE[number], judged(number), find(number)
    named = 0
    for mistake in entry.known_mistakes[:6]:
        sentence = f"It looks like: {mistake.looks_like}"
        try:
            result = entry.wrong(mistake)(*question.case.values())
        except Exception:  # noqa: BLE001, S112  a mistake may stop in any way
            continue
        key = question.key(result)
        if question.keys:
            place = page["answers"].get(key)
        else:
            place = next((place for value, place in page["known"] if value == float(result)), None)
        if place is not None and sentence in page["verdicts"][place]["lines"]:
            message = said_by_check(number, in_the_notebook(entry, mistake))
            assert one_line(sentence) in one_line(message)
            named += 1
    assert named >= 2


def in_the_notebook(entry, mistake):
    """The wrong answer as a student's own code: the check refuses its own."""
    space = {}
    text = (
        "import math\nimport torch\nimport torch.nn.functional as F\nfrom course_utils.metrics import edit_distance\n"
    )
    exec(text + mistake.on(entry.solution.text), space)  # noqa: S102
    return space[entry.entry.answer]


@pytest.mark.needs("node")
def test_a_typed_number_is_told_what_the_check_tells():
    (number,) = (number for number, question in ONE_CASE.items() if not question.keys)
    question, page = ONE_CASE[number], judged(number)
    decide = verdict_on(for_results(find(number)), question)
    right = round(page["right"], question.decimals)
    known = [value for value, _ in page["known"]]
    typed = [
        right,
        right + 2e-4,
        0,
        -1,
        12345678,
        1e-7,
        0.1,
        -2.5,
        3.14159,
        *(round(value, question.decimals) for value in known),
    ]
    script = (ROOT / "course_site" / "static" / "try_it.js").as_uri()
    source = f"""import {{ verdictOnNumber }} from {json.dumps(script)};
      const page = {json.dumps(page)};
      process.stdout.write(JSON.stringify({json.dumps(typed)}.map((x) => verdictOnNumber(page, x))));"""
    for value, shown in zip(typed, json.loads(run_node(source)), strict=True):
        verdict = decide(torch.tensor(float(value)))
        text = verdict.text(show_expected=False, remedy=False)
        assert shown["passed"] == verdict.passed == (value == right), value
        for line in shown["lines"][1:]:
            assert one_line(line) in one_line(text), (value, line)


def test_a_message_is_put_together_as_it_was_before_it_was_broken():
    words = " ".join(f"word{n}" for n in range(40))
    verdict = try_it.Verdict("1.1", 2, passed=False, what=words, looks_like=f"it is {words}")
    assert try_it.unwrapped(verdict.text()) == ["1.1 not yet · 0 of 2 points", words, f"It looks like: it is {words}"]


def test_no_other_statement_is_changed():
    for source in (
        "# 05 · Masking",
        "### 5.1 · A padding mask\ntext",
        "### 99.9 · none",
        "text",
        "### 1.7 · Does it\n\n- **a.** b",
    ):
        assert with_questions(source) == source


def test_what_to_try_and_the_sentences_are_not_to_be_read_on_the_page_before_an_answer():
    source = with_questions("### 4.7 · One matrix\n\ntext\n\n- **a.** x\n- **b.** y")
    without = re.sub(r"<script.*?</script>", "", source)
    assert "not yet" in source and "not yet" not in without and "- **b.** y" in without
    assert source.startswith("(try-4-7)=\n### 4.7")  # a link to the question leads to its heading
