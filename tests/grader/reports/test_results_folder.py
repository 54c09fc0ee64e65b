"""Every file whole or absent; an earlier run's results are found again."""

import json
import os

import pytest

from course_grader.reports.results_folder import ResultsFolder, write_whole


def test_what_is_stored_is_found(tmp_path):
    results = ResultsFolder(tmp_path / "out")
    assert results.result("ann", "x.ipynb") is None
    results.store("ann", "x.ipynb", {"key": "k", "ü": 1}, "<p>")
    assert results.result("ann", "x.ipynb") == {"key": "k", "ü": 1}
    assert results.feedback_path("ann", "x.ipynb").read_text() == "<p>"
    assert results.result("ann", "y.ipynb") is None


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
