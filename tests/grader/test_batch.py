"""A class: what is there is graded, what was graded is kept, and the files say so."""

import csv
import json
import zipfile

import handed_in
import pytest
from sandboxed import EXERCISES, linux, terms

from course_grader.batch import grade_class
from course_grader.master import load_masters
from course_grader.reports.results_folder import ResultsFolder


@pytest.fixture
def room_for(tmp_path):
    """A class of four: solved, blank, broken, nothing."""
    root = tmp_path / "class"
    for student in ("ann", "bob", "carl", "=dora()"):
        (root / student).mkdir(parents=True)
    (root / "ann" / "x.ipynb").write_bytes(handed_in.as_bytes(handed_in.solved()))
    (root / "bob" / "x.ipynb").write_bytes(handed_in.as_bytes(handed_in.blank()))
    (root / "carl" / "x.ipynb").write_bytes(b"{")
    return root, tmp_path / "grades"


def grade(root, output, **changes):
    results = ResultsFolder(output)
    try:
        masters = load_masters(EXERCISES, "01") | load_masters(EXERCISES, "02")
        return grade_class(root, results, masters, terms(seed=results.seed, **changes), jobs=2, progress=False)
    finally:
        results.close()


def rows(output):
    with open(output / "grades.csv", newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@linux
def test_a_class_and_its_second_run(room_for):
    root, output = room_for
    first = grade(root, output)
    assert (first.graded, first.kept, len(first.problems), len(first.students)) == (3, 0, 2, 4)
    assert {name: row["total"] for name, row in rows(output).items()} == {
        "ann": "18",
        "bob": "0",
        "carl": "0",
        "'=dora()": "0",
    }
    assert len(list((output / "feedback").iterdir())) == len(list((output / "results").iterdir())) == 4
    written = {path: path.read_bytes() for path in output.rglob("*.json")}

    second = grade(root, output)
    assert (second.graded, second.kept) == (0, 3)
    assert {path: path.read_bytes() for path in output.rglob("*.json")} == written

    (root / "bob" / "x.ipynb").write_bytes(handed_in.as_bytes(handed_in.solved(only={"answer-1-1"})))
    third = grade(root, output)
    assert (third.graded, third.kept, rows(output)["bob"]["total"]) == (1, 2, "2")


@linux
def test_a_result_says_what_made_it(room_for):
    root, output = room_for
    grade(root, output)
    result = json.loads(
        next(path for path in (output / "results").iterdir() if path.name.startswith("ann")).read_text()
    )
    assert result["student"] == "ann" and result["file"] == "x.ipynb" and len(result["key"]) == 64
    assert result["isolation"] == "bubblewrap" and result["versions"]["torch"]
    assert result["seed"] == json.loads((output / "run.json").read_text())["seed"]


def test_two_files_with_one_name_are_two_results(tmp_path):
    (tmp_path / "class" / "ann").mkdir(parents=True)
    for name in ("a.zip", "b.zip"):
        with zipfile.ZipFile(tmp_path / "class" / "ann" / name, "w") as archive:
            archive.writestr("x.ipynb", b"null")
    summary = grade(tmp_path / "class", tmp_path / "grades", sandbox=False)
    assert set(summary.problems) == {"ann/x.ipynb", "ann/x.ipynb (2)"}
