"""Find the bug: a softmax over the queries."""

import functools

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.attention import MEETING_FAULTS, POOLING_FAULTS, WEIGHING_FAULTS, attend, shared


def _cases(seed):
    rng = torch.Generator().manual_seed(seed + 1)
    cases = []
    for b, L_q, L_k, d, d_v in ((1, 2, 3, 2, 1), (2, 5, 7, 3, 4), (4, 3, 2, 6, 5), (3, 3, 3, 3, 3), (2, 5, 7, 3, 4)):
        dtype = torch.float64 if b == 4 else torch.float32
        shapes = {"query": (b, L_q, d), "key": (b, L_k, d), "value": (b, L_k, d_v)}
        cases.append(Case(**{n: torch.randn(s, generator=rng, dtype=dtype) / d**0.25 for n, s in shapes.items()}))
    query, key, value = (torch.randn(2, length, 4, generator=rng) for length in (3, 5, 5))
    large = Case("the scores are large", values_only=True, query=80 * query, key=key, value=value)
    return [*cases, large]


_USED = "over the queries|over everything|not normalized|causal|hard argmax|keys pooled|weights transposed".split("|")
_BATCH = Fault("over the batch", "a softmax over the batch (dim=0).", "write dim=-1.", weigh=lambda s: s.softmax(0))
AFTER_THE_SCORES = (_BATCH, *(fault for fault in (*WEIGHING_FAULTS, *POOLING_FAULTS) if fault.name in _USED))

EXERCISE = Exercise(
    answer="attend", cases=_cases, returns=("output", "weights"),
    reference=functools.partial(attend, factor=lambda q, k, v: 1.0), faults=(
        Fault("still over the queries", "the bug is still there, dim=-2: your columns sum to 1, your rows should.",
              "each query shares out its weight among the keys: dim=-1.", weigh=lambda s: s.softmax(-2)),
        Fault("rows divided afterwards", "still a softmax over the queries, its rows divided by their sums.",
              "mend the softmax itself: dim=-1.", weigh=lambda s: shared(s.softmax(-2))),
        Fault("two softmaxes", "a second softmax behind the first: the rows sum to 1, but are nearly flat.",
              "replace the first softmax; do not add another.", weigh=lambda s: s.softmax(-2).softmax(-1)),
        Fault("transposed", "scores or weights were transposed: the rows sum to 1, but are rows of keys.",
              "keep (B, L_q, L_k), and normalize over its last axis.", weigh=lambda s: s.softmax(-2).mT),
        Fault("scaled", "now the scores are divided by the root of d. That comes in lesson 04.",
              "change the dimension of the softmax only.", factor=lambda q, k, v: q.shape[-1] ** -0.5),
        *MEETING_FAULTS, *AFTER_THE_SCORES,
    ), advice="print weights.sum(dim=-1): it must be 1 for every query.",
)  # fmt: skip
