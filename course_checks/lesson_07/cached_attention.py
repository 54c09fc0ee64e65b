"""7.7 · A layer that writes with a cache."""

import torch
import torch.nn.functional as F

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import HEADS
from .common import CACHES, READY_MADE, keeps_for_all


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, pieces, heads, kv_heads, d_head, *labels, beside=False, counted=False):
        d_model = heads * d_head
        rows = {"W_q": d_model, "W_k": kv_heads * d_head, "W_v": kv_heads * d_head, "W_o": d_model}
        weights = {name: 1.4 * torch.randn(n, d_model, generator=rng) / d_model**0.5 for name, n in rows.items()}
        x, driver = torch.randn(batch, sum(pieces), d_model, generator=rng), {"beside": beside, "counted": counted}
        return Case(*labels, driver=driver, **weights, num_heads=heads, num_kv_heads=kv_heads, x=x, pieces=pieces)

    several = "a later piece has several positions"
    return [
        case(1, [2, 1, 1], 2, 1, 2),
        case(2, [5, 1, 1, 1], 6, 2, 3),
        case(2, [1, 4, 3], 4, 2, 3, several),
        case(3, [2, 3, 1, 4], 6, 3, 2, several),  # in float32 all: the Cache of 7.2, which may be used, holds no other
        case(2, [7], 4, 2, 3, "all positions in one piece"),
        case(2, [1, 2, 2], 3, 3, 2, several),
        case(2, [3, 2, 1], 4, 1, 3, several, "another layer is in use beside it", beside=True),
        case(
            1, [1] * 16, 4, 4, 32, "the text comes in 16 pieces", counted=True
        ),  # wide: projections are most of the work
    ]


def outputs_of(case, half):
    """The outputs after ``half`` the positions, if the weights were doubled before those, and keys and values were kept.

    Args:
        case: Weights, numbers of heads, and the text ``x``.
        half: So many positions came before.
    """
    doubled = torch.full((case["x"].shape[1], 1), 2.0)
    doubled[:half] = 1.0

    def heads(name, count):
        return (case["x"] * doubled @ case[name].T).unflatten(-1, (count, -1)).transpose(1, 2)

    kv_heads, groups = case["num_kv_heads"], case["num_heads"] // case["num_kv_heads"]
    k, v = (heads(name, kv_heads).repeat_interleave(groups, dim=1) for name in ("W_k", "W_v"))
    output = F.scaled_dot_product_attention(heads("W_q", case["num_heads"]), k, v, is_causal=True)
    return (output.transpose(1, 2).flatten(2) @ (2 * case["W_o"]).T)[:, half:]


def without_the_last(case, result):
    """In place of the outputs after doubling: whether they show that earlier positions were projected again."""
    outputs, again, after = result
    if isinstance(after, torch.Tensor):
        kept = outputs_of(case, case["x"].shape[1] // 2)
        again = again or after.shape != kept.shape or not torch.allclose(after.to(kept), kept, 1e-3, 1e-3)
    return outputs, again


EXERCISE = Exercise(
    cases,
    returns=("outputs of all steps, joined", "work for earlier positions"),
    expects="class",
    driver="write_in_pieces",
    in_pytorch=True,
    compared=without_the_last,
    off_limits=(*READY_MADE, *HEADS, *CACHES),
    symptoms=(keeps_for_all,),
    advice="feed a text of three positions at once, then one by one: the first row that differs tells what is missing.",
)
