"""The command: what it takes and refuses, what it says where something is in the way, and how it ends."""

import errno
import json

import handed_in
import pytest
from sandboxed import linux

from course_grader import __main__ as command
from course_grader.__main__ import main
from course_grader.batch import Summary
from course_grader.options import parser
from course_grader.reports.class_settings import ClassSettings, Deadline
from course_grader.reports.lateness import Policy, parse_due, parse_policy
from course_grader.reports.results_folder import ResultsFolder


@pytest.fixture
def class_of_one(tmp_path):
    (tmp_path / "class" / "ann").mkdir(parents=True)
    (tmp_path / "class" / "ann" / "x.ipynb").write_bytes(b"null")
    return tmp_path


def grade(folder, *options):
    return main([str(folder / "class"), "--output", str(folder / "out"), "--no-sandbox", *options])


@pytest.fixture
def nothing_to_grade(monkeypatch):
    """The command without the work."""
    seen = []
    monkeypatch.setattr(command, "grade_class", lambda root, results, *_: seen.append(results.options) or Summary())
    return seen


def test_the_deadline_is_said_with_its_time_zone(class_of_one, nothing_to_grade, capsys):
    assert grade(class_of_one, "--due", "2026-11-30T23:59+08:00", "--late", "10% per day") == 0
    assert "due 2026-11-30 23:59 (UTC+08:00); late: 10% per day" in capsys.readouterr().err
    assert nothing_to_grade[0].due.minute == 59 and nothing_to_grade[0].policy.percent == 10


@pytest.mark.parametrize(
    ("options", "late"),
    [
        (["--lesson", "01"], "lesson 01: due 2026-12-30 23:59 (UTC+00:00); late: 10% per day\n"),
        (["--lesson", "02"], "lesson 02: due 2026-12-30 23:59 (UTC+00:00); late: nothing is taken off\n"),
        (["--lesson", "01", "--late", "none"], "late: nothing is taken off\n"),
    ],
)
def test_the_policy_of_an_earlier_run_is_said(class_of_one, nothing_to_grade, capsys, options, late):
    due, policy = parse_due("2026-11-30T23:59Z"), parse_policy("10% per day")
    (class_of_one / "out").mkdir()
    settings = ClassSettings({"01": Deadline(due, policy)})
    (class_of_one / "out" / "class.json").write_text(settings.dumps())
    assert grade(class_of_one, "--due", "2026-12-30T23:59Z", *options) == 0
    assert capsys.readouterr().err.endswith(late)
    after = settings.updated(nothing_to_grade[0], ["01"]).deadlines["01"]
    assert after.due.month == 12 and after.policy == (None if "none" in options else policy)


def test_one_student_is_no_students(class_of_one, capsys):
    assert grade(class_of_one) == 0
    assert capsys.readouterr().out.startswith("1 student; 0 notebooks graded in ")


def test_an_override_of_a_lesson_that_nobody_handed_in_is_said(class_of_one, capsys):
    (class_of_one / "class" / "bob.ipynb").write_bytes(handed_in.as_bytes(handed_in.blank()))
    (class_of_one / "out").mkdir()
    text = "student,exercise,points\nann,lesson 01,1\nann,lesson 02,5\nbob,2.1,1\n"
    (class_of_one / "out" / "overrides.csv").write_text(text)
    assert grade(class_of_one, "--lesson", "02") == 0
    printed = capsys.readouterr().out
    assert "overrides.csv, line 3: nobody handed in lesson 02" in printed
    assert printed.count("nobody handed in") == 1  # lesson 01 is there, graded or not


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--output", "class"], "--output (class) is the folder of the submissions; expected another one"),
        (["--scheduler", "tcp://a:1"], '--scheduler (tcp://a:1) needs dask; install it: pip install -e ".[cluster]"'),
        (["--late", "1% per day"], "--late (1% per day) needs a deadline; expected --due beside it"),
    ],
)
def test_refused_before_anything_is_written(class_of_one, nothing_to_grade, monkeypatch, capsys, options, message):
    monkeypatch.chdir(class_of_one)
    monkeypatch.setattr(command.importlib.util, "find_spec", lambda name: None)
    assert main(["class", "--output", "out", "--no-sandbox", *options]) == 2
    assert f"error: {message}" in capsys.readouterr().err and not nothing_to_grade
    assert sorted(path.name for path in class_of_one.rglob("*")) == ["ann", "class", "x.ipynb"]


