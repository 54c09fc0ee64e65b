"""CSV files: what spreadsheets read right, the class's tables, and what learning platforms import."""

import csv
import io

import pytest
from reported import exercise

from course_grader.__main__ import main
from course_grader.reports.csv_files import read, safe, written
from course_grader.reports.lateness import parse_due, parse_policy
from course_grader.reports.platforms import canvas, moodle, nbgrader
from course_grader.reports.roster import Person

DUE = parse_due("2026-11-30T23:59:00+00:00")


def test_excel_is_told_that_it_is_utf_8():
    assert written([["王小明"]]).encode() == b"\xef\xbb\xbf" + "王小明\r\n".encode()
    assert written([["王小明"]], for_people=False).encode() == "王小明\r\n".encode()


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", " =1", "\t=1", "\r=1", "＝1", " ＝1", "a;=1", "a; -1"])
def test_nothing_is_a_formula(text):
    shown = safe(text)
    assert not shown.strip().startswith(("=", "+", "-", "@", "＝"))
    assert all(not cell.strip().startswith(("=", "+", "-", "@")) for cell in shown.split(";"))


def test_numbers_stay_numbers_and_texts_whole():
    assert [safe(value) for value in (2, -1.0, 2 / 3, None, 0, "x" * 5_000)] == [
        "2",
        "-1",
        "0.6667",
        "",
        "0",
        "x" * 5_000,
    ]
    rows = [["a", 'b "quoted"'], ["c,d", 1]]
    assert list(csv.reader(io.StringIO(written(rows, for_people=False)))) == [["a", 'b "quoted"'], ["c,d", "1"]]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_of_any_spreadsheet(tmp_path, separator, encoding):
    lines = [["Name", "Points"], ["# a hint, with commas; and more"], ["", ""], ["王", "1"], ['"a,b;c"', "2"]]
    path = tmp_path / "x.csv"
    path.write_bytes("\r\n".join(separator.join(line) for line in lines).encode(encoding))
    header, rows = read(path, "roster")
    assert header == ["name", "points"]
    assert [(row.line, *row.values.values()) for row in rows] == [(4, "王", "1"), (5, "a,b;c", "2")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("name\nJosé\n".encode("latin-1"), r"roster \(.*x.csv\): line 2 is not UTF-8"),
        (b"name,id\na,1\nb,2,3\n", "line 3: 3 values, but the header has 2"),
        (None, "cannot be read"),
    ],
)
def test_what_cannot_be_read_names_file_and_line(tmp_path, data, message):
    path = tmp_path / "x.csv"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ValueError, match=message):
        read(path, "roster")


def table(a_class, name="grades.csv"):
    text = a_class.read(name)
    assert text[0] == "\ufeff"
    return list(csv.DictReader(io.StringIO(text[1:])))


def test_rows_and_sums(a_class):
    a_class.add("ann", exercise("1.1", equal_to_solution=True), exercise("1.2", "off limits", equal_to_solution=False))
    a_class.add("ann", exercise("0.1"), lesson="00", label="y.ipynb")
    a_class.add("=bob()", exercise("1.1", "not attempted"), noticed=["replaces check"], review=True)
    a_class.add("carl", lesson="", problem="it is empty")
    a_class.add("dora", exercise("1.2", "wrong")).overrides("dora,1.2,2,,").write_reports()
    ann, bob, carl, dora = sorted(table(a_class), key=lambda row: row["student"].strip("'="))
    names = (
        "0.1 points",
        "1.1 points",
        "1.2 points",
        "1.2 status",
        "lesson 00",
        "lesson 01",
        "total",
        "of",
        "as the solution",
    )
    assert [ann[name] for name in names] == ["2", "2", "0", "off limits", "2", "2", "4", "7", "1 of 2"]
    names = ("student", "1.1 status", "0.1 status", "lesson 00", "review")
    assert [bob[name] for name in names] == ["'=bob()", "empty", "nothing handed in", "", "yes"]
    assert (carl["1.1 points"], carl["1.1 status"], carl["total"]) == ("", "unreadable", "")
    assert "it is empty" in carl["notes"]
    assert (dora["1.2 points"], dora["1.2 status"]) == ("2", "by hand (was wrong)")
    assert dora["notes"] == "1.2: 2 points by hand instead of 0"


