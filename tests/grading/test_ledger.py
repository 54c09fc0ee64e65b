"""Every file whole or absent; an earlier run's results are found again."""

import json
import os

import pytest

from course_utils.grading.ledger import Ledger, write_whole


def test_what_is_stored_is_found(tmp_path):
    ledger = Ledger(tmp_path / "out")
    assert ledger.result("ann", "x.ipynb") is None
    ledger.store("ann", "x.ipynb", {"key": "k", "ü": 1}, "<p>")
    assert ledger.result("ann", "x.ipynb") == {"key": "k", "ü": 1}
    assert ledger.feedback_path("ann", "x.ipynb").read_text() == "<p>"
    assert ledger.result("ann", "y.ipynb") is None


def test_the_seed_stays_until_another_is_asked_for(tmp_path):
    seeds = []
    for asked in (None, None, "mine", None):
        ledger = Ledger(tmp_path / "out", asked)
        seeds.append(ledger.seed)
        ledger.close()
    assert seeds[0] == seeds[1] and seeds[2:] == ["mine", "mine"] and len(seeds[0]) == 32


def test_two_graders_in_one_folder(tmp_path):
    first = Ledger(tmp_path)
    with pytest.raises(RuntimeError, match="another grader is at work"):
        Ledger(tmp_path)
    first.close()
    Ledger(tmp_path).close()


def test_leftovers_of_a_killed_run_are_removed_and_torn_results_are_none(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.close()
    (tmp_path / "results" / ".part-abc").write_text("{")
    ledger.result_path("ann", "x").write_text('{"key": ')
    ledger = Ledger(tmp_path)
    assert not (tmp_path / "results" / ".part-abc").exists()
    assert ledger.result("ann", "x") is None


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write_whole(path, "old")
    monkeypatch.setattr(os, "replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_whole(path, "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a.json"]


def test_results_are_plain_ascii_json(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.store("ann", "x", {"text": "\u202e</script>é"}, "")
    text = ledger.result_path("ann", "x").read_bytes().decode("ascii")
    assert json.loads(text) == {"text": "\u202e</script>é"}
