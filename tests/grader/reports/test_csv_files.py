"""Spreadsheets: what they read right, and what they must not take for a formula."""

import csv
import io

import pytest

from course_grader.reports.csv_files import read, safe, written


def test_excel_is_told_that_it_is_utf_8():
    assert written([["王小明"]]).encode() == b"\xef\xbb\xbf" + "王小明\r\n".encode()
    assert written([["王小明"]], for_people=False).encode() == "王小明\r\n".encode()


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", " =1", "\t=1", "\r=1", "＝1", " ＝1", "a;=1", "a; -1"])
def test_nothing_is_a_formula(text):
    shown = safe(text)
    assert not shown.strip().startswith(("=", "+", "-", "@", "＝"))
    assert all(not cell.strip().startswith(("=", "+", "-", "@")) for cell in shown.split(";"))


def test_numbers_stay_numbers_and_long_texts_whole():
    assert [safe(value) for value in (2, 2.5, -1.0, None, 0)] == ["2", "2.5", "-1", "", "0"]
    assert safe("x" * 5_000) == "x" * 5_000


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_of_any_spreadsheet(tmp_path, separator, encoding):
    lines = [["Name", "Points"], ["# a hint, with commas; and more"], ["", ""], ["王", "1"], ['"a,b;c"', "2"]]
    path = tmp_path / "x.csv"
    path.write_bytes("\r\n".join(separator.join(line) for line in lines).encode(encoding))
    header, rows = read(path, "roster")
    assert header == ["name", "points"]
    assert [(row.line, row.values) for row in rows] == [
        (4, {"name": "王", "points": "1"}),
        (5, {"name": "a,b;c", "points": "2"}),
    ]


def test_what_cannot_be_read_names_file_and_line(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("name\nJosé\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"roster \(.*x.csv\): line 2 is not UTF-8"):
        read(path, "roster")
    path.write_text("name,id\na,1\nb,2,3\n")
    with pytest.raises(ValueError, match="line 3: 3 values, but the header has 2"):
        read(path, "roster")
    with pytest.raises(ValueError, match="cannot be read"):
        read(tmp_path / "none.csv", "roster")


def test_what_is_written_is_read_by_csv():
    rows = [["a", 'b "quoted"'], ["c,d", 1]]
    assert list(csv.reader(io.StringIO(written(rows, for_people=False)))) == [["a", 'b "quoted"'], ["c,d", "1"]]
