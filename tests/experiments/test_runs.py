"""The tables: what was run once is not run again, each experiment fills its own, those that come with the course are whole."""

import math
from dataclasses import replace
from functools import partial
from importlib import import_module

import pytest
import torch
from torch import nn

from course_utils.datasets.text_windows import TEXT
from course_utils.models import DecoderConfig, DecoderLM, count_parameters
from course_utils.pretrained import shipped
from course_utils.results import path_of, read_rows, rows_of
from course_utils.small_models import lookups as lookups_task
from course_utils.small_models import places as places_task
from course_utils.small_models.bottleneck import CONTEXTS
from course_utils.training import one_cycle_rate
from experiments import (
    bottleneck,
    budgets,
    comparison,
    copiers,
    gates,
    lookups,
    narrow_heads,
    norm_order,
    seeds,
    warmups,
)
from experiments.__main__ import NAMES, TABLES, main
from experiments.recipes import RECIPES
from experiments.runs import append_rows, belongs, make_missing

WORDS = {"cat": (("K", "AE", "T"),), "act": (("AE", "K", "T"), ("AE", "K")), "tactics": (("T", "AE", "K", "T"),)}
TRANSFORMER = replace(RECIPES["transformer"], stress_weight=0.0, bfloat16=False)  # neither takes made-up words
MUON = pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="Muon came with PyTorch 2.9")
# What makes each experiment small enough for a test, and how many rows it writes then.
SMALL = {
    "bottleneck": ({"SEEDS": (0, 1), "WIDTHS": {4: 5}, "EVERY": 1, "split": lambda name: WORDS}, 4 * 2 * 5),
    "narrow_heads": ({"SEEDS": (3,), "HEADS": (1, 4), "run": partial(narrow_heads.run, steps=4, every=2)}, 2 * 2),
    "lookups": (
        {
            "SEEDS": (3,),
            "FURTHER": {
                "from random weights": {4: 2},
                "trained on": {1: 4},
                "keys and values of 32": {1: 2},
                "mean of the group": {2: 2},
                "first of the group": {1: 2},
            },
            "FINE": 6,
            "COARSE": 2,
            "run": partial(lookups.run, steps=4, every=2),
        },
        2 * 4 + 2 * 2 + 1,
    ),
    "places": ({"SEEDS": (3,), "LAYERS": [(1, "RoPE"), (2, "none")], "LENGTHS": (12, 24)}, 2 * 2 * 2),
    "by_position": ({"SEEDS": (3,), "SETTINGS": [(1, "ALiBi", 50), (2, "RoPE", 50)]}, 2 * 2),
    "norm_order": ({"SEEDS": (3,), "settings": lambda: [(("post-norm", 1, 0.01, 1, "root"), 300)]}, 7),
    "warmups": ({"SEEDS": (3,), "EVERY": 1, "copied": lambda model: 0.5}, 4 * 2),
    "copiers": ({"SEEDS": (3,), "LENGTHS": (3, 4), "copied": lambda model, length: 0.5}, 4 * 2),
    "comparison": (
        {
            "VARIANTS": {n: comparison.VARIANTS[n] for n in ("Transformer, Adam", "decoder-only, Muon")},
            "RATES": (0.001, 0.01),
            "SEEDS": (0, 1),
            "EPOCHS": {"sweep": 1, "run": 2},
            "say": lambda model, words: [("K", "AE", "T")] * len(words),
            **{name: lambda: WORDS for name in ("train_words", "sweep_words", "judged_words")},
        },
        2 * 2 + 2 * 2 * 2,
    ),
    "ablation": ({"SEEDS": (0,), "split": lambda name: WORDS}, 6),
    "budgets": (
        {
            "EPOCHS": (1, 2),
            "LATER": ((2, 0), (1, 1)),
            "train_words": lambda: WORDS,
            "judged": lambda model, part: (0.5, 50.0, 20.0, "1f"),
        },
        2 * 2 + 2 * 2,
    ),
    "unmasked": ({"SEEDS": (0,), "split": lambda name: WORDS}, 1),
    "seeds": (
        {
            "EPOCHS": {"transformer": 2},
            "SEEDS": (0, 1),
            "RECIPES": {
                "transformer": replace(TRANSFORMER, config=TRANSFORMER.config | {"num_layers": 1, "d_model": 16})
            },
            "split": lambda name: WORDS,
        },
        2,
    ),
    "gates": ({"SEEDS": (1,), "STEPS": 2, "LONGER": 3}, 2 * 3 + 2 + 2),
    "long_contexts": (
        {
            "LENGTHS": (8, 16),
            "MOST": {"explicit": 8, "in blocks, left to autograd": 8},
            "UNMASKED_LENGTH": 8,
            "CUTS": (2, 4),
            "EVERY_PLACE": 6,
            "TEXTS": 2,
            "READ": 16,
            "TRAINED": 8,
            "PIECE": 8,
            "WRITTEN": 12,
            "EVERY": 6,
            "TIMED": 3,
            "CACHES": {"everything": {}, "first 4, latest 508": {"window": 3, "sinks": 2}},
        },
        2 * 4 + 2 + 2 * 2 + 2 * 2 + 2 + 2 * 2,
    ),
    "recall": (
        {
            "RATES": (0.01, 0.03),
            "CHOICE_SEEDS": (5,),
            "SEEDS": (3,),
            "SIZE_SEEDS": (3,),
            "ALL": [("delta", 4, 8, "twice", 2), ("softmax", 8, 8, "once", 2)],
            "WIDE": [("softmax", 4, 16, "once", 2)],
            "SIZES": [("delta", 8, 8, "once", 2)],
            "LONGER": [("delta", 4, 8, "twice", 3)],
        },
        2 * 2 + 2 + 1 + 1 + 1,
    ),
    "induction": (
        {"SEEDS": (3,), "SETTINGS": {"two layers": (2, "learned", (4, 6), 2)}, "EVERY": 1, "COUNT": 4},
        2 * 7 + 2 * 2 * 4 + 2 * 5 + 4 * 3,
    ),
    "traffic": ({"OPERATIONS": ("exchange", "all_reduce"), "NUMBERS": 4}, 2),
}
OF_MUON = ("ablation", "budgets", "comparison", "gates", "seeds", "unmasked")
STEPS = {"places": 2, "warmups": 2, "copiers": 2}


