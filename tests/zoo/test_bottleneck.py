"""The sweep of sizes: equal parameters, counts that add up, a table that is taken up where it stopped."""

import pytest
import torch

from course_utils.metrics import phoneme_error_rate, word_error_rate
from course_utils.models import count_parameters
from course_utils.zoo import bottleneck
from course_utils.zoo.pronunciation import pronounce

WORDS = {"cat": (("K", "AE", "T"),), "act": (("AE", "K", "T"), ("AE", "K")), "tactics": (("T", "AE", "K", "T"),)}


def test_partners_have_nearly_as_many_parameters():
    for attended, plain in bottleneck.WIDTHS.items():
        one, other = (count_parameters(bottleneck.build(a, d)) for a, d in ((True, attended), (False, plain)))
        assert one == pytest.approx(other, rel=0.02)


def test_counts_are_those_of_the_error_rates():
    torch.manual_seed(0)
    model = bottleneck.build(True, 8)
    rows = bottleneck.counts_by_length(model, WORDS, [(1, 3), (4, 9)])
    assert [row["words"] for row in rows] == [2, 1]
    said, edits, sounds = (
        pronounce(model, list(WORDS)),
        *(sum(row[name] for row in rows) for name in ("edits", "sounds")),
    )
    assert edits / sounds == phoneme_error_rate(said, list(WORDS.values()))
    assert sum(row["wrong"] for row in rows) / 3 == word_error_rate(said, list(WORDS.values()))


def test_runs_are_written_once_and_taken_up(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(bottleneck, "split", lambda name: WORDS)
    monkeypatch.setattr(bottleneck, "SEEDS", (0, 1))
    monkeypatch.setattr(bottleneck, "WIDTHS", {4: 5})
    monkeypatch.setattr(bottleneck, "EVERY", 1)
    table = tmp_path / "bottleneck.csv"
    arguments = ["--table", str(table), "--threads", "1"]
    assert bottleneck.main(arguments) == 0
    rows = bottleneck.read_table(table)
    assert len(rows) == 2 * 2 * len(bottleneck.GROUPS) and set(rows[0]) == set(bottleneck.FIELDS)
    assert {row["updates"] for row in rows} == {bottleneck.EPOCHS}
    kept = table.read_text().splitlines()[: -len(bottleneck.GROUPS)]
    table.write_text("\n".join(kept) + "\n")  # the last run was killed
    assert bottleneck.main(arguments) == 0 and bottleneck.read_table(table) == rows  # the same seed
    capsys.readouterr()
    assert bottleneck.main(arguments) == 0 and capsys.readouterr().out == ""


def test_the_shipped_table_is_whole():
    runs = {(row["attention"], row["d_hidden"], row["seed"]) for row in bottleneck.read_table()}
    widths = [*((1, d) for d in bottleneck.WIDTHS), *((0, d) for d in bottleneck.WIDTHS.values())]
    assert runs == {(attention, d, seed) for attention, d in widths for seed in bottleneck.SEEDS}
    assert len(bottleneck.read_table()) == len(runs) * len(bottleneck.GROUPS)
