"""Attention in blocks: the same output and the same gradients as the explicit form, in memory that grows with the length."""

import re

import pytest
import torch

from course_utils.attention import scaled_dot_product_attention
from course_utils.blockwise_attention import attention_in_blocks
from course_utils.masks import AttentionMask, causal_mask, padding_mask, sliding_window_mask
from course_utils.multi_head import repeat_kv

B, H, H_KV, L_Q, L_K, D_K, D_V = 2, 4, 2, 5, 7, 8, 6


def inputs(L_q=L_Q, L_k=L_K, seed=0):
    rng = torch.Generator().manual_seed(seed)
    shapes = (B, H, L_q, D_K), (B, H_KV, L_k, D_K), (B, H_KV, L_k, D_V)
    return [torch.randn(shape, generator=rng, dtype=torch.float64, requires_grad=True) for shape in shapes]


def explicit(q, k, v, mask, scale=None):
    k, v = (repeat_kv(x, q.shape[1] // k.shape[1]) for x in (k, v))
    return scaled_dot_product_attention(q, k, v, mask, scale=scale)[0]


def of_everything(output, tensors):
    weight = torch.linspace(-1, 2, output.numel(), dtype=output.dtype).view_as(output)
    return torch.autograd.grad((output * weight).sum(), tensors)


RNG = torch.Generator().manual_seed(7)
MASKS = {
    "none": None,
    "padding": padding_mask(torch.tensor([[5, 5, 5, 5, 5, 0, 0], [5, 0, 0, 0, 0, 0, 0]]), 0),
    "last queries": causal_mask(L_Q, L_K),
    "for each head": torch.rand(B, H, L_Q, L_K, generator=RNG) < 0.6,
    "for each batch": torch.rand(B, 1, L_Q, L_K, generator=RNG) < 0.6,
    "for each head alone": torch.rand(H, 1, L_K, generator=RNG) < 0.6,
    "some rows hide everything": torch.tensor([True, False, True, False, True])[:, None].expand(L_Q, L_K),
    "everything hidden": torch.zeros(1, 1, dtype=torch.bool),
}


@pytest.mark.parametrize("block_size", [1, 2, 3, 100])
@pytest.mark.parametrize("name", MASKS)
def test_output_and_gradients_are_those_of_the_explicit_form(name, block_size):
    tensors = inputs()
    ours = attention_in_blocks(*tensors, MASKS[name], block_size=block_size)
    theirs = explicit(*tensors, MASKS[name])
    assert torch.allclose(ours, theirs, atol=1e-12)
    for mine, other in zip(of_everything(ours, tensors), of_everything(theirs, tensors), strict=True):
        assert torch.allclose(mine, other, atol=1e-12)


@pytest.mark.parametrize("block_size", [1, 3, 4, 9])
def test_causal_by_blocks_of_which_some_are_skipped(block_size):
    tensors = inputs(9, 9)
    ours = attention_in_blocks(*tensors, AttentionMask(is_causal=True), block_size=block_size, scale=0.7)
    theirs = explicit(*tensors, causal_mask(9), scale=0.7)
    assert torch.allclose(ours, theirs, atol=1e-12)
    for mine, other in zip(of_everything(ours, tensors), of_everything(theirs, tensors), strict=True):
        assert torch.allclose(mine, other, atol=1e-12)


def test_a_window_whose_first_blocks_are_all_hidden():
    tensors = inputs(9, 9)
    mask = sliding_window_mask(9, window=2)
    assert torch.allclose(attention_in_blocks(*tensors, mask, block_size=2), explicit(*tensors, mask), atol=1e-12)


def test_large_scores_do_not_overflow():
    q, k, v = (x.detach().float() for x in inputs())
    assert torch.allclose(attention_in_blocks(q * 1e4, k, v, block_size=2), explicit(q * 1e4, k, v, None), atol=1e-5)


def test_gradients_by_finite_differences():
    tensors = inputs(3, 4)
    mask = torch.tensor([[True, False, True, True], [True] * 4, [False] * 4])
    assert torch.autograd.gradcheck(lambda q, k, v: attention_in_blocks(q, k, v, mask, block_size=2), tensors)


def test_nothing_of_the_size_of_all_weights_is_ever_made(monkeypatch):
    """The largest tensor that is made, forward and backward, counted by PyTorch's dispatcher."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Largest(TorchDispatchMode):
        most = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            made = func(*args, **(kwargs or {}))
            for it in made if isinstance(made, (tuple, list)) else [made]:
                if isinstance(it, torch.Tensor):
                    self.most = max(self.most, it.numel())
            return made

    def largest(attend, length):
        tensors = [torch.randn(1, 1, length, 4, requires_grad=True) for _ in range(3)]
        with Largest() as seen:
            attend(*tensors).sum().backward()
        return seen.most

    causal = AttentionMask(is_causal=True)
    assert largest(lambda q, k, v: scaled_dot_product_attention(q, k, v, causal)[0], 128) >= 128 * 128
    for length in (128, 512):
        assert largest(lambda q, k, v: attention_in_blocks(q, k, v, causal, block_size=16), length) == length * 4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"block_size": 0}, "block_size (0) must be at least 1"),
        ({"query": torch.zeros(B, 3, L_Q, D_K)}, "H_kv (2) must divide H (3)"),
        ({"key": torch.zeros(B, H_KV, L_K, 3)}, "key has shape"),
        ({"value": torch.zeros(B, H_KV, 6, D_V)}, "value has shape"),
        ({"mask": torch.ones(3, L_K, dtype=torch.bool)}, "does not broadcast"),
        ({"mask": AttentionMask(is_causal=True)}, "use causal_mask"),
    ],
)
def test_what_does_not_fit_is_named(change, said, as_a_user):
    q, k, v = inputs()
    with pytest.raises(ValueError, match=re.escape(said)):
        attention_in_blocks(**{"query": q, "key": k, "value": v, "mask": None} | change)
