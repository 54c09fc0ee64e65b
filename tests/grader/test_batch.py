"""A class: what is there is graded, what was graded is kept, and the files say so."""

import csv
import json
import subprocess
import sys
import zipfile
from dataclasses import replace

import handed_in
import pytest
from sandboxed import EXERCISES, linux, make_settings

from course_grader import batch
from course_grader.batch import grade_class
from course_grader.grade import unreadable
from course_grader.released_notebook import load_releases
from course_grader.reports.results_folder import ResultsFolder


@pytest.fixture
def class_of_four(tmp_path):
    """A class of four: solved, blank, broken, nothing."""
    root = tmp_path / "class"
    for student in ("ann", "bob", "carl", "=dora()"):
        (root / student).mkdir(parents=True)
    (root / "ann" / "x.ipynb").write_bytes(handed_in.as_bytes(handed_in.solved()))
    (root / "bob" / "x.ipynb").write_bytes(handed_in.as_bytes(handed_in.blank()))
    (root / "carl" / "x.ipynb").write_bytes(b"{")
    return root, tmp_path / "grades"


def grade(root, output, lessons=("01", "02"), **changes):
    results = ResultsFolder(output)
    try:
        releases = load_releases(EXERCISES, "01") | load_releases(EXERCISES, "02")
        settings = make_settings(seed=results.seed, **changes)
        settings = replace(settings, releases={lesson: settings.releases[lesson] for lesson in lessons})
        return grade_class(root, results, releases, settings, jobs=2, progress=False)
    finally:
        results.close()


def rows(output):
    with open(output / "grades.csv", newline="", encoding="utf-8-sig") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@linux
def test_a_class_and_its_second_run(class_of_four):
    root, output = class_of_four
    first = grade(root, output)
    assert (first.graded, first.kept, len(first.problems), len(first.students)) == (2, 0, 2, 4)
    totals = {name: row["total"] for name, row in rows(output).items()}
    assert totals == {"ann": "24", "bob": "0", "carl": "", "'=dora()": ""}
    assert len(list((output / "feedback").iterdir())) == len(list((output / "results").iterdir())) == 4
    written = {path: path.read_bytes() for path in output.rglob("*.json")}

    result = json.loads(next((output / "results").glob("ann*")).read_text())
    assert result["student"] == "ann" and result["file"] == "x.ipynb" and len(result["key"]) == 64
    assert result["isolation"] == "bubblewrap" and result["versions"]["torch"]
    assert result["seed"] == json.loads((output / "run.json").read_text())["seed"]

    second = grade(root, output)
    assert (second.graded, second.kept) == (0, 2)
    assert {path: path.read_bytes() for path in output.rglob("*.json")} == written

    (root / "bob" / "x.ipynb").write_bytes(handed_in.as_bytes(handed_in.solved(only={"answer-1-1"})))
    third = grade(root, output)
    assert (third.graded, third.kept, rows(output)["bob"]["total"]) == (1, 1, "2")


@pytest.fixture
def ran(monkeypatch):
    """The files that were run, without running any: everyone earns all points of the lesson in the file's own name."""
    labels = []

    def run(tasks, settings, jobs):
        for task in tasks:
            labels.append(task.submission.label)
            lesson = next(number for number in ("01", "02") if f"check-{int(number)}-1" in task.data.decode())
            exercise = {"number": f"{int(lesson)}.1", "outcome": "right", "earned": 2, "points": 2, "message": ""}
            graded = {"lesson": lesson, "exercises": [exercise], "earned": 2, "total": 2}
            yield task, unreadable("", settings) | graded

    monkeypatch.setattr(batch, "run_local", run)
    return labels


def put(path, notebook):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook if isinstance(notebook, bytes) else handed_in.as_bytes(notebook))


def test_two_files_with_one_name_are_two_results(tmp_path, ran):
    (tmp_path / "class" / "ann").mkdir(parents=True)
    for name in ("a.zip", "b.zip"):
        with zipfile.ZipFile(tmp_path / "class" / "ann" / name, "w") as archive:
            archive.writestr("x.ipynb", b"null")
    summary = grade(tmp_path / "class", tmp_path / "grades")
    assert set(summary.problems) == {"ann/x.ipynb", "ann/x.ipynb (2)"}


