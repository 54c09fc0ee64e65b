"""The class page: what is common, what is alike, what wants a look; inert, offline, complete for three and for none."""

import re
from html.parser import HTMLParser

from reported import exercise

from course_grader.reports.lateness import parse_due

NASTY = "<script>alert(1)</script><img src=x onerror=alert(1)>"
MESSAGE = "cosine: 3 of 4 values differ\nIt looks like: no guard\nagainst zero.\nTry: masked_fill."
LONG = "\n".join(f"step_{i} = values * weights.sum(dim=-1) + {i}" for i in range(6))


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def test_the_most_common_mistakes_with_names_and_a_sentence(a_class):
    for student in ("ann", "bob"):
        a_class.add(
            student,
            exercise("1.2", "wrong", mistake="no guard", message=MESSAGE),
            exercise("1.7", "wrong", mistake="b"),
        )
    a_class.add("carl", exercise("1.2", "wrong", mistake="rare"), exercise("1.7"))
    a_class.write_reports()
    text = a_class.read("report.html")
    guard = re.search(r'<tr><td class="n">2</td><td class="one">1.2</td><td>(.*?)</td></tr>', text)[1]
    assert "no guard</b>. no guard against zero." in guard and "ann" in guard and "bob" in guard and "carl" not in guard
    assert text.index("no guard</b>") < text.index("rare</b>") and "answered b: " in text


def test_same_answers(a_class):
    for student in ("ann", "bob"):
        a_class.add(student, exercise("1.2", code=f"{LONG}\n# {student}"))
    a_class.write_reports()
    assert re.search(
        r'<td class="n">2</td><td class="one">1.2</td><td><bdi>ann</bdi> · <bdi>bob</bdi>', a_class.read("report.html")
    )


def test_what_wants_a_look_stands_beside_the_code(a_class):
    a_class.add(
        "ann", exercise("1.1", code="the_first"), exercise("1.2", "wrong", message=NASTY, code=f"the_second = {NASTY!r}"),
        noticed=["answer 1.2, line 3: `eval(...)`: hides what it calls"], review=True,
    )  # fmt: skip
    a_class.write_reports()
    text = a_class.read("report.html")
    start = text.index("answer 1.2, line 3: `eval(...)`: hides what it calls")
    assert (
        start
        < text.index("1.2: wrong, 0 of 3")
        < text.index("the_second")
        < text.index("the other exercises of this file")
    )


def test_nothing_in_it_runs_or_loads(a_class):
    a_class.add(NASTY, exercise("1.2", "wrong", message=NASTY, mistake=NASTY, code=NASTY), noticed=[NASTY], review=True)
    a_class.add("b", lesson="", problem=NASTY).overrides(f"b,lesson 01,3,,{NASTY}").write_reports()
    page = Page(a_class.read("report.html"))
    assert not {"script", "img", "link", "iframe"} & {tag for tag, _ in page.tags}
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "src"]
        assert attributes.get("href", "#").startswith("#")


def test_late_by_hand_and_missing(a_class):
    due = parse_due("2026-11-30T23:59:00+00:00")
    a_class.add("ann", exercise("1.1"), modified=due.timestamp() + 1).add("bob", lesson="", problem="it is empty")
    a_class.overrides("ann,1.1,1,,half of it").write_reports(due=due)
    text = a_class.read("report.html")
    assert "Late: 1" in text and "lesson 01: 1 day" in text
    assert "1.1: 1 instead of 2. half of it" in text and "Nothing graded: 1" in text and "it is empty" in text


def test_pictures_have_a_text_alternative(a_class):
    a_class.add("ann", exercise("1.1"), exercise("1.2", "time limit")).write_reports()
    pictures = [
        a for tag, a in Page(a_class.read("report.html")).tags if tag == "svg" and a.get("aria-hidden") != "true"
    ]
    assert len(pictures) == 3 and all(a["role"] == "img" and a["aria-label"] for a in pictures)


def test_a_class_of_nobody(a_class):
    a_class.write_reports()
    assert "0 students" in a_class.read("report.html")
