"""The students' pages and the class page: complete, inert, offline, in plain words, silent about what is right."""

import re
from html.parser import HTMLParser

import pytest
from reported import exercise, result

from course_grader.outcomes import KINDS, WORDS, words
from course_grader.reports.class_page import SMALLEST_SAME
from course_grader.reports.item_analysis import FEWEST, bins, item, trend
from course_grader.reports.lateness import parse_due, parse_policy
from course_grader.reports.pages import page, visible

NASTY = "<script>alert(1)</script><img src=x onerror=alert(1)>&\"'"
MESSAGE = "cosine: 3 of 4 values differ\nIt looks like: no guard\nagainst zero.\nTry: masked_fill."
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
        assert "prefers-color-scheme: dark" in text and "@media print" in text


def test_code_keeps_its_lines_and_shows_what_cannot_be_seen():
    assert visible("a\n\tb") == "a\n\tb" and visible("x\u202ey") == "x\N{REPLACEMENT CHARACTER}y"


def test_the_most_common_mistakes_with_names_and_a_sentence(a_class):
    for student, message in (("ann", MESSAGE), ("bob", "none")):
        guard = exercise("1.2", "wrong", mistake="no guard", message=message)
        a_class.add(student, guard, exercise("1.7", "wrong", mistake="b"))
    a_class.add("carl", exercise("1.2", "wrong", mistake="rare"), exercise("1.7"))
    a_class.write_reports()
    first, second, third = rows(a_class.read("report.html"), "mistakes")
    assert first[:2] == ["2", "1.2"] and first[2] == "no guard against zero. ann · bob"
    assert second[:2] == ["2", "1.7"] and second[2].startswith("answered b: ") and third[2] == "rare carl"


def test_what_wants_a_look_stands_beside_the_code(a_class):
    reason = "answer 1.2, line 3: `eval(...)`: hides what it calls"
    a_class.add(
        "ann", exercise("1.1", code="the_first"), exercise("1.2", "wrong", code="the_second"), noticed=[reason], review=True,
    )  # fmt: skip
    a_class.write_reports()
    text = a_class.read("report.html")
    places = [text.index(part) for part in (reason, "1.2: wrong, 0 of 3", "the_second")]
    assert places == sorted(places) and "the_first" not in text  # nothing is said against it


def test_a_cell_that_a_reason_names_is_shown_instead_of_the_answer_above_it(a_class):
    name = "an extra cell after the check of 1.1"
    reason = f"{name}, line 1: `eval(x)`: eval is on the list of what to look at"
    answer = exercise("1.1", code="the_answer")
    a_class.add("ann", answer, noticed=[reason], review=True, cells={name: "eval(x)  # <the cell>"}).write_reports()
    text = a_class.read("report.html")
    assert "eval(x)  # &lt;the cell&gt;" in text and "the_answer" not in text


def test_a_class_of_nobody(a_class):
    a_class.write_reports()
    assert "0 students" in a_class.read("report.html")


def test_a_student_reads_points_messages_and_the_own_code():
    wrong = exercise(
        "1.2", "wrong", message="It looks like: no guard", code="def cosine(a, b):\n    # 我的\n    return 1"
    )
    lines = ["the check of 1.2 was edited; the original ran", "cells were reordered", "1.20 is another exercise"]
    graded = result(exercise("1.1"), wrong, noticed=["for instructors only"], restored=lines)
    text = page("ann", "x.ipynb", graded)
    assert "2 of 5 points" in text and "1.1 · A dot product for pictures" in text and "right, 2 of 2" in text
    assert "It looks like: no guard" in text and "# 我的\n    return 1" in text and "for instructors only" not in text
    edited = r"1\.2 · Cosine.*?<p>The check of 1\.2 was edited; the original ran\.</p>.*?About the notebook"
    assert re.search(edited, text, re.DOTALL) and text.count("was edited") == 1
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


def pictures(text):
    return [attributes for tag, attributes in Page(text).tags if attributes.get("role") == "img"]


def test_pictures_are_told_in_words(a_class):
    a_class.add("ann", exercise("1.1"), exercise("1.2", "time limit"))
    a_class.add("bob", exercise("1.1"), exercise("1.2", "in part")).add("bob", exercise("0.1"), label="y", lesson="00")
    a_class.write_reports()
    text = a_class.read("report.html")
    assert [picture["aria-label"] for picture in pictures(text)] == [
        "1 right, 1 empty, missing or not handed in",
        "students by points of 2: 1 at 2",
        "2 right",
        "1 right in part, 1 did not run to its end, or could not be judged",
        "students by points of 5: 2 at 2",
        "mean share of a lesson's points, of those who handed in: 100% at 00, 40% at 01",
    ]
    assert all(f" {label}</span>" in text for label in KINDS.values())  # the legend


