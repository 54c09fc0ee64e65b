"""Deep encoders with the norm in both places: what is measured, and what the table holds."""

import torch

from course_utils.zoo import norm_order
from course_utils.zoo.runs import read_rows


def test_likeness_is_one_for_equal_tokens_and_zero_for_right_angles():
    assert abs(norm_order.likeness(torch.ones(2, 3, 4)) - 1) < 1e-6
    assert abs(norm_order.likeness(torch.eye(4)[None])) < 1e-6


def test_a_shallow_model_learns_to_reverse():
    torch.manual_seed(0)
    model = norm_order.Reverser(1, pre_norm=True)
    before = norm_order.measure(model)[0]
    assert list(norm_order.train(model, seed=0, rate=0.01, steps=60, every=30)) == [30, 60]
    assert norm_order.measure(model)[0] < 0.7 * before


def test_runs_that_are_there_are_not_made_again(tmp_path, monkeypatch):
    monkeypatch.setattr(norm_order, "SEEDS", (3,))
    monkeypatch.setattr(norm_order, "settings", lambda: [("post-norm", 1, 0.01, 1)])
    table = tmp_path / "norms.csv"
    assert norm_order.main(["--table", str(table), "--steps", "2"]) == 0
    rows = read_rows(table)
    assert [row["step"] for row in rows] == ["0"]
    assert norm_order.main(["--table", str(table), "--steps", "2"]) == 0 and read_rows(table) == rows


def test_the_shipped_table_has_every_setting_for_every_seed_and_no_other():
    found = {}
    for row in read_rows(norm_order.TABLE):
        setting = (row["order"], int(row["layers"]), float(row["rate"]), int(row["warmup"]))
        found.setdefault(setting, set()).add((row["seed"], int(row["step"])))
    assert found.keys() == set(norm_order.settings())
    assert len(set(map(frozenset, found.values()))) == 1
