"""The student's page: complete, inert, and silent about what would have been right."""

import re
from html.parser import HTMLParser

from course_grader.reports.feedback import page

NASTY = "<script>alert(1)</script><img src=x onerror=alert(1)>&\"'"


def result(**changes):
    exercises = [
        {"number": "1.1", "points": 2, "earned": 2, "outcome": "right", "message": "", "mistake": None},
        {"number": "1.2", "points": 3, "earned": 0, "outcome": "wrong", "message": NASTY, "mistake": None},
    ]
    found = {"lesson": "01", "problem": "", "exercises": exercises, "earned": 2, "total": 5, "restored": [NASTY]}
    return found | {"events": [NASTY], "noticed": ["for instructors only"]} | changes


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def test_nothing_in_it_runs_or_loads():
    tags = Tags()
    tags.feed(page(NASTY, NASTY, result(problem="")))
    assert {tag for tag, _ in tags.seen} <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "b", "section", "pre", "span", "ul", "li",
    }  # fmt: skip
    names = {name for _, attributes in tags.seen for name in attributes}
    assert not {name for name in names if name.startswith("on") or name in ("src", "href")}
    assert any(a.get("http-equiv") == "Content-Security-Policy" and "'none'" in a["content"] for _, a in tags.seen)


def test_it_says_the_score_and_the_messages():
    text = page("ann", "x.ipynb", result())
    assert "2 of 5 points" in text and "1.1 · The dot product" in text and "right, 2 of 2" in text
    assert "&lt;script&gt;alert(1)" in text and "for instructors only" not in text


def test_a_file_that_could_not_be_read():
    text = page("ann", "", result(lesson="", exercises=[], problem="it is a link"))
    assert "could not be graded" in text and "it is a link" in text and not re.search(r"\d of \d", text)
