"""Find the bug: heads of different sizes."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.heads import WEIGHING_FAULTS
from ...kit.parts import faults_of


def uneven_heads(
    q, k, v, sizes, *, pieces=lambda t, sizes: t.split(sizes, -1), factor=lambda n, q_h, sizes: n**-0.5,
    weigh=lambda scores: scores.softmax(-1), join=lambda found: torch.cat(found, -1), stack=lambda w: torch.stack(w, 1),
):  # fmt: skip
    """Attention whose heads have sizes of their own; each keyword is one step. Returns output and weights."""
    parts = list(zip(*(pieces(t, sizes) for t in (q, k, v)), sizes, strict=True))
    scores = [q_h @ k_h.mT * factor(n, q_h, sizes) for q_h, k_h, _, n in parts]
    weights = [weigh(table[:, None])[:, 0] for table in scores]
    return join([w @ v_h for w, (_, _, v_h, _) in zip(weights, parts, strict=True)]), stack(weights)


def _cases(seed):
    rng, cases = torch.Generator().manual_seed(seed), []
    plan = ((1, 1, [1, 4]), (2, 5, [3, 1, 6]), (3, 6, [2, 2, 7, 1]), (2, 3, [9]), (2, 5, [1, 6, 3]), (2, 4, [3, 3, 3]))
    for B, L, sizes in plan:
        dtype = torch.float64 if B == 3 else torch.float32
        q, k, v = (1.5 * torch.randn(B, n, sum(sizes), generator=rng, dtype=dtype) for n in (L, L + 2, L + 2))
        cases.append(Case(q=q, k=k, v=v, sizes=sizes))
    return cases


_EVEN = "the features are cut into equal pieces, whatever sizes says."

EXERCISE = Exercise(
    answer="uneven_heads", cases=_cases, reference=uneven_heads, returns=("output", "weights"),
    faults=(
        *faults_of("factor", "divide by the root of this head's own size, q_h.shape[-1].",
            ("no scaling", "the scores are not scaled.", lambda n, q_h, s: 1.0),
            ("divided by the size", "each head's scores are divided by its size itself, not by the root of it.",
             lambda n, q_h, s: 1 / n),
            ("root of d_model", "every head's scores are divided by the root of d_model.", lambda n, q_h, s: sum(s) ** -0.5),
            ("root of the mean size", "every head's scores are divided by one root, that of d_model / H.",
             lambda n, q_h, s: (sum(s) / len(s)) ** -0.5),
            ("root of the largest size", "every head's scores are divided by the root of the largest size.",
             lambda n, q_h, s: max(s) ** -0.5),
            ("root of the first size", "every head's scores are divided by the root of head 0's size.",
             lambda n, q_h, s: s[0] ** -0.5)),
        *faults_of("pieces", "each head begins where the one before it ends: q.split(sizes, -1).",
            ("starts at h times its size", "head h starts at feature h * sizes[h], as if all heads had its size.",
             lambda t, sizes: [t[..., h * n : (h + 1) * n] for h, n in enumerate(sizes)]),
            ("all start at 0", "every head starts at feature 0.", lambda t, sizes: [t[..., :n] for n in sizes]),
            ("cut evenly, scaled by sizes", _EVEN, lambda t, sizes: t.tensor_split(len(sizes), -1))),
        Fault("cut evenly", _EVEN, "cut with q.split(sizes, -1).", factor=lambda n, q_h, s: q_h.shape[-1] ** -0.5,
            pieces=lambda t, sizes: t.tensor_split(len(sizes), -1)),
        *(fault for fault in WEIGHING_FAULTS if fault.name in ("over the queries", "hard maximum")),
        Fault("last head first", "the heads stand in reversed order, the last one first.",
            "put them side by side, head 0 first: torch.cat(outputs, -1).", join=lambda f: torch.cat(f[::-1], -1)),
        *faults_of("stack", "stack the heads' tables of weights with dim=1.",
            ("heads last", "the tables of weights stand on a last axis: (B, L_q, L_k, H).", lambda w: torch.stack(w, -1)),
            ("heads first", "the tables of weights stand before the batch: (H, B, L_q, L_k).", torch.stack),
            ("weights averaged", "one table of weights, the mean over the heads.", lambda w: torch.stack(w, 1).mean(1))),
    ),
    advice="work out the example head by head: head 1 compares vectors of size 4, and its scores are 2.1972 / 2 and 0.",
)  # fmt: skip
