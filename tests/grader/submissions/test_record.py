"""What was handed in, written down run after run."""

import json
from dataclasses import asdict, replace

import pytest

from course_grader.submissions.submission_log import FILE, LogEntry, merge_logs, read_log, write_log

ANN_01 = LogEntry("ann", "x.ipynb", "01", True, modified=1.5, scope=("01",))
ANN_02 = LogEntry("ann", "x.ipynb", "02", True, scope=("02",))
LOST = LogEntry("carl", "y.ipynb", note="it is empty", scope=("01",))


def test_what_is_written_is_read(tmp_path):
    write_log(tmp_path, [ANN_01, replace(LOST, student="\ud800李")])
    assert read_log(tmp_path) == [ANN_01, replace(LOST, student="\ud800李")]


@pytest.mark.parametrize("damage", [None, "[", "7", "[7]", '[{"student": "ann"}]', '[{"student": 7}]'])
def test_where_the_list_is_lost_the_results_tell(tmp_path, damage):
    if damage is not None:
        (tmp_path / FILE).write_text(damage)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "a.json").write_text(json.dumps({"entry": asdict(ANN_01)}))
    (tmp_path / "results" / "b.json").write_text("{")
    (tmp_path / "results" / "c.json").write_text('{"entry": {"student": 7}}')
    assert read_log(tmp_path) == [ANN_01]


def test_another_lesson_stands_beside_the_first():
    assert merge_logs([ANN_01], [ANN_02], ["02"]) == [ANN_01, ANN_02]
    assert merge_logs([ANN_01], [ANN_02], ["01", "02"]) == [ANN_01, ANN_02]


def test_a_run_has_the_last_word_on_what_it_saw():
    newer = replace(ANN_01, label="newer.ipynb")
    assert merge_logs([ANN_01, LOST], [newer], ["01"]) == [newer, LOST]
    broken = LogEntry("ann", "x.ipynb", note="it is empty", scope=("01",))
    assert merge_logs([ANN_01, ANN_02], [broken], ["01"]) == [broken, ANN_02]
    mended = LogEntry("carl", "y.ipynb", "01", True, scope=("01",))
    assert merge_logs([LOST], [mended], ["01"]) == [mended]
    assert merge_logs([LOST], [replace(LOST, scope=("02",))], ["02"]) == [replace(LOST, scope=("02",))]
    assert merge_logs([LOST], [replace(mended, lesson="02")], ["02"]) == [LOST, replace(mended, lesson="02")]


def test_a_file_of_a_lesson_that_is_not_graded_now_does_not_stand_beside_its_result():
    beside = LogEntry("ann", "z.ipynb", "02", note="it belongs to lesson 02", scope=("01",))
    for before in (ANN_02, replace(ANN_02, counts=False, note="the course's own solution")):
        assert merge_logs([before], [beside], ["01"]) == [before]
    assert merge_logs([], [beside], ["01"]) == [beside]
