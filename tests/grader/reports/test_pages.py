"""The students' pages and the class page: complete, inert, offline, in plain words, silent about what is right."""

import json
import re
import time
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from handed_in import solved
from reported import exercise, result

from course_grader.released_notebook import load_releases, parse
from course_grader.reports.feedback import page
from course_grader.reports.html_page import code
from course_grader.reports.lateness import parse_due, parse_policy
from course_grader.reports.outcomes import KINDS, WORDS, words
from course_grader.reports.pictures import histogram, shares
from course_grader.reports.same_answers import SHORTEST, SameAnswers, answers

NASTY = "<script>alert(1)</script><img src=x onerror=alert(1)>&\"'"
MESSAGE = "cosine: 3 of 4 values differ\nIt looks like: no guard\nagainst zero.\nTry: masked_fill."
LONG = "def f(values, weights):\n    # mine\n" + "".join(
    f"    step_{i} = values * weights.sum(dim=-1) + {i}\n" for i in range(6)
)
DUE = parse_due("2026-11-30T23:59:00+00:00")


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def test_nothing_in_a_page_runs_or_loads(a_class):
    nasty = exercise("1.2", "wrong", message=NASTY, mistake=NASTY, code=NASTY)
    a_class.add(NASTY, nasty, noticed=[NASTY], restored=[NASTY, f"1.2 {NASTY}"], events=[NASTY], review=True)
    a_class.add("b", lesson="", problem=NASTY).overrides(f"b,lesson 01,3,,{NASTY}").write_reports()
    for text in (a_class.read("report.html"), a_class.page(NASTY), a_class.page("b", lesson="")):
        tags = Page(text).tags
        assert not {"script", "img", "link", "iframe", "object", "base", "form"} & {tag for tag, _ in tags}
        for _, attributes in tags:
            assert not [name for name in attributes if name.startswith("on") or name == "src"]
            assert attributes.get("href", "#").startswith("#")
        policies = [a["content"] for _, a in tags if a.get("http-equiv") == "Content-Security-Policy"]
        assert policies[0].startswith("default-src 'none'") and text.endswith("</html>\n")
        assert "prefers-color-scheme:dark" in text and "@media print" in text


def test_code_keeps_its_lines_and_shows_what_cannot_be_seen():
    assert "a\n\tb" in code("a\n\tb") and "x\N{REPLACEMENT CHARACTER}y" in code("x\u202ey")


def test_the_most_common_mistakes_with_names_and_a_sentence(a_class):
    for student, message in (("ann", MESSAGE), ("bob", "no such sentence")):
        guard = exercise("1.2", "wrong", mistake="no guard", message=message)
        a_class.add(student, guard, exercise("1.7", "wrong", mistake="b"))
    a_class.add("carl", exercise("1.2", "wrong", mistake="rare"), exercise("1.7"))
    a_class.write_reports()
    text = a_class.read("report.html")
    row = re.search(r'<tr><td class="n">2</td><td class="one">1.2</td><td>(.*?)</td></tr>', text)[1]
    assert "no guard</b>. no guard against zero." in row and "ann" in row and "bob" in row and "carl" not in row
    assert text.index("no guard</b>") < text.index("rare</b>") and "answered b: " in text


def test_what_wants_a_look_stands_beside_the_code(a_class):
    reason = "answer 1.2, line 3: `eval(...)`: hides what it calls"
    a_class.add(
        "ann", exercise("1.1", code="the_first"), exercise("1.2", "wrong", code="the_second"), noticed=[reason], review=True,
    )  # fmt: skip
    a_class.write_reports()
    text = a_class.read("report.html")
    parts = (reason, "1.2: wrong, 0 of 3", "the_second", "the other exercises of this file", "the_first")
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_late_by_hand_and_missing(a_class):
    a_class.add("ann", exercise("1.1"), modified=DUE.timestamp() + 1).add("bob", lesson="", problem="it is empty")
    a_class.add("carl", exercise("1.1")).overrides("ann,1.1,1,,half of it", "carl,lesson 01,1,,oral").write_reports(
        due=DUE
    )
    text = a_class.read("report.html")
    assert "Late: 1" in text and "lesson 01: 1 day" in text and "lesson 01: 1 instead of 2. oral" in text
    assert "1.1: 1 instead of 2. half of it" in text and "Nothing graded: 1" in text and "it is empty" in text


