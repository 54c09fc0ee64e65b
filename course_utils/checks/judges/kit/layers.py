"""What the checks of layers have in common: cases, parts, and answers that return too much."""

import functools

import torch
from torch import nn

from ....layers import FeedForward, LayerNorm
from ....multi_head import MultiHeadAttention
from ..compare import value_difference
from ..symptoms.view import Told, View


@functools.cache
def _made(kind, d_model, size, which):
    """A part of a layer, made once: the probe fills it anew for every call."""
    return kind(d_model, size)


class Given(nn.Module):
    """What the constructors of the encoder and the decoder layer make; the encoder layer leaves some of it alone."""

    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm=True):
        super().__init__()
        self.self_attention, self.cross_attention = (_made(MultiHeadAttention, d_model, num_heads, i) for i in (1, 2))
        self.feed_forward = _made(FeedForward, d_model, d_ff, 1)
        self.norm_1, self.norm_2, self.norm_3 = (LayerNorm(d_model) for _ in range(3))
        self.dropout, self.pre_norm = nn.Dropout(dropout), pre_norm


def layer_arguments(rng, B, L, H, d_head, norms, training, dtype):
    """An input, numbers for the norms, and a seed that the other parameters are drawn from."""
    d_model = H * d_head
    given = {"x": 1.5 * torch.randn(B, L, d_model, generator=rng) + torch.randn(B, L, 1, generator=rng)}
    for number in range(1, norms + 1):
        given[f"norm_{number}.weight"] = 1 + 0.5 * torch.randn(d_model, generator=rng)
        given[f"norm_{number}.bias"] = torch.randn(d_model, generator=rng)
    given = {name: value.to(dtype) for name, value in given.items()}
    seed = int(torch.randint(10**6, (), generator=rng))
    return given | {"num_heads": H, "d_ff": d_model + 1, "dropout": 0.4, "training": training, "_seed": seed}


def padding(rng, B, L):
    """Which of L tokens are no padding, shape (B, 1, 1, L): at least two of them, and not all of the first row."""
    lengths = torch.randint(2, L + 1, (B,), generator=rng)
    lengths[0] = L - 1
    return (torch.arange(L) < lengths[:, None])[:, None, None, :]


def returns_more(view: View) -> Told | None:
    """A tuple that begins with the right output."""
    for index in view.wrong:
        have = view.cases[index].get("value", {"kind": "none"})
        first = have["value"][0] if have["kind"] in ("tuple", "list") and have["value"] else None
        if first is None or value_difference(view.exercise, view.expected[index]["value"], first):
            return None
    said = "the right output, and something more beside it."
    return Told("symptom", "returns more", said, "return the output alone.")
