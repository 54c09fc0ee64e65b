"""The command that pronounces."""

import pytest
import torch

from course_utils.models import Transformer, TransformerConfig
from course_utils.pretrained import pronounce as pronounce_module
from course_utils.pretrained.pronounce import drawn, main
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING, Alignment


def test_a_drawn_alignment_by_hand():
    weights = torch.tensor([[0.95, 0.05, 0.0], [0.1, 0.5, 0.4], [0.0, 0.3, 0.7]])
    assert drawn("axe", Alignment(["AE", "K", "<end>"], weights, 0.5), " .:*#").splitlines() == [
        "       a x e",
        "    AE ##",
        "     K   :::" + ":",
        " <end>   ..**",
    ]


def small_transformer():
    torch.manual_seed(4)
    config = TransformerConfig(len(SPELLING), len(SOUNDS), num_layers=2, d_model=8, d_ff=12, num_heads=4, max_len=64)
    return Transformer(config).eval()


@pytest.fixture
def untrained(monkeypatch):
    monkeypatch.setattr(pronounce_module, "load", lambda name: small_transformer())


def test_the_command_prints_sounds_and_alignment(untrained, capsys):
    assert main(["Cat", "qqq", "--beams", "3"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("cat (best first") and "\nqqq (best first" in said and said.count("%") == 6
    assert "       c a t \n".rstrip(" \n") in said and "the dictionary does not have this word" in said


@pytest.mark.parametrize("word", ["", "b2b", "caf\u00e9", "a" * 500])
def test_the_command_refuses_in_one_sentence(untrained, capsys, word):
    assert main(["cat", word]) == 2
    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) == 1 and "expected" in err


def test_the_command_draws_on_a_terminal_of_few_characters(untrained, capsys, monkeypatch):
    monkeypatch.setattr(pronounce_module, "SHADES", "\ud800")  # nothing can write this one
    assert main(["cat"]) == 0 and capsys.readouterr().out.isascii()
