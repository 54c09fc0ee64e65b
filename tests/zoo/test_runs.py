"""Tables of runs: appended line by line, read back as text."""

from course_utils.zoo.runs import append_rows, read_rows


def test_rows_are_appended_under_one_header(tmp_path):
    table = tmp_path / "runs.csv"
    assert read_rows(table) == []
    append_rows(table, ("seed", "score"), [{"seed": 0, "score": 0.5}])
    append_rows(table, ("seed", "score"), [{"seed": 1, "score": 0.25}, {"seed": 2, "score": 0.75}])
    assert [row["score"] for row in read_rows(table)] == ["0.5", "0.25", "0.75"]
    assert table.read_bytes().count(b"seed") == 1 and b"\r" not in table.read_bytes()
