from pathlib import Path

import pytest

from course_utils.diagrams import road_map

LESSONS = sorted((Path(__file__).resolve().parents[2] / "sources" / "lessons").glob("[0-9][0-9]_*.py"))


def test_every_lesson_has_its_box():
    headings = [text.get_text() for text in road_map().texts if text.get_text()[:2].isdigit()]
    assert [heading[:2] for heading in headings] == [path.name[:2] for path in LESSONS]


def test_where_you_are():
    assert "You are in lesson 07" in road_map(7).get_label()
    with pytest.raises(ValueError, match="0 to 12"):
        road_map(13)