def test_rows_are_appended_under_one_header(tmp_path):
    table = tmp_path / "runs.csv"
    assert rows_of(table) == []
    append_rows(table, ("seed", "score"), [{"seed": 0, "score": 0.5}])
    append_rows(table, ("seed", "score"), [{"seed": 1, "score": 0.25}, {"seed": 2, "score": 0.75}])
    assert [row["score"] for row in rows_of(table)] == ["0.5", "0.25", "0.75"]
    assert table.read_bytes().count(b"seed") == 1 and b"\r" not in table.read_bytes()


def test_a_run_is_made_once_and_leaves_no_half_behind(tmp_path, capsys):
    table, fields, made = tmp_path / "runs.csv", ("norm", "seed", "step", "loss"), []

    def run(norm, seed):
        made.append((norm, seed))
        for step in (1, 2):
            yield {"norm": norm, "seed": seed, "step": step, "loss": 0.5}

    wanted = [("before", 0), ("before", 1), ("after", 0), ("before", 0)]
    make_missing(table, fields, [({"norm": norm, "seed": seed}, partial(run, norm, seed)) for norm, seed in wanted])
    assert made == wanted[:3] and len(rows_of(table)) == 6
    assert capsys.readouterr().out.splitlines()[-1] == "norm after, seed 0 done"
    with pytest.raises(ZeroDivisionError):
        make_missing(table, fields, [({"norm": "after", "seed": 1}, lambda: ({"loss": 1 / n} for n in (1, 0)))])
    assert len(rows_of(table)) == 6


