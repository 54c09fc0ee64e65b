"""The configuration: the paper's base model by default, and nothing impossible."""

import dataclasses

import pytest

from course_utils.models import TransformerConfig


def test_defaults_are_the_papers_base_model():
    c = TransformerConfig(11, 13)
    assert (c.num_layers, c.d_model, c.d_ff, c.num_heads, c.dropout) == (6, 512, 2048, 8, 0.1)


def test_it_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        TransformerConfig(11, 13).d_model = 64
    assert dataclasses.replace(TransformerConfig(11, 13), d_model=64).d_model == 64


@pytest.mark.parametrize("positions", ["learned", "none"])
def test_odd_sizes_are_fine_without_pairs(positions):
    assert TransformerConfig(11, 13, d_model=15, num_heads=3, positions=positions).d_model == 15


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"src_vocab": 0}, r"src_vocab \(0\)"),
        ({"tgt_vocab": -1}, r"tgt_vocab \(-1\)"),
        ({"num_layers": 0}, r"num_layers \(0\)"),
        ({"d_model": 0}, r"d_model \(0\)"),
        ({"d_ff": 0}, r"d_ff \(0\)"),
        ({"num_heads": 0}, r"num_heads \(0\)"),
        ({"max_len": 0}, r"max_len \(0\)"),
        ({"num_heads": 5}, r"num_heads \(5\) must divide d_model \(512\)"),
        ({"dropout": 1.0}, r"dropout \(1\.0\)"),
        ({"dropout": -0.1}, r"dropout \(-0\.1\)"),
        ({"positions": "rope"}, r"positions \('rope'\).*'rotary'"),
        ({"d_model": 15, "num_heads": 3}, r"d_model \(15\).*even.*sinusoidal"),
        ({"d_model": 20, "num_heads": 4, "positions": "rotary"}, r"\(5\).*even.*rotary"),
        ({"pad_id": 11}, r"pad_id \(11\).*vocabularies"),
        ({"pad_id": -1}, r"pad_id \(-1\)"),
    ],
)
def test_bad_values_are_named(as_a_user, changes, words):
    with pytest.raises(ValueError, match=words):
        TransformerConfig(**{"src_vocab": 11, "tgt_vocab": 13, **changes})
