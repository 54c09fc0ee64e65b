"""Four ways of training the copier: what differs between them, and what the table holds."""

import pytest
import torch

from course_utils.training import one_cycle_rate
from course_utils.zoo import warmups
from course_utils.zoo.runs import read_rows


def test_the_ways_differ_in_one_thing():
    before, after = warmups.small_model("before").config, warmups.small_model("after").config
    different = {name for name, value in vars(before).items() if value != getattr(after, name)}
    assert different == {"pre_norm", "final_norm"}  # behind the last sum, post-norm has its norm already


def test_without_a_warmup_the_rate_only_falls():
    rates = [one_cycle_rate(s, warmups.STEPS, warmups.PEAK, rise=warmups.RISE["no"]) for s in range(1, warmups.STEPS)]
    assert rates == sorted(rates, reverse=True) and rates[0] > 0.999 * warmups.PEAK


def test_an_untrained_model_copies_nothing():
    torch.manual_seed(0)
    assert warmups.copied(warmups.small_model()) == 0.0


@pytest.mark.slow
def test_runs_that_are_there_are_not_made_again(tmp_path, monkeypatch):
    monkeypatch.setattr(warmups, "SEEDS", (3,))
    monkeypatch.setattr(warmups, "EVERY", 1)
    monkeypatch.setattr(warmups, "copied", lambda model: 0.5)
    table = tmp_path / "warmups.csv"
    for _ in range(2):
        assert warmups.main(["--table", str(table), "--steps", "2"]) == 0
        rows = read_rows(table)
        assert len(rows) == 8 and [row["copied"] for row in rows] == ["", "0.5"] * 4


def test_the_shipped_table_is_whole():
    rows = read_rows(warmups.TABLE)
    ends = [row for row in rows if row["copied"]]
    assert len(rows) == len(ends) * warmups.STEPS // warmups.EVERY
    ways = {(row["norm"], row["warmup"], int(row["seed"])) for row in ends}
    assert ways == {(n, w, s) for n in ("before", "after") for w in ("yes", "no") for s in warmups.SEEDS}
