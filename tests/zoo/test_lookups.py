"""The task of four lookups: what it asks, how heads are shared out and converted, and what the table holds."""

import functools

import pytest
import torch

from course_utils.zoo import lookups
from course_utils.zoo.runs import read_rows


def test_the_target_is_the_content_beside_the_name_that_is_asked_for():
    question, items, target = lookups.make_batch(7, torch.Generator().manual_seed(1))
    numbers = items.view(7, lookups.ITEMS, 2, lookups.KINDS, lookups.ITEMS).argmax(
        -1
    )  # (n, items, names or contents, kinds)
    asked = question.view(7, lookups.KINDS, lookups.ITEMS).argmax(-1)
    for n in range(7):
        for kind in range(lookups.KINDS):
            names = numbers[n, :, 0, kind].tolist()
            assert sorted(names) == list(range(lookups.ITEMS))
            assert numbers[n, names.index(asked[n, kind]), 1, kind] == target[n, kind]


@pytest.mark.parametrize("num_kv_heads", [4, 2, 1])
def test_training_yields_accuracies_and_learns(num_kv_heads):
    torch.manual_seed(0)
    model = lookups.Lookups(num_kv_heads)
    assert lookups.accuracy(model) < 0.25
    found = list(lookups.train(model, 60, seed=0, every=30))
    assert [step for step, _ in found] == [30, 60] and found[-1][1] > 0.25


def test_groups_of_one_change_nothing_and_a_mean_is_a_mean():
    torch.manual_seed(0)
    model = lookups.Lookups(4)
    question, items, _ = lookups.make_batch(3, torch.Generator().manual_seed(2))
    for way in lookups.WAYS.values():
        assert torch.equal(lookups.converted(model, 4, way)(question, items), model(question, items))
    pooled = lookups.converted(model, 2, lookups.mean_of_group).attention.k_proj.weight
    whole = model.attention.k_proj.weight.chunk(4)
    assert torch.allclose(pooled[: lookups.D_HEAD], (whole[0] + whole[1]) / 2)
    first = lookups.converted(model, 2, lookups.first_of_group).attention.v_proj.bias
    assert torch.equal(first[lookups.D_HEAD :], model.attention.v_proj.bias.chunk(4)[2])


def test_a_run_measures_every_model_at_the_same_steps(tmp_path, monkeypatch):
    monkeypatch.setattr(lookups, "SEEDS", (3,))
    short = functools.partial(lookups.run, further=2, every=2)
    monkeypatch.setattr(lookups, "run", short)
    table = tmp_path / "lookups.csv"
    assert lookups.main(["--table", str(table), "--steps", "4"]) == 0
    rows = read_rows(table)
    scratch = [r["step"] for r in rows if r["start"] == "from random weights" and r["num_kv_heads"] == "2"]
    pooled = [r["step"] for r in rows if r["start"] == "mean of the group" and r["num_kv_heads"] == "2"]
    assert scratch == ["0", "2", "4", "6"] and pooled == ["4", "6"]
    assert lookups.main(["--table", str(table), "--steps", "4"]) == 0 and len(read_rows(table)) == len(rows)


def test_the_shipped_table_is_whole():
    rows = read_rows(lookups.TABLE)
    assert {int(row["seed"]) for row in rows} == set(lookups.SEEDS)
    last = str(lookups.STEPS + lookups.FURTHER)
    ends = [row for row in rows if row["step"] == last]
    assert len(ends) == len(lookups.SEEDS) * (3 + 2 * len(lookups.WAYS))