def test_only_the_file_that_counts_is_run(tmp_path, ran):
    for name in ("a.ipynb", "b.ipynb", "c.ipynb"):
        put(tmp_path / "class" / "ann" / name, handed_in.solved())
    put(tmp_path / "class" / "ann" / "02.ipynb", handed_in.solved("02_soft_lookup"))
    grade(tmp_path / "class", tmp_path / "grades", ["01"])
    assert len(ran) == 1 and len(list((tmp_path / "grades" / "results").iterdir())) == 1
    notes = rows(tmp_path / "grades")["ann"]["notes"]
    assert all(f"{name}.ipynb" in notes for name in "abc")


def test_another_lesson_in_the_same_output_keeps_the_first(tmp_path, ran):
    put(tmp_path / "one" / "ann.ipynb", handed_in.solved())
    put(tmp_path / "one" / "bob.ipynb", handed_in.solved())
    put(tmp_path / "two" / "ann.ipynb", handed_in.solved("02_soft_lookup"))
    grade(tmp_path / "one", tmp_path / "grades", ["01"])
    grade(tmp_path / "two", tmp_path / "grades", ["02"])
    table = rows(tmp_path / "grades")
    assert [table[student][f"{number} points"] for student in ("ann", "bob") for number in ("1.1", "2.1")] == [
        "2", "2", "2", "",
    ]  # fmt: skip
    assert grade(tmp_path / "one", tmp_path / "grades").kept == 2  # though all lessons are graded now
    assert rows(tmp_path / "grades") == table


def test_a_result_that_is_out_of_date_is_taken_away(tmp_path, ran):
    put(tmp_path / "class" / "ann" / "a.ipynb", handed_in.solved())
    grade(tmp_path / "class", tmp_path / "grades")
    (tmp_path / "class" / "ann" / "a.ipynb").rename(tmp_path / "class" / "ann" / "b.ipynb")
    grade(tmp_path / "class", tmp_path / "grades")
    assert ran == ["a.ipynb", "b.ipynb"]
    for folder in ("results", "feedback"):
        assert len(list((tmp_path / "grades" / folder).iterdir())) == 1


@pytest.mark.parametrize("where", ["read", "page", "key"])
def test_whatever_is_raised_for_one_student_is_that_students_row(tmp_path, ran, monkeypatch, where):
    for student in ("ann", "bob"):
        put(tmp_path / "class" / student / "x.ipynb", handed_in.solved())
    calls = []

    def once(original):
        def raising(*args, **options):
            calls.append(where)
            if len(calls) == 1:
                raise RecursionError("too deep")
            return original(*args, **options)

        return raising

    monkeypatch.setattr(batch, where, once(getattr(batch, where)))
    summary = grade(tmp_path / "class", tmp_path / "grades")
    (name,) = summary.review
    table = rows(tmp_path / "grades")
    lost, other = table[name.split("/")[0]], next(row for student, row in table.items() if not name.startswith(student))
    assert "could not be graded: RecursionError: too deep" in lost["notes"] and lost["review"] == "yes"
    assert (other["1.1 points"], other["review"]) == ("2", "")


def test_a_result_is_kept_as_soon_as_it_is_there(tmp_path, ran, monkeypatch):
    for student in ("ann", "bob"):
        put(tmp_path / "class" / student / "x.ipynb", handed_in.solved())
    every = batch.run_local

    def run(*arguments):
        yield next(every(*arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr(batch, "run_local", run)
    with pytest.raises(KeyboardInterrupt):
        grade(tmp_path / "class", tmp_path / "grades")
    assert len(list((tmp_path / "grades" / "results").iterdir())) == 1
    monkeypatch.setattr(batch, "run_local", every)
    summary = grade(tmp_path / "class", tmp_path / "grades")
    assert (summary.graded, summary.kept) == (1, 1)


def test_a_run_that_has_nothing_to_grade_does_not_wait_for_pytorch(tmp_path):
    (tmp_path / "class" / "ann").mkdir(parents=True)
    (tmp_path / "class" / "ann" / "x.ipynb").write_bytes(b"null")
    code = (
        "import sys\nfrom course_grader.__main__ import main\n"
        f"status = main([{str(tmp_path / 'class')!r}, '--output', {str(tmp_path / 'grades')!r}, '--no-sandbox'])\n"
        "sys.exit(status or ' '.join({'torch', 'distributed', 'matplotlib'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=handed_in.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
