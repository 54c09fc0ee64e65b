"""Split into heads."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.heads import SPLIT_FAULTS, split
from ...kit.parts import faults_of


def split_heads(x, num_heads, *, split=split, finish=lambda heads: heads):
    """``(B, L, d_model)`` to ``(B, H, L, d_head)``; each keyword is one step."""
    return finish(split(x, num_heads))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    places = 10.0 * torch.arange(2)[:, None] + torch.arange(4)
    sizes = ((2, 5, 12, 4), (3, 7, 10, 2), (2, 3, 8, 1), (4, 6, 5, 5), (2, 5, 12, 4))  # the last one seen before
    cases = [Case(x=torch.randn(B, L, d, generator=rng), num_heads=H) for B, L, d, H in sizes]
    double = torch.randn(2, 4, 6, generator=rng, dtype=torch.float64)
    turned = Case("`x` comes from a transpose", x=torch.randn(2, 5, 6, generator=rng), num_heads=2, _turned=True)
    return [Case(x=places[None], num_heads=2), *cases, Case(x=double, num_heads=3), turned]


_SQUARE = "the last axis is cut into num_heads times num_heads: that fits only where d_head is num_heads too."

EXERCISE = Exercise(
    answer="split_heads", cases=_cases, reference=split_heads, returns=("heads",),
    faults=(
        *(fault for fault in SPLIT_FAULTS if fault.name != "one head"),
        Fault("no transpose", "the cut without the transpose: your shape is (B, L, H, d_head).",
            "bring the heads forward: swap axes 1 and 2.", finish=lambda h: h.transpose(1, 2)),
        Fault("sizes exchanged", "num_heads was taken for the size of a head: your shape is (B, d_head, L, H).",
            "cut the last axis into num_heads parts of d_model // num_heads features, in this order.",
            split=lambda x, n: x.unflatten(-1, (-1, n)).transpose(1, 2), finish=lambda h: h),  # its shape told: no pairs
        *faults_of("finish", "the result is (B, H, L, d_head), with the heads as axis 1 (torch.stack takes dim=1).",
            ("features before tokens", "the last two axes are exchanged: (B, H, d_head, L).", lambda h: h.transpose(2, 3)),
            ("heads first", "the heads stand in front of the batch: (H, B, L, d_head).", lambda h: h.transpose(0, 1)),
            ("heads last", "the heads were stacked as the last axis: (B, L, d_head, H).", lambda h: h.movedim(1, -1)),
            ("a list of heads", "a list with one tensor for each head.", lambda h: list(h.unbind(1)))),
        *faults_of("split", "the last axis has num_heads * d_head features: cut it into num_heads times d_model // num_heads.",
            ("cut square", _SQUARE, lambda x, n: x.reshape(*x.shape[:2], n, n).transpose(1, 2)),
            ("unflattened square", _SQUARE, lambda x, n: x.unflatten(-1, (n, n)).transpose(1, 2))),
        Fault("transposed first", "tokens and features were exchanged before the cut; rows of a head mix several "
            "tokens.", "cut first, to (B, L, H, d_head), then exchange axes 1 and 2.",
            split=lambda x, n: x.transpose(1, 2).reshape(x.shape[0], n, x.shape[1], -1)),
    ),
    advice="try the example of the task: head 1 must hold the last features of every token.",
)  # fmt: skip
