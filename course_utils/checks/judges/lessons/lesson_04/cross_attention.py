"""Cross-attention: the tokens of x ask, the tokens of memory are asked."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.attention import FACTOR_FAULTS_OF_THREE_AXES, LARGE, OTHER_FAULTS_OF_THREE_AXES, attend, large_scores

SIZES = (
    (1, 2, 3, 4, 4, 2, 1), (2, 5, 7, 6, 6, 3, 4), (2, 6, 4, 8, 5, 9, 7), (3, 4, 4, 5, 9, 6, 2), (2, 5, 3, 4, 4, 4, 4),
    (2, 5, 7, 6, 6, 3, 4),
)  # fmt: skip


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for place, (B, L_q, L_k, d_x, d_m, d_k, d_v) in enumerate(SIZES):
        dtype = torch.float64 if place == 2 else torch.float32
        x, memory = (torch.randn(B, L, d, generator=rng, dtype=dtype) for L, d in ((L_q, d_x), (L_k, d_m)))
        W_q, W_k, W_v = (
            torch.randn(a, b, generator=rng, dtype=dtype) / a**0.5 for a, b in ((d_x, d_k), (d_m, d_k), (d_m, d_v))
        )
        cases.append(Case(x=x, memory=memory, W_q=1.4 * W_q, W_k=1.2 * W_k, W_v=W_v))
    query, key = large_scores(rng)  # with projections that leave the vectors as they are
    W_v = torch.randn(16, 4, generator=rng)
    return [*cases, Case(LARGE, values_only=True, x=query, memory=key, W_q=torch.eye(16), W_k=torch.eye(16), W_v=W_v)]


def _cross_attention(
    x, memory, W_q, W_k, W_v, *, asks=lambda x, memory: x, keys_of=lambda x, memory: memory,
    values_of=lambda x, memory: memory, value_by=lambda tokens, W_k, W_v: tokens @ W_v, **steps,
):  # fmt: skip
    query, key = asks(x, memory) @ W_q, keys_of(x, memory) @ W_k
    return attend(query, key, value_by(values_of(x, memory), W_k, W_v), given=(x, memory), **steps)


def _weights_unscaled(x, memory, W_q, W_k, W_v):
    scores = (x @ W_q) @ (memory @ W_k).mT
    return _cross_attention(x, memory, W_q, W_k, W_v)[0], scores.softmax(-1)


def _of_x(x, memory):
    return x


def _both(change):
    """Keys and values of one and the same other memory."""
    return {"keys_of": change, "values_of": change}


_SIZE = "divide by the root of d_k, the last size of the projected query."
_SAME = "a key and its value come from the same token: take both from memory."

FAULTS = (
    Fault("root of the size of x", "the scores are divided by the root of d_x, the size of x before its projection.",
          _SIZE, factor=lambda q, k, v, x, memory: x.shape[-1] ** -0.5),
    Fault("root of the size of memory", "the scores are divided by the root of d_m, the size of memory before its "
          "projection.", _SIZE, factor=lambda q, k, v, x, memory: memory.shape[-1] ** -0.5),
    Fault("values by the key projection", "the keys are added up: values made with W_k, or weights @ key. W_v plays no "
          "part.", "value = memory @ W_v.", value_by=lambda tokens, W_k, W_v: tokens @ W_k),
    Fault("values not projected", "the tokens of memory are added up as they are: the values were not projected.",
          "value = memory @ W_v.", value_by=lambda tokens, W_k, W_v: tokens),
    Fault("self-attention on x", "self-attention on x: memory plays no part.", "make keys and values of memory.",
          **_both(_of_x)),
    Fault("self-attention on the memory", "self-attention on memory: x plays no part.", "make the queries of x.",
          asks=lambda x, memory: memory),
    Fault("x and memory exchanged", "x and memory are exchanged: here memory asks, and x is asked.",
          "queries come from x, keys and values from memory.", asks=lambda x, memory: memory, **_both(_of_x)),
    Fault("values from x", "the keys come from memory, but the values from x.", _SAME, values_of=_of_x),
    Fault("keys from x", "the values come from memory, but the keys from x.", _SAME, keys_of=_of_x),
    Fault("memory of the first item", "the first item's memory stands for the whole batch.",
          "keep the batch axis: memory, not memory[0].", **_both(lambda x, memory: memory[:1].expand_as(memory))),
    Fault("memory cut", "memory is cut to the length of x.", "use all its tokens: L_q and L_k may differ.",
          **_both(lambda x, memory: memory[:, : x.shape[1]])),
    Fault("joined", "x and memory are joined to one sequence, so that x attends to itself as well.",
          "keys and values come from memory alone.", **_both(lambda x, memory: torch.cat([x, memory], dim=1))),
    Fault("weights unscaled", "the output is right, but the weights beside it are those of scores that were not scaled.",
          "divide by the root of d_k for both: hand back the weights that the values are multiplied with.",
          whole=_weights_unscaled),
)  # fmt: skip

EXERCISE = Exercise(
    answer="cross_attention", cases=_cases, reference=_cross_attention, returns=("output", "weights"),
    faults=(*FACTOR_FAULTS_OF_THREE_AXES, *FAULTS, *OTHER_FAULTS_OF_THREE_AXES),
    advice="check the pieces: queries (B, L_q, d_k) from x, keys (B, L_k, d_k) and values (B, L_k, d_v) from memory.",
)  # fmt: skip
