"""The glossary defines each of its terms, and leads to the section that introduces it."""

import json
import re

import pytest

ENTRY = re.compile(
    r"- \*\*(?P<term>.+?)\*\* · (?P<notes>.+)\\\n  (?P<definition>.+) \[(?P<text>[^\]]+)\]\((?P<link>[^)]+)\)"
)
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture(scope="module")
def text(root):
    return (root / "docs" / "glossary.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def entries(text):
    found = [match.groupdict() for match in ENTRY.finditer(text)]
    assert len(found) == len(re.findall(r"^- ", text, re.MULTILINE)) > 150  # every item has the form of an entry
    return found


def anchors(path):
    """Section (its heading) -> anchor, of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    lines = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown").splitlines()
    headings = [line.lstrip("#").strip() for line in lines if re.match(r"#{2,4} ", line)]
    return {heading: re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_term_has_a_definition_and_a_chinese_name(entries):
    for entry in entries:
        assert len(entry["definition"].split()) >= 5 and entry["definition"][-1] in ".)", entry
        assert CHINESE.search(entry["notes"]), entry


def test_every_term_leads_to_the_section_that_it_names(root, entries):
    for entry in entries:
        name, anchor = entry["link"].split("#")
        sections = anchors((root / "docs" / name).resolve())
        heading = next((heading for heading, there in sections.items() if there == anchor), None)
        assert heading, f"{entry['term']}: {entry['link']} is no section"
        said = re.fullmatch(r"Section (\d+\.\d+)|Lesson \d\d, “(.+)”", entry["text"])
        assert heading.split()[0] == said[1] or heading == said[2], entry


def test_a_term_is_found_where_one_looks_for_it(text, entries):
    names = [re.sub(r"[^a-z0-9 ]", "", entry["term"].lower()) for entry in entries]
    assert names == sorted(set(names))
    parts = dict(re.findall(r"^## (\w)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    assert list(parts) == sorted({name[0].upper() for name in names})
    for letter, part in parts.items():
        first = {
            re.sub(r"[^a-z]", "", term.lower())[0].upper()
            for term in re.findall(r"^- \*\*(.+?)\*\*", part, re.MULTILINE)
        }
        assert first == {letter}


def test_it_can_be_read_on_a_phone(text):
    assert "|---" not in text  # a table is wider than a phone


def test_lesson_00_sends_there(root):
    lesson = root / "notebooks" / "00_start_here.ipynb"
    assert "[glossary](../docs/glossary.md)" in lesson.read_text(encoding="utf-8")
