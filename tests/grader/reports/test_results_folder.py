"""Every file whole or absent; an earlier run's results are found again."""

import json
import os

import pytest
from reported import exercise, result

from course_grader.reports.results_folder import ResultsFolder, StoredResults, write_whole


def test_what_is_stored_is_found(tmp_path):
    results = ResultsFolder(tmp_path / "out")
    assert results.result("ann", "x.ipynb") is None
    results.store("ann", "x.ipynb", result(key="k", ü=1), "<p>", "01")
    assert results.result("ann", "x.ipynb", "01") == result(key="k", ü=1)
    assert results.feedback_path("ann", "x.ipynb", "01").read_text() == "<p>"
    assert results.result("ann", "y.ipynb", "01") is None and results.result("ann", "x.ipynb", "02") is None
    assert StoredResults(tmp_path / "out").result("ann", "x.ipynb", "01") == result(key="k", ü=1)


@pytest.mark.parametrize("name", ["exercises", "noticed", "restored", "events", "review", "lesson", "problem"])
@pytest.mark.parametrize("value", [None, 7, "absent"])
def test_a_result_that_lacks_a_part_is_none(tmp_path, name, value):
    results = ResultsFolder(tmp_path)
    found = result(exercise("1.1"))
    found = {key: part for key, part in found.items() if key != name} | ({} if value == "absent" else {name: value})
    results.store("ann", "x", found, "")
    assert results.result("ann", "x") is None


@pytest.mark.parametrize(
    "change", [{"earned": "2"}, {"number": 1}, {"number": "../x"}, {"outcome": None}, {"code": 3}, {"mistake": []}]
)
def test_a_result_with_a_damaged_exercise_is_none(tmp_path, change):
    results = ResultsFolder(tmp_path)
    results.store("ann", "x", result(exercise("1.1")), "")
    assert results.result("ann", "x") is not None
    results.store("ann", "x", result(exercise("1.1", **change)), "")
    assert results.result("ann", "x") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"seed": 7}', "null"])
def test_a_damaged_run_json_is_refused_with_the_mend(tmp_path, text):
    results = ResultsFolder(tmp_path, "the seed")
    results.store("ann", "x", result(seed="the seed"), "")
    results.close()
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(ValueError, match="run.json is damaged or gone .* --seed the seed"):
        ResultsFolder(tmp_path)
    assert (tmp_path / "run.json").read_text() == text
    ResultsFolder(tmp_path, "the seed").close()
    results = ResultsFolder(tmp_path)
    assert results.seed == "the seed"
    results.close()
    (tmp_path / "run.json").unlink()
    with pytest.raises(ValueError, match="--seed the seed"):
        ResultsFolder(tmp_path)


@pytest.mark.parametrize("name", ["grades.csv", "report.html", "run.json"])
def test_a_folder_in_the_place_of_a_file_is_said(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(ValueError, match=f"{name} is a folder; expected a file"):
        ResultsFolder(tmp_path)


def test_a_file_in_the_place_of_a_folder_is_said(tmp_path):
    (tmp_path / "results").write_text("")
    with pytest.raises(ValueError, match="results is not a folder"):
        ResultsFolder(tmp_path)
    with pytest.raises(ValueError, match="a file of that name is in the way"):
        ResultsFolder(tmp_path / "results")


def test_the_seed_stays_until_another_is_asked_for(tmp_path):
    seeds = []
    for asked in (None, None, "mine", None):
        results = ResultsFolder(tmp_path / "out", asked)
        seeds.append(results.seed)
        results.close()
    assert seeds[0] == seeds[1] and seeds[2:] == ["mine", "mine"] and len(seeds[0]) == 32


def test_two_graders_in_one_folder(tmp_path):
    first = ResultsFolder(tmp_path)
    with pytest.raises(RuntimeError, match="another grader is at work"):
        ResultsFolder(tmp_path)
    first.close()
    ResultsFolder(tmp_path).close()


def test_leftovers_of_a_killed_run_are_removed_and_torn_results_are_none(tmp_path):
    results = ResultsFolder(tmp_path)
    results.close()
    (tmp_path / "results" / ".part-abc").write_text("{")
    results.result_path("ann", "x").write_text('{"key": ')
    results = ResultsFolder(tmp_path)
    assert not (tmp_path / "results" / ".part-abc").exists()
    assert results.result("ann", "x") is None


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write_whole(path, "old")
    monkeypatch.setattr(os, "replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_whole(path, "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a.json"]


def test_results_are_plain_ascii_json(tmp_path):
    results = ResultsFolder(tmp_path)
    results.store("ann", "x", {"text": "\u202e</script>é"}, "")
    text = results.result_path("ann", "x").read_bytes().decode("ascii")
    assert json.loads(text) == {"text": "\u202e</script>é"}