def test_the_columns_of_a_roster_and_of_a_deadline(a_class):
    a_class.add("王小明_7", exercise("1.2"), modified=DUE.timestamp() + 1)
    people = (Person("1", "w@x.edu", "王小明"), Person("2", "n@x.edu", "Never There"))
    a_class.write_reports(roster=people, due=DUE, policy=parse_policy("50% per day"))
    wang, never = table(a_class)
    assert list(wang)[:4] == ["student", "id", "e-mail", "name"] and wang["name"] == "王小明"
    assert (wang["lesson 01"], wang["lesson 01 before late"]) == ("1.5", "3")
    assert wang["late"] == "lesson 01: 1 day, 1.5 of 3 points kept"
    assert (never["id"], never["1.2 status"], never["notes"]) == ("2", "nothing handed in", "nothing handed in")


def parsed(text):
    assert not text.startswith("\ufeff")
    return list(csv.reader(io.StringIO(text)))


@pytest.fixture
def book(a_class):
    a_class.add("Ann Lee_55_assignsubmission_file_", exercise("1.2"), modified=DUE.timestamp() + 86_400)
    a_class.add("=cmd()", exercise("1.2", "wrong"), modified=DUE.timestamp() - 5)
    people = (Person("1", "ann@x.edu", "Ann Lee", "Ann", "Lee", user="annlee"), Person("2", "", "Never There"))
    a_class.overrides("1,1.2,,,see me")
    return a_class.write_reports(roster=people, due=DUE, policy=parse_policy("10% per day"))


def test_canvas(book):
    assert parsed(canvas(book, ["01"])) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lesson 01"],
        ["    Points Possible", "", "", "", "", "3"],
        ["Lee, Ann", "", "1", "annlee", "", "2.7"],
        ["Never There", "", "2", "", "", ""],
        ["'=cmd()", "", "", "", "", "0"],
    ]


def test_canvas_gets_its_own_numbers_back(a_class):
    a_class.add("leeann_4411_9", exercise("1.2"))
    book = a_class.write_reports(roster=(Person("4411", "", "Ann Lee", "Ann", "Lee", "annlee", "s-1", "A"),))
    assert parsed(canvas(book, ["01"]))[2] == ["Lee, Ann", "4411", "s-1", "annlee", "A", "3"]


def test_moodle(book):
    header, ann, never, other = parsed(moodle(book, ["01"]))
    assert dict(zip(header, ann, strict=True)) == {
        "Identifier": "Participant 55", "Full name": "Ann Lee", "ID number": "1", "Email address": "ann@x.edu",
        "Grade": "2.7", "Maximum Grade": "3", "Last modified (grade)": "", "Feedback comments": "1.2: see me",
    }  # fmt: skip
    assert never[4] == "" and other[:2] == ["", "'=cmd()"]
    with pytest.raises(ValueError, match=r"--lesson \(none\) must be given: 00, 01 are graded"):
        moodle(book, ["00", "01"])


def test_nbgrader(book):
    header, ann, never, _ = parsed(nbgrader(book, ["01"]))
    assert ",".join(header) == (
        "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,late_submission_penalty,score,max_score"
    )
    assert ann[:4] == ["lesson_01", "2026-11-30 23:59:00", "2026-12-01 23:59:00", "1"]
    assert ann[4:] == ["Lee", "Ann", "ann@x.edu", "3", "0.3", "2.7", "3"]
    assert never[2:] == ["", "2", "Never There", "", "", "", "", "", "3"]  # nothing was graded


def test_the_export_command(book, a_class, tmp_path, capsys):
    out, folder = tmp_path / "new folder" / "canvas.csv", str(a_class.results.folder)
    assert main(["export", "--format", "canvas", folder, "--output", str(out)]) == 0
    assert out.read_bytes().decode() == canvas(book, ["01"])
    out = tmp_path / "x.csv"
    assert main(["export", "--format", "nbgrader", folder, "--output", str(out), "--lesson", "9"]) == 2
    assert "--lesson (09) was not graded there; expected one of 01" in capsys.readouterr().err and not out.exists()


@pytest.mark.parametrize("name", ["grades.csv", "overrides.csv", "results/x.csv", "../link.csv"])
def test_no_export_over_the_graders_own_files(book, a_class, tmp_path, capsys, name):
    folder = a_class.results.folder
    (tmp_path / "link.csv").symlink_to(folder / "grades.csv")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert main(["export", "--format", "canvas", str(folder), "--output", str(folder / name)]) == 2
    printed = capsys.readouterr().err
    assert "is the grader's own" in printed and "expected a file that" in printed and printed.count("\n") == 1
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
