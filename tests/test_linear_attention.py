"""Linear attention in three forms: equal to each other, to a loop over sums, and to softmax-free attention."""

import re

import pytest
import torch
import torch.nn.functional as F

from course_utils.linear_attention import chunked_form, feature_map, masked_form, recurrent_form
from course_utils.masks import causal_mask

B, H, L, D_K, D_V = 2, 3, 11, 5, 4


def inputs(dtype=torch.float64):
    rng = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, B, H, L, D_K, generator=rng, dtype=dtype)
    v = torch.randn(B, H, L, D_V, generator=rng, dtype=dtype)
    k = F.normalize(k, dim=-1)
    decay, beta = torch.rand(2, B, H, L, generator=rng, dtype=dtype) * 0.8 + 0.1
    return [x.requires_grad_() for x in (q, k, v)], decay.requires_grad_(), beta.requires_grad_()


KINDS = {"linear": (False, False), "decay": (True, False), "delta": (False, True), "both": (True, True)}


def options(kind, decay, beta):
    use_decay, use_beta = KINDS[kind]
    return {"decay": decay if use_decay else None, "beta": beta if use_beta else None}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk_size", [1, 4, 11, 50])
def test_three_forms_are_one(kind, chunk_size):
    tensors, decay, beta = inputs()
    how = options(kind, decay, beta)
    learned = [*tensors, *(x for x in how.values() if x is not None)]
    step, state = recurrent_form(*tensors, **how)
    chunked, last = chunked_form(*tensors, chunk_size=chunk_size, **how)
    whole = masked_form(*tensors, **how)
    assert torch.allclose(state, last, atol=1e-12)
    weight = torch.linspace(-1, 2, step.numel(), dtype=step.dtype).view_as(step)
    expected = torch.autograd.grad((step * weight).sum(), learned)
    for other in (chunked, whole):
        assert torch.allclose(step, other, atol=1e-12)
        for mine, theirs in zip(torch.autograd.grad((other * weight).sum(), learned), expected, strict=True):
            assert torch.allclose(mine, theirs, atol=1e-10)


def test_each_form_in_single_precision():
    tensors, decay, beta = (inputs(torch.float32)[0], *inputs(torch.float32)[1:])
    step = recurrent_form(*tensors, decay=decay, beta=beta)[0]
    assert torch.allclose(step, chunked_form(*tensors, decay=decay, beta=beta, chunk_size=4)[0], atol=1e-5)
    assert torch.allclose(step, masked_form(*tensors, decay=decay, beta=beta), atol=1e-5)


def test_without_anything_it_is_attention_without_softmax():
    (q, k, v), _, _ = inputs()
    scores = (q @ k.mT).masked_fill(~causal_mask(L), 0.0)
    assert torch.allclose(recurrent_form(q, k, v)[0], scores @ v, atol=1e-12)


def test_decay_is_a_sum_over_the_past():
    (q, k, v), decay, _ = inputs()
    expected = torch.zeros_like(v)
    for i in range(L):
        for j in range(i + 1):
            left = decay[..., j + 1 : i + 1].prod(dim=-1, keepdim=True)
            expected[..., i, :] += left * (q[..., i, :] * k[..., j, :]).sum(-1, keepdim=True) * v[..., j, :]
    assert torch.allclose(masked_form(q, k, v, decay=decay), expected, atol=1e-12)


def test_the_delta_rule_with_beta_1_reads_back_what_was_written_last():
    """Keys of length 1: after a write the state says of this key what was written, whatever it said before."""
    (_, k, v), _, _ = inputs()
    output, _ = chunked_form(k, k, v, beta=torch.ones(B, H, L, dtype=k.dtype), chunk_size=4)
    assert torch.allclose(output, v, atol=1e-10)
    assert not torch.allclose(chunked_form(k, k, v, chunk_size=4)[0], v, atol=0.1)


def test_the_delta_rule_is_a_step_of_gradient_descent():
    """On half the squared distance between what the state says of the key and the value (Schlag et al., 2021)."""
    (_, k, v), _, beta = inputs()
    k, v, beta = (x[:, :, :2].detach() for x in (k, v, beta))
    _, first = recurrent_form(k[:, :, :1], k[:, :, :1], v[:, :, :1], beta=beta[:, :, :1])
    state = first.clone().requires_grad_()
    loss = (k[:, :, 1:] @ state - v[:, :, 1:]).square().sum() / 2
    (gradient,) = torch.autograd.grad(loss, state)
    _, second = recurrent_form(k, k, v, beta=beta)
    assert torch.allclose(second, state - beta[:, :, 1, None, None] * gradient, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_goes_on_where_it_stopped(kind):
    tensors, decay, beta = inputs()
    how = options(kind, decay, beta)
    whole, last = recurrent_form(*tensors, **how)
    state, outputs = None, []
    for part in (slice(0, 3), slice(3, 4), slice(4, L)):
        some = {name: x if x is None else x[..., part] for name, x in how.items()}
        output, state = chunked_form(*(x[..., part, :] for x in tensors), chunk_size=2, state=state, **some)
        outputs.append(output)
    assert torch.allclose(torch.cat(outputs, dim=-2), whole, atol=1e-12) and torch.allclose(state, last, atol=1e-12)


def test_what_has_faded_away_makes_no_nan():
    rng = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 400, 4, generator=rng)
    decay = torch.full((400,), 0.5)  # 0.5 ** 400 is below the smallest number of single precision
    step, whole = recurrent_form(q, k, v, decay=decay)[0], masked_form(q, k, v, decay=decay)
    assert torch.isfinite(whole).all() and torch.allclose(step, whole, atol=3e-4)


def test_the_feature_map_is_positive():
    x = torch.linspace(-5, 5, 11)
    assert (feature_map(x) > 0).all() and torch.allclose(feature_map(x), F.elu(x) + 1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"key": torch.zeros(B, H, L, D_K + 1)}, "query has shape"),
        ({"value": torch.zeros(B, H, L + 1, D_V)}, "each key needs one value"),
        ({"decay": torch.full((B, H, L), 1.5)}, "decay runs from 1.5 to 1.5; expected above 0 and at most 1"),
        ({"decay": torch.full((H, L), 0.5)}, "decay has shape"),
        ({"beta": torch.full((B, H), 0.5)}, "beta has shape"),
        ({"state": torch.zeros(B, H, D_V, D_K)}, "state has shape"),
        ({"chunk_size": 0}, "chunk_size (0) must be at least 1"),
    ],
)
def test_what_does_not_fit_is_named(change, said, as_a_user):
    (q, k, v), _, _ = inputs()
    with pytest.raises(ValueError, match=re.escape(said)):
        chunked_form(**{"query": q, "key": k, "value": v} | change)