@pytest.mark.parametrize("best", [1, 7, 18, 36, 250])
def test_a_histogram_counts_everyone_once(best):
    columns = bins([0, 0, best, best, best, best, best + 3], best)
    assert sum(int(count or 0) for _, _, count in columns) == 7 and columns[0][2] == "2" and columns[-1][2] == "5"
    assert len(columns) <= 21 and [height for _, height, _ in columns if height] == [0.4, 1]


def test_difficulty_and_discrimination(a_class):
    """Worked by hand: half of the class has 1.1 right, and just these have all else right."""
    for index in range(FEWEST):
        good = "right" if index % 2 else "wrong"
        a_class.add(f"s{index}", exercise("1.1", good), exercise("1.2", good), exercise("1.3"))
    book = a_class.add("absent", lesson="", problem="it is empty").write_reports()
    half, same = item(book, "01", "1.1"), item(book, "01", "1.3")
    assert (half.difficulty, round(half.discrimination, 6)) == (0.5, 1)
    assert (same.difficulty, same.discrimination) == (1, None)  # no spread
    assert trend(book) == [("01", 0.6875, "69%")]  # 3 of 8 and 8 of 8
    text = a_class.read("report.html")
    assert '<td class="n">0.50</td><td class="n">1.00</td></tr>' in text


def test_of_a_few_students_no_correlation_is_told(a_class):
    for index in range(FEWEST - 1):
        a_class.add(f"s{index}", exercise("1.1", "right" if index % 2 else "wrong"), exercise("1.2", "wrong"))
    found = item(a_class.write_reports(), "01", "1.1")
    assert found.difficulty and found.discrimination is None


def rows(text, place):
    """The rows of the table under a heading."""
    part = text.partition(f'<h2 id="{place}">')[2].partition("<h2")[0]
    cells = [re.findall(r"<td.*?>(.*?)</td>", row, re.DOTALL) for row in re.findall(r"<tr>.*?</tr>", part, re.DOTALL)]
    return [
        [" ".join(re.sub(r"<details.*|<.*?>", " ", cell, flags=re.DOTALL).split()) for cell in row]
        for row in cells
        if row
    ]


def test_same_answers_and_whether_they_are_the_solutions(a_class):
    for student, equal in (("ann", True), ("bob", True), ("carl", False), ("dora", False), ("eve", None)):
        form = {"form": f"form {equal}", "own_nodes": SMALLEST_SAME, "equal_to_solution": equal, "code": "x = 1"}
        short = form | {"own_nodes": SMALLEST_SAME - 1}
        a_class.add(student, exercise("1.2", **form), exercise("1.5", **short), exercise("1.7"))
    a_class.write_reports()
    text = a_class.read("report.html")
    assert rows(text, "same") == [["2", "1.2", "no", "carl · dora"], ["2", "1.2", "yes", "ann · bob"]]
    assert rows(text, "solution") == [["ann", "2 of 2", "1.2, 1.5"], ["bob", "2 of 2", "1.2, 1.5"]]


def test_what_a_run_changed(a_class):
    a_class.add("ann", exercise("1.1")).add("bob", exercise("1.1", "wrong")).write_reports()
    assert "No earlier grades.csv" in a_class.read("report.html")
    a_class.write_reports()
    assert rows(a_class.read("report.html"), "changed") == []
    a_class.overrides("bob,1.1,1.5,,").add("carl", exercise("1.1")).write_reports()
    changed = [["bob", "exercise 1.1", "0 → 1.5"], ["bob", "lesson 01", "0 → 1.5"]]
    assert rows(a_class.read("report.html"), "changed") == changed  # and not carl, who is new
    assert "2 changes, all of them in changed.csv" in a_class.read("report.html")
    listed = "\ufeffstudent,exercise,before,after\r\nbob,exercise 1.1,0,1.5\r\nbob,lesson 01,0,1.5\r\n"
    assert a_class.read("changed.csv") == listed
    grades = a_class.results.folder / "grades.csv"
    grades.write_text(a_class.read("grades.csv").replace("1.5", "1,5").replace(",", ";").replace("1;5", "1,5"))
    a_class.write_reports()  # a spreadsheet wrote it anew
    assert rows(a_class.read("report.html"), "changed") == []
