"""Which answers are the same."""

import time

import pytest
from handed_in import solved

from course_grader.released_notebook import load_releases, parse
from course_grader.reports.same_answers import SHORTEST, SameAnswers, answers

LONG = "def f(values, weights):\n    # mine\n" + "".join(
    f"    step_{i} = values * weights.sum(dim=-1) + {i}\n" for i in range(6)
)


def grouped(same):
    return [(group.number, group.students) for group in same.groups()]


def test_blanks_and_comments_do_not_matter_and_all_else_does():
    same = SameAnswers()
    same.add("1.1", "ann", LONG)
    same.add("1.1", "bob", LONG.replace("# mine", "# 我的\n\n").replace("    ", "\t").replace(" * ", "*"))
    same.add("1.1", "carl", LONG.replace("+ 3", "+ 4"))
    same.add("1.2", "dora", LONG)
    assert grouped(same) == [("1.1", ("ann", "bob"))] and same.groups()[0].code == LONG


def test_a_hash_in_a_string_is_no_comment():
    same = SameAnswers()
    for student, sign in (("ann", "#1"), ("bob", "#2")):
        same.add("1.1", student, f"{LONG}    return '{sign}'\n")
    assert grouped(same) == []


def test_short_answers_and_what_was_handed_out_are_left_out(root):
    releases = load_releases(root / "exercises")
    given = {number: code for released in releases.values() for number, code in answers(released).items()}
    number = max(given, key=lambda number: len(given[number]))
    assert len("".join(given[number].split())) > SHORTEST
    same = SameAnswers(releases.values())
    for student in ("ann", "bob"):
        same.add("1.1", student, "def f(a, b):\n    return (a * b).sum(-1)")
        same.add(number, student, f"{given[number]}\n    return 1")
    assert grouped(same) == []


def test_the_course_s_own_answer_is_left_out():
    same = SameAnswers(solutions={"1.1": LONG.replace("# mine", "# BEGIN SOLUTION")})
    same.add("1.1", "ann", LONG)
    same.add("1.1", "bob", LONG)
    assert grouped(same) == []


def test_answers_of_a_notebook():
    import json

    found = answers(parse("01_x", json.dumps(solved(answer_1_1="def f(): pass")).encode()))
    assert found["1.1"] == "def f(): pass" and len(found) == 9


@pytest.mark.parametrize(
    "text",
    [
        "'" * 20_000,
        '"""' * 6_666,
        "'\\" * 10_000,
        '"' * 20_001,
        "'\n" * 10_000,
        "#" * 20_000,
        "(" * 20_000,
        "\n" * 20_000,
    ],
)
def test_hostile_text_takes_no_time(text):
    started = time.monotonic()
    SameAnswers().add("1.1", "ann", text)
    assert time.monotonic() - started < 20
