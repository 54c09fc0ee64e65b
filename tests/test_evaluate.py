"""Model cards: their figures are those of the weights that come with the course."""

import pytest

from course_utils import evaluate, pretrained
from course_utils.datasets.pronunciations import split


def claims(what):
    """The rows of a card's table: model to its cells."""
    _, _, block, _ = evaluate._card(what, pretrained.FOLDER)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
    return {row[0].strip("`"): dict(zip(rows[0], row, strict=True)) for row in rows[2:]}


@pytest.mark.parametrize("what", sorted(evaluate.GROUPS))
def test_cards_say_what_the_weights_do(what):
    """On the whole test part; the command does the same for valid as well."""
    found = claims(what)
    assert set(found) == set(evaluate.GROUPS[what])
    for name, row in found.items():
        model = pretrained.load(name)
        rates = evaluate.error_rates(model, split("test"))
        # One word in 5,968 is 0.02 %: another build of PyTorch may decide one or two words otherwise.
        assert float(row["test WER"].rstrip(" %")) == pytest.approx(100 * rates["WER"], abs=0.05)
        assert float(row["test PER"].rstrip(" %")) == pytest.approx(100 * rates["PER"], abs=0.02)
        assert row["parameters"] == f"{sum(p.numel() for p in model.parameters()):,}"


def test_attention_beats_no_attention_on_held_out_words():
    found = claims("recurrent")
    without, with_it = (
        float(found[f"recurrent_{kind}"]["test WER"].rstrip(" %")) for kind in ("no_attention", "attention")
    )
    assert with_it < without - 2


def test_the_command_compares_and_writes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pretrained, "FOLDER", tmp_path)
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
