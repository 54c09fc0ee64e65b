"""The output folder: every file whole or absent, an earlier run's results found again, all reports or none."""

import json
import os
import re
import shutil
import unicodedata

import pytest
from reported import exercise, result

from course_grader.names import file_id, printable
from course_grader.reports.lateness import parse_due
from course_grader.reports.overrides import TEMPLATE
from course_grader.reports.results_folder import ResultsFolder, StoredResults
from course_grader.reports.write_reports import check_instructor_files


def test_what_is_stored_is_found(tmp_path):
    results = ResultsFolder(tmp_path / "out")
    assert results.result("ann", "x.ipynb") is None
    results.store("ann", "x.ipynb", result(key="k", ü=1), "<p>", "01")
    assert results.result("ann", "x.ipynb", "01") == result(key="k", ü=1)
    assert results.path("feedback", "ann", "x.ipynb", "01").read_text() == "<p>"
    assert results.result("ann", "y.ipynb", "01") is None and results.result("ann", "x.ipynb", "02") is None
    assert StoredResults(tmp_path / "out").result("ann", "x.ipynb", "01") == result(key="k", ü=1)


@pytest.mark.parametrize(
    ("old", "new"), [("2", "3"), ("right", "wrong"), ("exercises", "exercise"), ("digest", "x"), ("}", ""), ("{", "[{")]
)
def test_a_result_that_was_changed_is_none(tmp_path, old, new):
    results = ResultsFolder(tmp_path)
    results.store("ann", "x", result(exercise("1.1")), "")
    path = results.path("results", "ann", "x")
    assert results.result("ann", "x") == result(exercise("1.1"))
    path.write_text(path.read_text().replace(old, new))
    assert results.result("ann", "x") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"seed": 7}', "null"])
def test_a_damaged_run_json_is_refused_with_the_mend(tmp_path, text):
    results = ResultsFolder(tmp_path, "the seed")
    results.store("ann", "x", result(seed="the seed"), "")
    results.close()
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(ValueError, match="run.json is damaged or gone; .* --seed the seed"):
        ResultsFolder(tmp_path)
    assert (tmp_path / "run.json").read_text() == text
    ResultsFolder(tmp_path, "the seed").close()
    results = ResultsFolder(tmp_path)
    assert results.seed == "the seed"
    results.close()
    (tmp_path / "run.json").unlink()
    with pytest.raises(ValueError, match="--seed the seed"):
        ResultsFolder(tmp_path)


def test_the_seed_stays_until_another_is_asked_for(tmp_path):
    seeds = []
    for asked in (None, None, "mine", None):
        results = ResultsFolder(tmp_path / "out", asked)
        seeds.append(results.seed)
        results.close()
    assert seeds[0] == seeds[1] and seeds[2:] == ["mine", "mine"] and len(seeds[0]) == 32


def test_leftovers_of_a_killed_run_are_removed_and_torn_results_are_none(tmp_path):
    ResultsFolder(tmp_path).close()
    (tmp_path / "results" / ".part-abc").write_text("{")
    results = ResultsFolder(tmp_path)
    results.path("results", "ann", "x").write_text('{"key": ')
    assert not (tmp_path / "results" / ".part-abc").exists() and results.result("ann", "x") is None


def test_results_are_plain_ascii_json(tmp_path):
    results = ResultsFolder(tmp_path)
    results.store("ann", "x", {"text": "\u202e</script>é\ud800"}, "")
    assert (
        json.loads(results.path("results", "ann", "x").read_bytes().decode("ascii"))["text"] == "\u202e</script>é\ud800"
    )
    assert results.result("ann", "x")["text"].endswith("\ud800")


def contents(a_class):
    return {path: path.read_bytes() for path in a_class.results.folder.rglob("*") if path.is_file()}


def test_deleted_feedback_is_written_again(a_class):
    a_class.add("ann", exercise("1.1")).write_reports()
    a_class.write_reports()
    before = contents(a_class)
    shutil.rmtree(a_class.results.folder / "feedback")
    a_class.write_reports()
    assert contents(a_class) == before and "2 of 2 points" in a_class.page("ann")


def test_a_page_that_has_not_changed_is_not_written_again(a_class):
    a_class.add("ann", exercise("1.1")).write_reports()
    path = a_class.results.path("feedback", "ann", "x.ipynb", "01")
    os.utime(path, (1, 1))
    a_class.write_reports()
    assert path.stat().st_mtime == 1


def test_a_mistyped_override_leaves_everything_as_it_was(a_class):
    a_class.add("ann", exercise("1.1")).write_reports()
    a_class.overrides("ann,1.1,99,,")
    before = contents(a_class)
    a_class.add("bob", exercise("1.1"))
    with pytest.raises(ValueError, match="points is '99'"):
        a_class.write_reports(due=parse_due("2026-11-30T23:59"))
    after = contents(a_class)
    assert {path.name for path in before if before[path] != after[path]} == {"submissions.json"}


def test_overrides_are_made_once_looked_at_first_and_never_touched_again(a_class):
    a_class.add("ann", exercise("1.1")).write_reports()
    assert a_class.read("overrides.csv") == "\ufeff" + TEMPLATE.read_text()
    a_class.overrides("ann,1.1,1,,")
    before = a_class.read("overrides.csv")
    assert [a_class.write_reports().students[0].total for _ in range(2)] == [1, 1]
    assert a_class.read("overrides.csv") == before
    a_class.overrides("bob,1.1,1,,")
    with pytest.raises(ValueError, match="student is 'bob'"):
        check_instructor_files(a_class.results, a_class.entries)


def test_a_full_disk_leaves_no_half_of_a_file(a_class, monkeypatch):
    a_class.add("ann", exercise("1.1")).write_reports()
    before = a_class.read("grades.csv")
    a_class.add("bob", exercise("1.1"))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        a_class.write_reports()
    assert a_class.read("grades.csv") == before and not list(a_class.results.folder.rglob(".part-*"))


NASTY_NAMES = [
    "../../x",
    "a\nb",
    "<b>",
    "=cmd()",
    "",
    "\0",
    "con",
    "a/b",
    "x" * 5000,
    "Ünï",
    "\u202egpj",
    "\ud800",
    ".",
    "-rf",
]
NASTY_NAMES += ["李小龙", "ZOE\u0308", "İİ"]


@pytest.mark.parametrize("name", NASTY_NAMES)
def test_file_names_are_safe_on_every_file_system(name):
    made = file_id(name, "x.ipynb", "01")
    assert all(letter == "-" or unicodedata.category(letter)[0] in "LMN" for letter in made)
    assert re.search(r"^[^-].*-01-[0-9a-f]{10}$", made) and len(made.encode()) <= 80
    assert unicodedata.is_normalized("NFC", made) and made == made.lower() and made.isprintable()


NAMES = {"李小龙": "李小龙", "Zoe\u0308 O'Neil": "zoë-o-neil", "मोहन": "मोहन", "李" * 30: "李" * 20, "\0": "student"}


@pytest.mark.parametrize("name", NAMES)
def test_file_names_stay_readable(name):
    plain, lesson, digest = file_id(name, "x.ipynb", "01").rsplit("-", 2)
    assert (plain, lesson, len(digest)) == (NAMES[name], "01", 10)


def test_file_names_differ():
    files = [(name, label, lesson) for name in NASTY_NAMES for label in ("a", "b") for lesson in ("", "01", "02")]
    assert len({file_id(*file) for file in files}) == len(files)


def test_printable():
    assert printable("a\nb\x1b[2J\u202e") == "a�b�[2J�"
    assert printable("x" * 200, 10) == "xxxxxxx..."