@pytest.mark.parametrize("name", [pytest.param(n, marks=MUON) if n in OF_MUON else n for n in TABLES])
def test_an_experiment_fills_its_table_and_takes_it_up_where_it_stopped(name, monkeypatch, tmp_path, capsys):
    experiment, (settings, number) = import_module(f"experiments.{name}"), SMALL[name]
    monkeypatch.setattr("experiments.recipes.split", lambda name: WORDS)
    for setting, value in settings.items():
        monkeypatch.setattr(experiment, setting, value)
    if name in STEPS:
        monkeypatch.setattr(experiment, "run", partial(experiment.run, steps=STEPS[name]))
    table = tmp_path / f"{name}.csv"
    command = [name, "--table", str(table), "--threads", "1"]
    assert main(command) == 0
    rows = rows_of(table)
    assert len(rows) == number and tuple(rows[0]) == experiment.FIELDS
    last, _ = list(experiment.runs(table))[-1]
    lines = table.read_text().splitlines()
    kept = [line for line, row in zip(lines[1:], rows, strict=True) if not belongs(row, last)]
    table.write_text("\n".join([lines[0], *kept]) + "\n")  # the last run was killed
    assert len(kept) < number and main(command) == 0
    timed = {"minutes": "", "seconds": "", "megabytes": "", "measured": ""}
    assert [row | timed for row in rows_of(table)] == [row | timed for row in rows]  # the same seed
    capsys.readouterr()
    assert main(command) == 0 and capsys.readouterr().out == ""


@pytest.mark.parametrize("name", TABLES)
def test_the_table_that_comes_with_the_course_holds_every_run_and_no_other(name):
    experiment, rows = import_module(f"experiments.{name}"), read_rows(name)
    of_each = [[row for row in rows if belongs(row, wanted)] for wanted, _ in experiment.runs(path_of(name))]
    assert tuple(rows[0]) == experiment.FIELDS
    assert all(of_each) and sum(map(len, of_each)) == len(rows)


def test_a_table_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"name \('lookup'\) .*lookups, narrow_heads, norm_order"):
        read_rows("lookup")


def test_partners_of_the_bottleneck_have_nearly_as_many_parameters():
    for attended, plain in bottleneck.WIDTHS.items():
        sizes = [count_parameters(bottleneck.build(c, attended if c == "attention" else plain)) for c in CONTEXTS]
        assert max(sizes) < 1.02 * min(sizes) and len(sizes) == 4


def test_conversions_groups_of_one_change_nothing_and_a_mean_is_a_mean():
    torch.manual_seed(0)
    model = lookups_task.Lookups(4)
    question, items, _ = lookups_task.make_batch(3, torch.Generator().manual_seed(2))
    for way in lookups.WAYS.values():
        assert torch.equal(lookups.converted(model, 4, way)(question, items), model(question, items))
    pooled = lookups.converted(model, 2, lookups.mean_of_group).attention.k_proj.weight
    whole = model.attention.k_proj.weight.chunk(4)
    assert torch.allclose(pooled[: lookups.D_HEAD], (whole[0] + whole[1]) / 2)
    first = lookups.converted(model, 2, lookups.first_of_group).attention.v_proj.bias
    assert torch.equal(first[lookups.D_HEAD :], model.attention.v_proj.bias.chunk(4)[2])


def test_one_layer_without_positions_is_no_better_than_the_guesser():
    for row in read_rows("places"):
        if (row["layers"], row["encoding"]) == ("1", "none"):
            guess = places_task.guesser(int(row["length"]))[int(row["question"]) - 1].item()
            assert float(row["wrong"]) > guess - 0.02


def test_the_ways_of_a_warmup_differ_in_one_thing():
    before, after = warmups.small_model("before").config, warmups.small_model("after").config
    different = {name for name, value in vars(before).items() if value != getattr(after, name)}
    assert different == {"pre_norm", "final_norm"}  # behind the last sum, post-norm has its norm already
    rates = [one_cycle_rate(s, warmups.STEPS, warmups.PEAK, rise=warmups.RISE["no"]) for s in range(1, warmups.STEPS)]
    assert rates == sorted(rates, reverse=True) and rates[0] > 0.999 * warmups.PEAK  # without one, it only falls
    torch.manual_seed(0)
    assert warmups.copied(warmups.small_model()) == 0.0


def test_a_copier_without_an_attention_learns_with_all_the_rest():
    for missing, part in copiers.PARTS.items():
        model = copiers.without(warmups.small_model(), missing)
        fixed = {name: value for name, value in model.named_parameters() if not value.requires_grad}
        assert len(fixed) == (0 if part is None else 2 * 2) and not any(value.any() for value in fixed.values())
        assert all(name.startswith(part[0]) and f"{part[1]}.o_proj" in name for name in fixed)


