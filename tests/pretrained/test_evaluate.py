"""Model cards: their figures are those of the weights that come with the course."""

import pytest
import torch

from course_utils import pretrained
from course_utils.datasets.documentation import DocumentationSplit, documentation_split
from course_utils.datasets.pronunciations import split
from course_utils.models import DecoderConfig, DecoderLM
from course_utils.pretrained import evaluate, shipped


def claims(what):
    """The rows of a card's table, each from column to cell."""
    _, _, block, _ = evaluate._card(what, shipped.FOLDER)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def number(cell):
    return float(cell.replace(",", "").rstrip(" %"))


@pytest.mark.parametrize("what", ["recurrent", "pronounce"])
def test_cards_of_pronunciation_say_what_the_weights_do(as_a_user, what):
    """Greedy, on the whole test part; the command does the same for valid and with every search."""
    found = claims(what)
    assert {row["model"].strip("`") for row in found} == set(evaluate.GROUPS[what])
    for row in found:
        if row["search"] == "greedy":
            model = pretrained.load(row["model"].strip("`"))
            rates = evaluate.error_rates(model, split("test"))
            # One word in 5,968 is 0.02 %: another build of PyTorch may decide one or two words otherwise.
            assert number(row["test WER"]) == pytest.approx(100 * rates["WER"], abs=0.05)
            assert number(row["test PER"]) == pytest.approx(100 * rates["PER"], abs=0.02)
            assert number(row["parameters"]) == sum(p.numel() for p in model.parameters())


def test_beams_on_a_part_of_the_test_words(as_a_user):
    """The whole takes half a minute: the command's business. The rate of 597 words is within 3 standard errors, 1.8 % each."""
    (claimed,) = (row for row in claims("pronounce") if row["search"] == "beam 5")
    some = dict(list(split("test").items())[::10])
    rates = evaluate.error_rates(pretrained.load("transformer"), some, decode=evaluate.SEARCHES["beam 5"])
    assert number(claimed["test WER"]) == pytest.approx(100 * rates["WER"], abs=5.4)
    assert rates["WER"] <= evaluate.error_rates(pretrained.load("transformer"), some)["WER"] + 0.01


def test_the_transformer_is_small_and_beats_the_recurrent_model_and_beams_do_no_harm():
    rates = {
        (row["model"], row["search"]): number(row["test WER"]) for row in claims("recurrent") + claims("pronounce")
    }
    greedy, beam = rates["`transformer`", "greedy"], rates["`transformer`", "beam 5"]
    assert beam <= greedy < rates["`recurrent_attention`", "greedy"]
    assert number(claims("pronounce")[0]["parameters"]) <= 2e6
    assert sum(file.stat().st_size for file in shipped.FOLDER.glob("*.safetensors")) <= 8e6


def test_the_card_of_the_language_model_says_what_it_does():
    """The text differs a little from one release of Python to the next, so only about."""
    (row,) = claims("documentation")
    for part in ("valid", "test"):
        ids = evaluate.encode_text(getattr(documentation_split(), part))
        scores = evaluate.text_scores(
            pretrained.load("language_model"), ids, length=evaluate.WINDOW, stride=evaluate.STRIDE
        )
        assert number(row[f"{part} bits"]) == pytest.approx(scores["bits"], abs=0.1)


def test_rows_of_a_language_model(monkeypatch):
    torch.manual_seed(0)
    model = DecoderLM(DecoderConfig(99, num_layers=1, d_model=8, d_ff=8, num_heads=2, max_len=600))
    monkeypatch.setattr(shipped, "load", lambda name: model)
    monkeypatch.setattr(shipped, "training_of", lambda name: {"epochs": 1, "seed": 2, "minutes": 3.5})
    monkeypatch.setattr(
        evaluate, "documentation_split", lambda: DocumentationSplit(*(text * 300 for text in ("abc ", "abd ", "abe ")))
    )
    head, rule, row = evaluate.figures(["tiny"]).splitlines()
    assert head.startswith("| model | parameters | epochs | seed | minutes | train loss |")
    assert all(f"| {part} bits |" in head for part in DocumentationSplit._fields)
    assert set(rule) == {"|", "-"} and head.count("|") == rule.count("|") == row.count("|")
    assert "| 1 | 2 | 3.5 | 4.6" in row  # log(99) = 4.595 before training


def test_attention_beats_no_attention_on_held_out_words():
    rates = {row["model"]: number(row["test WER"]) for row in claims("recurrent") if row["search"] == "greedy"}
    assert rates["`recurrent_attention`"] < rates["`recurrent_no_attention`"] - 2


def test_the_command_compares_and_writes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    monkeypatch.setattr(evaluate, "figures", lambda names: "| new |")
    card = tmp_path / "recurrent.md"
    card.write_text(f"# Title\n\n{evaluate.BEGIN}\n| old |\n{evaluate.END}\n\nThe end.\n")
    assert evaluate.main(["recurrent"]) == 1 and "something else:\n| old |" in capsys.readouterr().out
    evaluate.write_card("recurrent", folder=tmp_path)
    assert card.read_text() == f"# Title\n\n{evaluate.BEGIN}\n| new |\n{evaluate.END}\n\nThe end.\n"
    assert evaluate.main(["recurrent"]) == 0 and "the same" in capsys.readouterr().out
    card.write_text("no place")
    with pytest.raises(ValueError, match="no place for figures"):
        evaluate.write_card("recurrent", folder=tmp_path)
