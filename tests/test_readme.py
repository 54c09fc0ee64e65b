"""What the README says is so: it's short, its links lead to files, its times add up, its check says what it quotes."""

import re

import pytest

from course_checks import NotYet, check, engine


@pytest.fixture(scope="module")
def text(root):
    return (root / "README.md").read_text(encoding="utf-8")


def test_it_is_short_and_its_links_lead_somewhere(root, text):
    words = [word for word in text.split() if re.search(r"\w", word)]  # not what draws a table
    assert len(words) <= 900 and max(map(len, text.splitlines())) <= 120
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (root / link).exists(), link


def test_times_and_exercises_of_the_lessons_add_up(text):
    parts = {"": 0, "½": 0.5, "¼": 0.25, "¾": 0.75}
    rows = re.findall(r"\| (\d+) min \| (\d+)([½¼¾]?) h \| (\d+) \|$", text, re.MULTILINE)
    short, everything = re.search(r"takes about (\d+) hours, everything about (\d+)", " ".join(text.split())).groups()
    assert len(rows) == len(re.findall(r"^\| \d\d \|", text, re.MULTILINE)) > 0  # every lesson says both
    assert round(sum(int(minutes) for minutes, *_ in rows) / 60) == int(short)
    assert round(sum(int(hours) + parts[part] for _, hours, part, _ in rows)) == int(everything)
    assert f"Each of {sum(int(count) for *_, count in rows)} exercises" in text


def test_a_check_says_what_is_quoted(text, monkeypatch):
    monkeypatch.setattr(engine, "_FAILED", set())  # the second failure of an exercise says what to try
    answer, quoted = re.search(r"```python\n(.+?)```.+?```text\n(.+?)\n```", text, re.DOTALL).groups()
    with pytest.raises(NotYet) as refused:
        exec("import torch\n" + answer, {"check": check})  # as a student's cell
    assert str(refused.value) == quoted
