"""Undo a permute."""

import functools

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.shapes import same


def undo_permute(
    x, order, *, places=lambda order: sorted(range(len(order)), key=order.__getitem__), move=torch.Tensor.permute,
):  # fmt: skip
    """The axes back where they came from."""
    return move(x, tuple(places(order)))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [Case(x=torch.arange(6.0).view(1, 2, 3).permute(1, 2, 0).contiguous(), order=(1, 2, 0))]
    for axes in ("201", "10", "3021", "021", "120", "2310", "30412", "201"):
        order, sizes = tuple(map(int, axes)), (3, 3, 3) if axes == "120" else (2, 4, 3, 1, 5)[: len(axes)]
        cases.append(Case(x=torch.randn(sizes, generator=rng).permute(order).contiguous(), order=order))
    return cases


EXERCISE = Exercise(
    answer="undo_permute", cases=_cases, reference=undo_permute, returns=("original",), faults=(
        Fault("permuted again", "the same permute once more: that undoes a swap of two axes, but not a cycle of three.",
              "old axis order[i] went to place i, so place order[i] must get axis i back.", places=same),
        Fault("order reversed", "a permute by the order read backwards, which does not undo it.",
              "ask of each old axis at which place of order it stands.", places=lambda order: order[::-1]),
        Fault("reshaped", "a reshape or view in place of a permute: the numbers stay in the order in which they were.",
              "move the axes with permute.", move=lambda x, places: x.reshape([x.shape[p] for p in places])),
        Fault("swaps in a row", "one transpose after the other: each swap moves axes that a later one counts on.",
              "find the whole inverse order first, then permute once.",
              whole=lambda x, order: functools.reduce(lambda y, pair: y.transpose(*pair), enumerate(order), x)),
        *(Fault(f"{which} two swapped", f"the {which} two axes exchanged, whatever order says.",
                "order says where each axis has gone: use it.", whole=lambda x, order, axes=axes: x.transpose(*axes))
          for which, axes in (("first", (0, 1)), ("last", (-2, -1)))),
        Fault("not moved", "x as it came: no axis has moved.", "permute by the inverse of order.", places=sorted),
    ), advice="write order down with its places 0, 1, 2 above it, and read the two lines from bottom to top.",
)  # fmt: skip
