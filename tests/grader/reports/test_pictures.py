"""Pictures are SVG that any reader of XML takes, and say in words what they show."""

import xml.etree.ElementTree as ET

import pytest

from course_grader.reports.outcomes import KINDS
from course_grader.reports.pictures import histogram, legend, shares


def widths(svg):
    return [float(rect.get("width").rstrip("%")) for rect in ET.fromstring(svg).iter("rect")]


def test_shares_are_to_scale_and_told_in_words():
    svg = shares({"right": 3, "empty": 1})
    assert widths(svg) == [75, 25]
    assert ET.fromstring(svg).get("aria-label") == "3 right, 1 empty, missing or not handed in"
    assert sum(widths(shares(dict.fromkeys(KINDS, 7)))) == pytest.approx(100, abs=0.01)
    assert shares({}).count("<rect") == 0 and "nobody" in shares({})


def test_a_number_stands_only_where_it_has_room():
    svg = ET.fromstring(shares({"right": 297, "limits": 3}))
    assert [text.text for text in svg.iter("text")] == ["297"]


@pytest.mark.parametrize("best", [1, 7, 18, 36, 250])
def test_a_histogram_counts_everyone_once(best):
    totals = [0, 0, best, best, best, best, best + 3]
    svg = ET.fromstring(histogram(totals, best))
    bars = [text for text in svg.iter("text") if text.get("y") not in ("172", "188", "14")]
    assert sum(int(text.text) for text in bars) == len(totals)
    assert "Students by points" in svg.get("aria-label") and "2 with 0" in svg.get("aria-label")
    assert len(list(svg.iter("rect"))) <= 21


def test_the_legend_names_every_kind():
    assert all(said in legend() for said in KINDS.values())
