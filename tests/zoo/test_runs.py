"""Tables of runs: appended line by line, read back as text."""

from functools import partial

import pytest

from course_utils.zoo.runs import append_rows, make_missing, read_rows


def test_rows_are_appended_under_one_header(tmp_path):
    table = tmp_path / "runs.csv"
    assert read_rows(table) == []
    append_rows(table, ("seed", "score"), [{"seed": 0, "score": 0.5}])
    append_rows(table, ("seed", "score"), [{"seed": 1, "score": 0.25}, {"seed": 2, "score": 0.75}])
    assert [row["score"] for row in read_rows(table)] == ["0.5", "0.25", "0.75"]
    assert table.read_bytes().count(b"seed") == 1 and b"\r" not in table.read_bytes()


def test_a_run_is_made_once_and_only_if_no_row_holds_all_that_is_wanted(tmp_path, capsys):
    table, fields, made = tmp_path / "runs.csv", ("norm", "seed", "step", "loss"), []

    def run(norm, seed):
        made.append((norm, seed))
        for step in (1, 2):
            yield {"norm": norm, "seed": seed, "step": step, "loss": 0.5}

    for norm, seed in (("before", 0), ("before", 1), ("after", 0), ("before", 0)):
        make_missing(table, fields, {"norm": norm, "seed": seed}, partial(run, norm, seed))
    assert made == [("before", 0), ("before", 1), ("after", 0)] and len(read_rows(table)) == 6
    assert capsys.readouterr().out.splitlines()[-1] == "norm after, seed 0 done"
    with pytest.raises(ZeroDivisionError):  # a run that breaks off leaves no half of it behind
        make_missing(table, fields, {"norm": "after", "seed": 1}, lambda: ({"loss": 1 / n} for n in (1, 0)))
    assert len(read_rows(table)) == 6
