"""The student's page: complete, inert, in plain words, and silent about what would have been right."""

import re
from html.parser import HTMLParser

import pytest
from reported import exercise, result

from course_grader.reports.feedback import page
from course_grader.reports.lateness import parse_due, parse_policy
from course_grader.reports.outcomes import WORDS

NASTY = "<script>alert(1)</script><img src=x onerror=alert(1)>&\"'"
DUE = parse_due("2026-11-30T23:59:00+00:00")


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def test_nothing_in_it_runs_or_loads():
    tags = Tags()
    nasty = exercise("1.2", "wrong", message=NASTY, code=NASTY)
    tags.feed(page(NASTY, NASTY, result(nasty, restored=[NASTY, f"1.2 {NASTY}"], events=[NASTY])))
    assert {tag for tag, _ in tags.seen} <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "div", "section", "pre", "span", "ul", "li",
        "details", "summary",
    }  # fmt: skip
    names = {name for _, attributes in tags.seen for name in attributes}
    assert not {name for name in names if name.startswith("on") or name in ("src", "href")}
    assert any(a.get("http-equiv") == "Content-Security-Policy" and "'none'" in a["content"] for _, a in tags.seen)


def test_it_says_points_messages_and_shows_the_code_beside_the_verdict():
    wrong = exercise(
        "1.2", "wrong", message="It looks like: no guard", code="def cosine(a, b):\n    # 我的\n    return 1"
    )
    text = page("ann", "x.ipynb", result(exercise("1.1"), wrong, noticed=["for instructors only"]))
    assert "2 of 5 points" in text and "1.1 · The dot product" in text and "right, 2 of 2" in text
    assert "It looks like: no guard" in text and "# 我的\n    return 1" in text and "for instructors only" not in text


@pytest.mark.parametrize("outcome", sorted(WORDS))
def test_no_two_zeros_look_alike(outcome):
    text = page("ann", "x.ipynb", result(exercise("1.2", outcome)))
    assert f"{WORDS[outcome].heading}, " in text and WORDS[outcome].meaning.split("'")[0] in text
    others = [words.heading for name, words in WORDS.items() if name != outcome]
    assert not any(f"<span>{other}, 0 of" in text for other in others)


def test_nothing_is_said_twice():
    text = page("ann", "x.ipynb", result(exercise("1.2", "missing", message="Nothing is called cosine.")))
    assert "Nothing is called cosine." in text and WORDS["missing"].meaning not in text


def test_what_happened_to_an_answer_stands_beside_it():
    lines = ["your answer to 1.2 was found in another cell", "cells were reordered", "1.20 is another exercise"]
    text = page("ann", "x.ipynb", result(exercise("1.1"), exercise("1.2"), restored=lines))
    assert re.search(
        r"1\.2 · Cosine.*?<p>Your answer to 1\.2 was found in another cell\.</p>.*?About the notebook", text, re.S
    )
    assert text.count("found in another cell") == 1
    assert "<li>cells were reordered</li>" in text and "<li>1.20 is another exercise</li>" in text


def test_a_file_that_could_not_be_read():
    text = page("ann", "", result(lesson="", problem="it is a link"))
    assert "could not be graded" in text and "it is a link" in text and not re.search(r"\d of \d", text)


def test_late_points_and_hands_are_told(a_class):
    a_class.add("ann", exercise("1.1"), exercise("1.2", "wrong"), modified=DUE.timestamp() + 60)
    a_class.overrides("ann,1.2,3,,<b>well</b> argued", "ann,lesson 01,,,see me")
    a_class.write_reports(due=DUE, policy=parse_policy("10% per day"))
    text = a_class.page("ann")
    assert "4.5 of 5 points" in text and "1 day late (10% per day): 5 points before that, 4.5 after it" in text
    assert "not right yet, 3 of 3" in text and "set these points by hand (before: 0)" in text
    assert "writes: &lt;b&gt;well&lt;/b&gt; argued" in text and "writes: see me" in text


def test_points_of_a_whole_lesson_by_hand(a_class):
    a_class.add("ann", exercise("1.1"), modified=DUE.timestamp() + 60).overrides("ann,lesson 01,1.5,,")
    a_class.write_reports(due=DUE, policy=parse_policy("10% per day"))
    text = a_class.page("ann")
    assert "1.5 of 2 points" in text and "set the points of this lesson by hand (before: 2)" in text