def test_a_class_of_nobody(a_class):
    a_class.write_reports()
    assert "0 students" in a_class.read("report.html")


def test_a_student_reads_points_messages_and_the_own_code():
    wrong = exercise(
        "1.2", "wrong", message="It looks like: no guard", code="def cosine(a, b):\n    # 我的\n    return 1"
    )
    lines = ["your answer to 1.2 was found in another cell", "cells were reordered", "1.20 is another exercise"]
    graded = result(exercise("1.1"), wrong, noticed=["for instructors only"], restored=lines)
    text = page("ann", "x.ipynb", graded)
    assert "2 of 5 points" in text and "1.1 · The dot product" in text and "right, 2 of 2" in text
    assert "It looks like: no guard" in text and "# 我的\n    return 1" in text and "for instructors only" not in text
    moved = r"1\.2 · Cosine.*?<p>Your answer to 1\.2 was found in another cell\.</p>.*?About the notebook"
    assert re.search(moved, text, re.DOTALL) and text.count("found in another cell") == 1
    assert "<li>cells were reordered</li>" in text and "<li>1.20 is another exercise</li>" in text


@pytest.mark.parametrize("outcome", sorted(WORDS))
def test_no_two_zeros_look_alike(outcome):
    text = page("ann", "x.ipynb", result(exercise("1.2", outcome)))
    assert f"{WORDS[outcome].heading}, " in text and WORDS[outcome].meaning.split("'")[0] in text
    others = [words.heading for name, words in WORDS.items() if name != outcome]
    assert not any(f"<span>{other}, 0 of" in text for other in others)


def test_each_outcome_has_words_of_its_own():
    for part in ("status", "heading"):
        assert len({getattr(outcome, part) for outcome in WORDS.values()}) == len(WORDS)
    assert all(outcome.meaning for name, outcome in WORDS.items() if name != "right")
    assert {outcome.kind for outcome in WORDS.values()} == set(KINDS)
    assert words("eaten by a dog").heading == "eaten by a dog" and words("eaten by a dog").kind in KINDS


def test_nothing_is_said_twice():
    text = page("ann", "x.ipynb", result(exercise("1.2", "missing", message="Nothing is called cosine.")))
    assert "Nothing is called cosine." in text and WORDS["missing"].meaning not in text


def test_a_file_that_could_not_be_read():
    text = page("ann", "", result(lesson="", problem="it is a link"))
    assert "could not be graded" in text and "it is a link" in text and not re.search(r"\d of \d", text)


def test_lateness_and_points_by_hand_are_told(a_class):
    for student in ("ann", "bob"):
        a_class.add(student, exercise("1.1"), exercise("1.2", "wrong"), modified=DUE.timestamp() + 60)
    a_class.overrides("ann,1.2,3,,<b>well</b> argued", "ann,lesson 01,,,see me", "bob,lesson 01,1.5,,")
    a_class.write_reports(due=DUE, policy=parse_policy("10% per day"))
    text = a_class.page("ann")
    assert "4.5 of 5 points" in text and "1 day late (10% per day): 5 points before that, 4.5 after it" in text
    assert "not right yet, 3 of 3" in text and "set these points by hand (before: 0)" in text
    assert "writes: &lt;b&gt;well&lt;/b&gt; argued" in text and "writes: see me" in text
    text = a_class.page("bob")
    assert "1.5 of 5 points" in text and "set the points of this lesson by hand (before: 2)" in text


def widths(svg):
    return [float(rect.get("width").rstrip("%")) for rect in ET.fromstring(svg).iter("rect")]


