"""Every query against every key, made of steps, and what goes wrong in each."""

import torch
import torch.nn.functional as F

from ..exercise import Case, Fault
from .shapes import same


def all_pairs(queries, keys, *, of_queries=same, of_keys=same, meet=lambda q, k: q @ k.transpose(-2, -1), finish=same):
    """Products of vectors; each keyword is one step."""
    return finish(meet(of_queries(queries), of_keys(keys)))


def pair_cases(seed):
    """Queries and keys of several sizes, unequal and all alike."""
    rng = torch.Generator().manual_seed(seed)
    cases = [Case(queries=torch.tensor([[[1.0, 2.0]], [[0.0, 1.0]]]), keys=torch.tensor([[[3.0, 1.0]], [[5.0, 7.0]]]))]
    for batch, L_q, L_k, size in ((2, 5, 7, 3), (4, 3, 2, 6), (3, 3, 3, 3), (2, 5, 7, 3)):
        shapes = ((batch, L_q, size), (batch, L_k, size))
        cases.append(
            Case(**{n: torch.randn(s, generator=rng) for n, s in zip(("queries", "keys"), shapes, strict=True)})
        )
    return cases


def unit(vectors):
    """Divided by their lengths."""
    return F.normalize(vectors, dim=-1)


def _root(vectors):
    return vectors.shape[-1] ** 0.5


PAIR_FAULTS = (
    Fault("all axes reversed", "keys.T on a batch: .T reverses all three axes, so the batch axis moves as well.",
          "swap the last two axes only: keys.transpose(-2, -1).", meet=lambda q, k: q @ k.permute(2, 1, 0)),
    Fault("another pair of axes", "another pair of axes was swapped: transpose(0, 1) exchanges batch and length.",
          "swap the last two: transpose(-2, -1).", meet=lambda q, k: q @ k.transpose(0, 1)),
    Fault("keys reshaped", "a reshape (or view) in the place of a transpose: right shape, scrambled content.",
          "only a transpose swaps axes.", meet=lambda q, k: q @ k.reshape(k.shape[0], k.shape[2], k.shape[1])),
    Fault("queries and keys swapped", "keys times queries: your rows are keys, your columns queries.",
          "put the queries first: entry [b, i, j] is query i with key j.", meet=lambda q, k: k @ q.transpose(-2, -1)),
    Fault("every item with every item", "every item against every other: two batch axes in the result.",
          "item b meets item b only.", meet=lambda q, k: torch.einsum("bid,cjd->bcij", q, k)),
    Fault("keys added over the batch", "the keys of all items are added up (einsum: two letters for the batch).",
          "give the batch one letter, the same in both.", meet=lambda q, k: torch.einsum("bid,cjd->bij", q, k)),
    Fault("sums multiplied", "each vector is summed alone, the sums multiplied (einsum: two letters for d).",
          "give the last axis of both the same letter.", meet=lambda q, k: torch.einsum("bid,bje->bij", q, k)),
    Fault("nothing summed", "the products for every d, not added up: d still stands in the result.",
          "leave d out behind the arrow.", meet=lambda q, k: torch.einsum("bid,bjd->bijd", q, k)),
    Fault("summed over the keys", "the products are added up over the keys; d still stands in the result.",
          "leave d out behind the arrow, and keep the keys.", meet=lambda q, k: torch.einsum("bid,bjd->bid", q, k)),
    Fault("one with one", "query i with key i only: one row of numbers, where a matrix is asked for.",
          "every query meets every key: the two positions are two axes.", meet=lambda q, k: (q * k).sum(-1)),
    Fault("scaled", "the products are divided by the root of d. That comes in lesson 04; it is not asked for here.",
          "leave the division out.", of_queries=lambda q: q / _root(q)),
)  # fmt: skip
