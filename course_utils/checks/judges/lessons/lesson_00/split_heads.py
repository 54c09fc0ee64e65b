"""Split a dimension into heads."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.shapes import same


def split_heads(
    x, num_heads, *, cut=lambda x, b, l, h, d: x.reshape(b, l, h, d), move=lambda p: p.transpose(1, 2), finish=same,
):  # fmt: skip
    """Cut the last axis in two, then exchange heads and positions."""
    batch, length, size = x.shape
    return finish(move(cut(x, batch, length, num_heads, size // num_heads)))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [Case(x=torch.arange(8.0).view(1, 2, 4), num_heads=2)]
    sizes = ((2, 5, 3, 4), (3, 4, 2, 6), (2, 3, 6, 1), (4, 6, 1, 5), (2, 3, 2, 2), (2, 5, 3, 4))
    for batch, length, heads, size in sizes:
        cases.append(Case(x=torch.randn(batch, length, heads * size, generator=rng), num_heads=heads))
    return cases


EXERCISE = Exercise(
    answer="split_heads", cases=_cases, reference=split_heads, returns=("heads",), faults=(
        Fault("straight to the shape", "a reshape straight to (B, H, L, d_head): a head gets whole tokens, not parts.",
              "first (B, L, H, d_head), then transpose.", cut=lambda x, b, l, h, d: x.reshape(b, h, l, d), move=same),
        Fault("batch and positions merged", "batch and positions merged: three axes, where four are asked for.",
              "name all four sizes: B, L, H, d_head.", cut=lambda x, b, l, h, d: x.reshape(-1, h, d), move=same),
        Fault("interleaved",
              "heads that take every H-th entry: the last axis was split as (d_head, H), not (H, d_head).",
              "head 0 gets the first d_head entries.", cut=lambda x, b, l, h, d: x.reshape(b, l, d, h).transpose(2, 3)),
        Fault("sizes exchanged", "number and size of the heads exchanged: shape (B, d_head, L, H).", "num_heads is the "
              "number of parts, d_head the size of one.", cut=lambda x, b, l, h, d: x.reshape(b, l, d, h)),
        Fault("list of heads", "the right parts as a list; asked for is one tensor.",
              "torch.stack with dim=1 joins them.", finish=lambda heads: list(heads.unbind(1))),
    ), advice="try x = torch.arange(8).view(1, 2, 4) with 2 heads: head 0 must hold [[0, 1], [4, 5]].",
)  # fmt: skip
