"""What was handed in, written down run after run."""

import json
from dataclasses import asdict, replace

import pytest

from course_grader.submissions.record import NAME, Entry, merged, record, recorded

ANN_01 = Entry("ann", "x.ipynb", "01", True, modified=1.5, scope=("01",))
ANN_02 = Entry("ann", "x.ipynb", "02", True, scope=("02",))
LOST = Entry("carl", "y.ipynb", note="it is empty", scope=("01",))


def test_what_is_written_is_read(tmp_path):
    record(tmp_path, [ANN_01, replace(LOST, student="\ud800李")])
    assert recorded(tmp_path) == [ANN_01, replace(LOST, student="\ud800李")]


@pytest.mark.parametrize("damage", [None, "[", "7", "[7]", '[{"student": "ann"}]', '[{"student": 7}]'])
def test_where_the_list_is_lost_the_results_tell(tmp_path, damage):
    if damage is not None:
        (tmp_path / NAME).write_text(damage)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "a.json").write_text(json.dumps({"entry": asdict(ANN_01)}))
    (tmp_path / "results" / "b.json").write_text("{")
    (tmp_path / "results" / "c.json").write_text('{"entry": {"student": 7}}')
    assert recorded(tmp_path) == [ANN_01]


def test_another_lesson_stands_beside_the_first():
    assert merged([ANN_01], [ANN_02], ["02"]) == [ANN_01, ANN_02]
    assert merged([ANN_01], [ANN_02], ["01", "02"]) == [ANN_01, ANN_02]


def test_a_run_has_the_last_word_on_what_it_saw():
    newer = replace(ANN_01, label="newer.ipynb")
    assert merged([ANN_01, LOST], [newer], ["01"]) == [newer, LOST]
    broken = Entry("ann", "x.ipynb", note="it is empty", scope=("01",))
    assert merged([ANN_01, ANN_02], [broken], ["01"]) == [broken, ANN_02]
    mended = Entry("carl", "y.ipynb", "01", True, scope=("01",))
    assert merged([LOST], [mended], ["01"]) == [mended]
    assert merged([LOST], [replace(LOST, scope=("02",))], ["02"]) == [replace(LOST, scope=("02",))]
    assert merged([LOST], [replace(mended, lesson="02")], ["02"]) == [LOST, replace(mended, lesson="02")]


def test_a_file_of_a_lesson_that_is_not_graded_now_does_not_stand_beside_its_result():
    beside = Entry("ann", "z.ipynb", "02", note="it belongs to lesson 02", scope=("01",))
    for before in (ANN_02, replace(ANN_02, counts=False, note="the course's own solution")):
        assert merged([before], [beside], ["01"]) == [before]
    assert merged([], [beside], ["01"]) == [beside]