def test_the_pairs_of_a_copier_are_padded_copies_of_all_lengths():
    source, target = copiers.three_to_ten(200, torch.Generator().manual_seed(0))
    lengths = (source != 0).sum(dim=1)
    assert set(lengths.tolist()) == set(range(3, 11)) and torch.equal((target != 0).sum(dim=1), lengths + 2)
    row = next(index for index, length in enumerate(lengths) if length == 4)
    assert target[row].tolist() == [1, *source[row, :4].tolist(), 2, 0, 0, 0, 0, 0, 0]


def test_norm_order_measures_every_setting_to_its_last_step():
    steps = {}
    for row in read_rows("norm_order"):
        steps.setdefault(tuple(row[name] for name in norm_order.RUN), []).append(int(row["step"]))
    wanted = {setting: tuple(range(0, steps + 1, 50)) for setting, steps in norm_order.settings()}
    for (*setting, _), found in steps.items():
        order, layers, rate, warmup, start = setting
        assert tuple(found) == wanted[order, int(layers), float(rate), int(warmup), start]
    assert len(steps) == len(wanted) * len(norm_order.SEEDS)


def test_runs_of_the_comparison_use_the_rate_that_their_sweep_found_best():
    rows = read_rows("comparison")
    for row in rows:
        if row["part"] == "run":
            assert float(row["rate"]) == comparison.best_rate(row["variant"], rows)
        if row["right"]:
            right = comparison.which_right(row["right"]).float()
            assert len(right) == len(comparison.judged_words())
            assert float(row["WER"]) == round(100 * (1 - right.mean().item()), 2)


def test_a_language_model_that_knows_nothing_is_judged_in_bits():
    model = DecoderLM(DecoderConfig(vocab_size=len(TEXT), num_layers=1, d_model=8, d_ff=8, num_heads=2, num_kv_heads=1))
    nn.init.zeros_(model.generator.weight)
    assert seeds.held_out(model.eval(), "valid") == pytest.approx(math.log2(len(TEXT)), abs=1e-3)


def test_the_cards_tell_the_spread_over_seeds():
    for name, card, digits in (("transformer", "pronounce", 2), ("language_model", "documentation", 3)):
        text = (shipped.FOLDER / f"{card}.md").read_text(encoding="utf-8")
        for part in ("valid", "test"):
            found = [float(row[part]) for row in read_rows("seeds") if row["model"] == name]
            assert len(found) == 3 and f"{min(found):.{digits}f} to {max(found):.{digits}f} " in text


def test_longer_runs_use_the_rate_that_the_shortest_found_best():
    rows = read_rows("budgets")
    for row in rows:
        later = (row["epochs"], row["seed"]) != (str(budgets.EPOCHS[0]), "0")
        assert not later or float(row["rate"]) == budgets.chosen_rate(row["variant"], rows)
        right = comparison.which_right(row["right"]).float()
        assert float(row["WER"]) == round(100 * (1 - right.mean().item()), 2)
    with pytest.raises(ValueError, match=r"no run of variant \('GRU, Adam'\) for 9 epochs"):
        budgets.chosen_rate("GRU, Adam", [])


def test_without_padding_the_missing_mask_is_not_missed():
    full = {row["seed"]: float(row["valid_WER"]) for row in read_rows("ablation") if row["variant"] == "full"}
    for row in read_rows("unmasked"):
        assert float(row["padded_WER"]) > float(row["alone_WER"]) + 1
        assert abs(float(row["alone_WER"]) - full[row["seed"]]) < 1


def test_the_command_names_what_it_knows(capsys):
    for name in NAMES:
        with pytest.raises(SystemExit) as ended:
            main([name, "--help"])
        assert ended.value.code == 0 and f"experiments {name}" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main(["lookup"])
    message = capsys.readouterr().err
    assert ended.value.code == 2 and "'lookup'" in message and all(name in message for name in NAMES)


def test_the_two_networks_of_gates_have_as_many_parameters():
    numbers = {network: count_parameters(gates.build(network)) for network in gates.NETWORKS}
    assert len(set(numbers.values())) == 1