def test_shares_are_to_scale_and_told_in_words():
    svg = shares({"right": 3, "empty": 1})
    assert widths(svg) == [75, 25]
    assert ET.fromstring(svg).get("aria-label") == "3 right, 1 empty, missing or not handed in"
    assert sum(widths(shares(dict.fromkeys(KINDS, 7)))) == pytest.approx(100, abs=0.01)
    assert shares({}).count("<rect") == 0 and "nobody" in shares({})
    narrow = ET.fromstring(shares({"right": 297, "limits": 3}))
    assert [text.text for text in narrow.iter("text")] == ["297"]  # a number stands only where it has room


@pytest.mark.parametrize("best", [1, 7, 18, 36, 250])
def test_a_histogram_counts_everyone_once(best):
    totals = [0, 0, best, best, best, best, best + 3]
    svg = ET.fromstring(histogram(totals, best))
    bars = [text for text in svg.iter("text") if text.get("y") not in ("172", "188", "14")]
    assert sum(int(text.text) for text in bars) == len(totals)
    assert "Students by points" in svg.get("aria-label") and "2 with 0" in svg.get("aria-label")
    assert len(list(svg.iter("rect"))) <= 21


def test_pictures_have_a_text_alternative(a_class):
    a_class.add("ann", exercise("1.1"), exercise("1.2", "time limit")).write_reports()
    text = a_class.read("report.html")
    pictures = [a for tag, a in Page(text).tags if tag == "svg" and a.get("aria-hidden") != "true"]
    assert len(pictures) == 3 and all(a["role"] == "img" and a["aria-label"] for a in pictures)
    assert all(f" {label}</span>" in text for label in KINDS.values())  # the legend


def grouped(same):
    return [(group.number, group.students) for group in same.groups()]


def test_same_answers_stand_on_the_class_page(a_class):
    for student in ("ann", "bob"):
        a_class.add(student, exercise("1.2", code=f"{LONG}\n# {student}"))
    a_class.write_reports()
    row = r'<td class="n">2</td><td class="one">1.2</td><td><bdi>ann</bdi> · <bdi>bob</bdi>'
    assert re.search(row, a_class.read("report.html"))


def test_blanks_and_comments_do_not_matter_and_all_else_does():
    same = SameAnswers()
    same.add("1.1", "ann", LONG)
    same.add("1.1", "bob", LONG.replace("# mine", "# 我的\n\n").replace("    ", "\t").replace(" * ", "*"))
    same.add("1.1", "carl", LONG.replace("+ 3", "+ 4"))
    same.add("1.2", "dora", LONG)
    for student, sign in (("eve", "#1"), ("fay", "#2")):  # a hash in a string is no comment
        same.add("1.3", student, f"{LONG}    return '{sign}'\n")
    assert grouped(same) == [("1.1", ("ann", "bob"))] and same.groups()[0].code == LONG


def test_short_answers_what_was_handed_out_and_the_solution_are_left_out(root):
    releases = load_releases(root / "exercises")
    released = {number: code for notebook in releases.values() for number, code in answers(notebook).items()}
    number = max(released, key=lambda number: len(released[number]))
    assert len("".join(released[number].split())) > SHORTEST
    same = SameAnswers(releases.values(), solutions={"1.2": LONG.replace("# mine", "# BEGIN SOLUTION")})
    for student in ("ann", "bob"):
        same.add("1.1", student, "def f(a, b):\n    return (a * b).sum(-1)")
        same.add("1.2", student, LONG)
        same.add(number, student, f"{released[number]}\n    return 1")
    assert grouped(same) == []


def test_answers_of_a_notebook():
    texts = answers(parse("01_x", json.dumps(solved(answer_1_1="def f(): pass")).encode()))
    assert texts["1.1"] == "def f(): pass" and len(texts) == 9


@pytest.mark.parametrize("unit", ["'", '"""', "'\\", '"', "'\n", "#", "(", "\n"])
def test_hostile_text_takes_no_time(unit):
    started = time.monotonic()
    SameAnswers().add("1.1", "ann", unit * 20_001)
    assert time.monotonic() - started < 20
