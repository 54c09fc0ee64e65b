"""15.3 · One step of the ring, for several documents: ranks of several rings, taken through their steps in turn."""

import math

import torch

from course_utils.distributed.partial_attention import merge, partial_attention

from ..deciding.exercise import Case, Exercise
from .common import LAYOUTS, RINGS, from_both_ends, in_a_row, shuffled


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    log_3 = torch.tensor([0.0, math.log(3)]).view(1, 1, 2, 1)
    by_hand = [
        Case(
            query=torch.ones(1, 1, 1, 1),
            key=log_3,
            value=torch.tensor([100.0, 8.0]).view(1, 1, 2, 1),
            q_positions=torch.tensor([5]),
            k_positions=torch.tensor([7, 2]),
            starts=torch.tensor(starts),
            output=torch.full((1, 1, 1, 1), 4.0),
            lse=torch.zeros(1, 1, 1),
        )
        for starts in ([0], [0, 2], [0, 3])
    ]
    return [
        *by_hand,
        *steps_of_ring(in_a_row(6, 2), [0], (0, 1), (1, 2, 2), 3, 2, rng),
        *steps_of_ring(from_both_ends(12, 3), [0, 3, 9], (0, 1), (2, 4, 2), 3, 5, rng),
        *steps_of_ring(shuffled(15, 3, rng), [0, 1, 6, 10], (1,), (1, 3, 1), 4, 3, rng, torch.float64),
        *steps_of_ring(in_a_row(8, 2), [0, 5], (0, 1), (1, 2, 1), 4, 3, rng, size=12.0),
        *nothing_collected(rng),
    ]


def nothing_collected(rng):
    """A query that has collected nothing and sees no key of the block keeps 0 and minus infinity, whatever the others do."""
    made, never = [], [-math.inf] * 4
    for k_positions, lse in (([6, 1, 7], never), ([9, 8, 10], never), ([6, 1, 7], [*never[:2], 0.5, -1.0])):
        query, key, value = (torch.randn(1, heads, n, 2, generator=rng) for heads, n in ((2, 4), (1, 3), (1, 3)))
        places = {"q_positions": torch.tensor([0, 5, 7, 2]), "k_positions": torch.tensor(k_positions)}
        lse = torch.tensor(lse).expand(1, 2, -1).clone()  # (1, 2, 4)
        output = torch.randn(1, 2, 4, 2, generator=rng).masked_fill((lse == -math.inf)[..., None], 0.0)
        tensors = {"query": query, "key": key, "value": value, **places, "starts": torch.tensor([0, 4])}
        label = "a query has collected nothing and sees nothing"
        made.append(Case(label, **tensors, output=output, lse=lse))
    return made


def steps_of_ring(positions, starts, chosen, heads, d_k, d_v, rng, dtype=torch.float32, size=1.0):
    """A case for each step of the chosen ranks, with what these have collected by then; ``heads`` are B, H and H_kv.

    ``size`` stretches queries and keys, so that scores grow with its square.
    """
    starts = torch.tensor(starts)
    document = torch.bucketize(torch.arange(positions.numel()), starts, right=True)  # (L,)
    batch, num_heads, num_kv_heads = heads
    ranks, length = len(positions), positions.numel()
    query = size * torch.randn(batch, num_heads, length, d_k, generator=rng, dtype=dtype)
    key = size * torch.randn(batch, num_kv_heads, length, d_k, generator=rng, dtype=dtype)
    value = torch.randn(batch, num_kv_heads, length, d_v, generator=rng, dtype=dtype)
    made = []
    for rank in chosen:
        own = positions[rank]
        output = query.new_zeros(batch, num_heads, len(own), d_v)
        lse = query.new_full((batch, num_heads, len(own)), -math.inf)
        for step in range(ranks):
            block = positions[(rank - step) % ranks]
            seen = (block <= own[:, None]) & (document[block] == document[own][:, None])  # (n, n)
            tensors = {"query": query[:, :, own], "key": key[:, :, block], "value": value[:, :, block]}
            places = {"q_positions": own.clone(), "k_positions": block.clone(), "starts": starts.clone()}
            made.append(
                Case(
                    *_labels(step, seen, len(starts), size), **tensors, **places, output=output.clone(), lse=lse.clone()
                )
            )
            output, lse = merge(output, lse, *partial_attention(*tensors.values(), seen))
    return made


def _labels(step, seen, documents, size):
    labels = {
        "scores are large": size > 1,
        "it is the first step": step == 0,
        "no query sees a key of the block": not seen.any(),
    }
    labels["there are several documents"] = documents > 1
    labels["every query sees the whole block"] = bool(seen.all())
    return [label for label, holds in labels.items() if holds]


EXERCISE = Exercise(
    cases,
    returns=("output", "lse"),
    off_limits=LAYOUTS + RINGS,
    advice="write down for the first failing case which query may see which key, by position and document, and print your mask.",
)
