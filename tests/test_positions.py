"""Positions against the paper's formula, numbers worked by hand, Hugging Face's Llama and Bloom, and by their properties."""

import math

import pytest
import torch
from tensors import randn
from torch import nn

from course_utils.positions import (
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    alibi_bias,
    alibi_slopes,
    apply_rope,
    rotary_angles,
    shift_matrix,
)

B, H, L_Q, L_K, D_MODEL, D_HEAD = 2, 4, 5, 7, 12, 6


def test_sinusoidal_table_by_hand():
    """d_model = 4: two pairs, the first turning by 1 radian a position, the second by 1/100."""
    table = SinusoidalPositions(4, max_len=3).table
    expected = [
        [0, 1, 0, 1],
        [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)],
        [math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)],
    ]
    torch.testing.assert_close(table, torch.tensor(expected), atol=1e-7, rtol=1e-6)
    far = SinusoidalPositions(D_MODEL, max_len=400).table[399, 5].item()
    assert far == pytest.approx(math.cos(399 / 10000 ** (4 / D_MODEL)), abs=1e-6)


@pytest.mark.parametrize("delta", [1, 6, 50, -3])
def test_a_shift_is_a_rotation(delta):
    table, matrix = SinusoidalPositions(D_MODEL, max_len=400).table, shift_matrix(delta, D_MODEL)
    positions = torch.arange(3, 350)
    torch.testing.assert_close(table[positions + delta], table[positions] @ matrix.T, atol=1e-5, rtol=0)
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(D_MODEL), atol=1e-6, rtol=0)  # a rotation keeps lengths
    blocks = torch.block_diag(*[torch.ones(2, 2)] * (D_MODEL // 2)).bool()
    assert (matrix[~blocks] == 0).all()
    back = shift_matrix(-delta, D_MODEL)
    torch.testing.assert_close(matrix @ back, shift_matrix(0, D_MODEL), atol=1e-6, rtol=0)  # shifts add up


@pytest.mark.parametrize("kind", [SinusoidalPositions, LearnedPositions])
def test_forward_adds_the_rows_from_start_on(kind):
    layer, x = kind(D_MODEL, max_len=9), randn(B, L_Q, D_MODEL)
    before = x.clone()
    assert torch.equal(layer(x), x + layer.table[:L_Q])
    assert torch.equal(layer(x, start=4), x + layer.table[4:9])
    assert torch.equal(x, before)


def test_fixed_tables_are_no_weights_and_learned_ones_are():
    assert not SinusoidalPositions(D_MODEL, 9).state_dict() and not list(SinusoidalPositions(D_MODEL, 9).parameters())
    assert not RotaryPositions(D_HEAD).state_dict()
    torch.manual_seed(0)
    learned = LearnedPositions(64, max_len=500)
    assert isinstance(learned.table, nn.Parameter) and list(learned.state_dict()) == ["table"]
    assert learned.table.std().item() == pytest.approx(0.02, rel=0.05)
    learned(randn(B, L_Q, 64)).sum().backward()
    assert (learned.table.grad[:L_Q] == B).all() and (learned.table.grad[L_Q:] == 0).all()


def test_angles_keep_their_precision_far_out():
    angles = rotary_angles(torch.tensor([1_000_000]), 4)
    assert angles.dtype == torch.float64
    assert angles[0].tolist() == pytest.approx([1e6, 1e4], abs=1e-8)
    rotary = RotaryPositions(4, max_len=8001)
    assert rotary.cos[8000, 0].item() == pytest.approx(math.cos(8000), abs=1e-7)


def test_rope_by_hand():
    """A quarter turn of the first pair (0, 2), a half turn of the second (1, 3)."""
    angles = torch.tensor([[math.pi / 2, math.pi]])
    x = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    expected = torch.tensor([[-3.0, -2.0, 1.0, -4.0]])
    torch.testing.assert_close(apply_rope(x, angles.cos(), angles.sin()), expected)


@pytest.mark.parametrize("start", [0, 3])
def test_rope_equals_hugging_face(start):
    from transformers.models.llama import modeling_llama as llama

    config = llama.LlamaConfig(hidden_size=H * D_HEAD, num_attention_heads=H, rope_theta=10000.0)
    query, key = randn(B, H, L_K, D_HEAD), randn(B, H, L_K, D_HEAD, seed=1)
    positions = torch.arange(start, start + L_K)[None]
    cos, sin = llama.LlamaRotaryEmbedding(config)(query, positions)
    expected = llama.apply_rotary_pos_emb(query, key, cos, sin)
    rotary = RotaryPositions(D_HEAD, max_len=10)
    for actual, wanted in zip((rotary(query, start), rotary(key, start)), expected, strict=True):
        torch.testing.assert_close(actual, wanted, atol=1e-6, rtol=1e-6)


def test_rope_is_the_papers_up_to_the_order_of_the_features():
    """The paper pairs neighbors: each pair as a complex number, times exp(i angle)."""
    x, angles = randn(B, H, L_K, D_HEAD, dtype=torch.float64), rotary_angles(torch.arange(L_K), D_HEAD)
    pairs = torch.view_as_complex(x.unflatten(-1, (D_HEAD // 2, 2))) * torch.polar(torch.ones_like(angles), angles)
    paper = torch.view_as_real(pairs).flatten(-2)  # (B, H, L_k, d_head)
    order = torch.cat((torch.arange(0, D_HEAD, 2), torch.arange(1, D_HEAD, 2)))  # 0 2 4 1 3 5
    torch.testing.assert_close(apply_rope(x[..., order], angles.cos(), angles.sin()), paper[..., order])


def test_rope_keeps_the_dtype_and_position_0():
    rotary, x = RotaryPositions(D_HEAD), randn(B, H, L_Q, D_HEAD)
    assert rotary(x.bfloat16()).dtype == torch.bfloat16
    assert torch.equal(rotary(x)[:, :, 0], x[:, :, 0])
    torch.testing.assert_close(RotaryPositions(D_HEAD, base=100.0).cos[3, 1], torch.tensor(3 / 100 ** (2 / 6)).cos())


def test_alibi_slopes_are_the_papers():
    assert alibi_slopes(8).tolist() == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    # 12 is no power of two: the eight of 8 heads, then every second one of 16 heads
    expected = alibi_slopes(8).tolist() + [2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]
    assert alibi_slopes(12).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("num_heads", [1, 3, 8, 12])
def test_alibi_equals_bloom(num_heads):
    """Bloom adds slope * j, not -slope * (i - j): the same after the softmax, for the last query even up to a constant."""
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    theirs = build_alibi_tensor(torch.ones(1, L_K), num_heads, torch.float32)[:, 0]  # (H, L_k)
    last = alibi_bias(num_heads, L_K)[0, :, -1]  # (H, L_k)
    torch.testing.assert_close(last, theirs - theirs[:, -1:], atol=1e-6, rtol=1e-5)


def test_alibi_bias_by_hand():
    """Two heads, slopes 1/16 and 1/256; two queries at the positions 1 and 2 of three."""
    distance = torch.tensor([[1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    expected = -torch.stack((distance / 16, distance / 256))[None]
    assert torch.equal(alibi_bias(2, 2, 3), expected)
    assert torch.equal(alibi_bias(2, 3)[:, :, 1:], expected)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: SinusoidalPositions(5, 9), r"d_model \(5\).*even.*pairs"),
        (lambda: SinusoidalPositions(0, 9), r"d_model \(0\)"),
        (lambda: SinusoidalPositions(4, 0), r"max_len \(0\)"),
        (lambda: LearnedPositions(0, 9), r"d_model \(0\)"),
        (lambda: LearnedPositions(4, 0), r"max_len \(0\)"),
        (lambda: SinusoidalPositions(12, 4)(randn(B, 5, 12)), r"0 to 4.*max_len \(4\).*max_len=5"),
        (lambda: LearnedPositions(12, 9)(randn(B, 5, 12), start=5), r"5 to 9.*max_len \(9\).*max_len=10"),
        (lambda: LearnedPositions(12, 9)(randn(B, 5, 12), start=-1), r"start \(-1\)"),
        (lambda: LearnedPositions(12, 9)(randn(B, 5, 10)), r"\(2, 5, 10\).*d_model=12"),
        (lambda: SinusoidalPositions(12, 9)(randn(5, 12)), r"\(5, 12\).*\(B, L, d_model=12\)"),
        (lambda: shift_matrix(1, 3), r"d_model \(3\).*even"),
        (lambda: rotary_angles(torch.arange(3), 5), r"d \(5\).*even"),
        (lambda: rotary_angles(torch.arange(3)[None], 4), r"\(1, 3\).*\(L,\)"),
        (lambda: rotary_angles(torch.arange(3), 4, base=0.0), r"base \(0\.0\)"),
        (lambda: RotaryPositions(5), r"d_head \(5\).*even"),
        (lambda: RotaryPositions(6, max_len=0), r"max_len \(0\)"),
        (lambda: RotaryPositions(6, base=-1.0), r"base \(-1\.0\)"),
        (lambda: RotaryPositions(6, max_len=4)(randn(B, H, 5, 6)), r"max_len \(4\)"),
        (lambda: RotaryPositions(6)(randn(B, H, 5, 8)), r"\(2, 4, 5, 8\).*d_head=6"),
        (lambda: RotaryPositions(6)(randn(B, 5, 6)), r"\(2, 5, 6\).*\(B, H, L, d_head=6\)"),
        (lambda: apply_rope(randn(5, 6), randn(5, 6), randn(5, 6)), r"cos.*\(5, 6\).*\(5, 3\)"),
        (lambda: apply_rope(randn(5, 6), randn(5, 3), randn(4, 3)), r"sin.*\(4, 3\).*\(5, 3\)"),
        (lambda: apply_rope(randn(5, 3), randn(5, 1), randn(5, 1)), r"d_head \(3\)"),
        (lambda: alibi_slopes(0), r"num_heads \(0\)"),
        (lambda: alibi_bias(0, 5), r"num_heads \(0\)"),
        (lambda: alibi_bias(4, 0), r"L_q \(0\)"),
        (lambda: alibi_bias(4, 5, 3), r"L_k \(3\).*L_q \(5\)"),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises(ValueError, match=words):
        call()