def test_a_second_grader_says_so(class_of_one, nothing_to_grade, capsys):
    first = ResultsFolder(class_of_one / "out")
    assert grade(class_of_one) == 2 and "another grader is at work" in capsys.readouterr().err
    first.close()
    assert grade(class_of_one) == 0


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])
def test_a_disk_that_takes_no_more(class_of_one, monkeypatch, capsys, code):
    def full(*_):
        raise OSError(code, "no room", "grades.csv")

    monkeypatch.setattr(command, "grade_class", full)
    assert grade(class_of_one) == 2
    printed = capsys.readouterr().err
    assert "error: " in printed and "grades.csv" in printed and ("make room" in printed) == (code == errno.ENOSPC)
    monkeypatch.setattr(command, "grade_class", lambda *_: Summary())
    assert grade(class_of_one) == 0, "the folder was not let go of"


@linux
def test_a_class_with_everything_that_an_instructor_can_say(tmp_path, capsys):
    for student, notebook in (("Ann Lee_7_assignsubmission_file_", handed_in.solved()), ("zoe", handed_in.blank())):
        (tmp_path / "class" / student).mkdir(parents=True)
        (tmp_path / "class" / student / "x.ipynb").write_bytes(handed_in.as_bytes(notebook))
    (tmp_path / "roster.csv").write_text("id,name\n1,Ann Lee\n2,王小明\n", encoding="utf-8")
    options = [
        "--roster",
        str(tmp_path / "roster.csv"),
        "--due",
        "2020-01-01T00:00Z",
        "--late",
        "1% per day, at most 50%",
    ]
    command = [str(tmp_path / "class"), "--output", str(tmp_path / "out"), "--lesson", "01", "--jobs", "1"]
    assert main([*command, *options]) == 0
    printed = capsys.readouterr().out
    assert "zoe: not on the roster" in printed and "nothing handed in: 1 of the roster" in printed
    out = tmp_path / "out"
    ann, wang, zoe = (out / "grades.csv").read_text(encoding="utf-8-sig").splitlines()[1:]
    assert ann.startswith("Ann Lee_7,1,,Ann Lee,2,right") and ",12,24,12,24," in ann  # half is kept
    assert "nothing handed in" in wang and "not on the roster" in zoe and zoe.count(",empty,") == 9
    (out / "overrides.csv").write_text("student,exercise,points,due,comment\nAnn Lee,lesson 01,17,,well done\n")
    results = {path: path.stat().st_mtime_ns for path in (out / "results").iterdir()}
    assert main(command) == 0 and "0 notebooks graded" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in (out / "results").iterdir()} == results
    assert ",17,24,17,24," in (out / "grades.csv").read_text(encoding="utf-8-sig")
    assert "well done" in next((out / "feedback").glob("ann*")).read_text(encoding="utf-8")
    damaged = next((out / "results").glob("ann*"))
    stored = json.loads(damaged.read_text())
    damaged.write_text(json.dumps({name: value for name, value in stored.items() if name != "exercises"}))
    assert main(command) == 0 and "1 notebook graded" in capsys.readouterr().out


REQUIRED = [".", "--output", "grades"]


def test_taken():
    options = ["--allow", "1.4", "--allow", "5.9", "--late", "10% per day", "--due", "2026-11-30T23:59Z"]
    args = parser().parse_args([*REQUIRED, *options])
    assert args.allow == ["1.4", "5.9"] and args.late == Policy(10) and args.due.year == 2026
    assert args.time_limit is None and args.jobs >= 1
    assert parser().parse_args(REQUIRED).due is None  # another thing than to lift a deadline
    assert parser().parse_args([*REQUIRED, "--due", "none"]).due == "none"
