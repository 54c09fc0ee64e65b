"""From multi-head to grouped-query."""

import functools

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [Case(weight=torch.tensor([[1.0], [3.0], [10.0], [20.0]]), num_heads=4, num_kv_heads=2)]
    sizes = ((12, 7, 4, 2), (24, 10, 6, 2), (18, 5, 6, 3), (10, 6, 5, 1), (8, 9, 4, 4), (12, 7, 4, 2), (36, 5, 12, 2))
    sizes = (*sizes, (8, 8, 4, 2), (8, 4, 2, 2))  # square, and tall with nothing to pool
    for index, (rows, d_in, num_heads, num_kv_heads) in enumerate(sizes):
        weight = torch.randn(rows, d_in, generator=rng, dtype=torch.float64 if index == 3 else torch.float32)
        cases.append(Case(weight=weight, num_heads=num_heads, num_kv_heads=num_kv_heads))
    return cases


def _in_groups(heads, h_kv):
    return heads.unflatten(0, (h_kv, -1))  # (H_kv, H / H_kv, d_head, d_in)


def _pool(
    weight, num_heads, num_kv_heads, *, groups=_in_groups, join=lambda heads: heads.mean(1),
    share=lambda h, h_kv: h_kv / h, finish=lambda pooled, n: pooled.flatten(0, 1),
):  # fmt: skip
    """The mean head of each group (Ainslie et al. 2023, section 2.1); ``share`` is what each head counts."""
    size = num_heads // num_kv_heads
    pooled = join(groups(weight.unflatten(0, (num_heads, -1)), num_kv_heads))  # (H_kv, d_head, d_in)
    return finish(pooled * size * share(num_heads, num_kv_heads), size)


_MEAN = "take the mean of all heads of the group."
_ROWS = "neighboring heads form a group: view as (H_kv, H / H_kv, d_head, d_in), then the mean over axis 1."

EXERCISE = Exercise(
    answer="pool_heads", cases=_cases, reference=_pool, returns=("pooled weight",), faults=(
        Fault("every H_kv-th head", "heads that stand H_kv apart are averaged: the grouping of `repeat`, not of "
              "`repeat_interleave`.", _ROWS, groups=lambda x, h_kv: x.unflatten(0, (-1, h_kv)).transpose(0, 1)),
        Fault("groups of H_kv heads", "each group has num_kv_heads heads: the number of groups is taken for their "
              "size.", _ROWS, groups=lambda x, h_kv: x.unflatten(0, (-1, h_kv))),
        Fault("over the groups", "the mean goes over the groups, not inside each group.", _ROWS,
              groups=lambda x, h_kv: _in_groups(x, h_kv).transpose(0, 1)),
        Fault("neighboring rows", "neighboring rows are averaged, which are features of the same head.",
              "average feature i of one head with feature i of the others: keep d_head as an axis of its own.",
              groups=lambda x, h_kv: x.reshape(h_kv, x.shape[1], -1, x.shape[2]).transpose(1, 2)),
        Fault("overlapping groups", "the groups start at heads 0, 1, 2 and so on, and overlap.", "group j starts at "
              "head j * (H / H_kv).", groups=lambda x, h_kv: x.unfold(0, len(x) // h_kv, 1)[:h_kv].permute(0, 3, 1, 2)),
        Fault("all heads alike", "the mean of all heads, H_kv times: multi-query attention in disguise.",
              "average inside each group only.", groups=lambda x, h_kv: x.expand(h_kv, *x.shape)),
        Fault("first heads", "the first H_kv heads are kept, and the others are thrown away.", _MEAN,
              groups=lambda x, h_kv: x[:h_kv, None]),
        Fault("columns", "the columns are averaged; they are the inputs.", "the heads stand in the rows: a weight has "
              "the shape (out, in).", groups=lambda x, h_kv: x.mean(2, keepdim=True)[:, None]),
        Fault("sum", "the heads of each group are added up, not averaged: too large by the factor H / H_kv.", _MEAN,
              share=lambda h, h_kv: 1),
        *faults_of("share", "divide by the size of a group, num_heads // num_kv_heads.",
            ("divided by all heads", "the sum of each group is divided by num_heads.", lambda h, h_kv: 1 / h),
            ("divided by the groups", "the sum of each group is divided by num_kv_heads, the number of groups.",
             lambda h, h_kv: 1 / h_kv)),
        *faults_of("join", _MEAN,
            ("first head of each group", "the first head of each group is kept, the others are thrown away.", lambda x: x[:, 0]),
            ("last head of each group", "the last head of each group is kept, the others are thrown away.", lambda x: x[:, -1]),
            ("running mean", "the mean of the mean so far and the next head: later heads count more.",
             lambda x: functools.reduce(lambda mean, head: (mean + head) / 2, x.unbind(1))),
            ("largest of each group", "the largest number of each group.", lambda x: x.amax(1)),
            ("median", "the median of each group.", lambda x: x.median(1).values)),
        Fault("copied back to all heads", "the means are copied back to all H heads: nothing is saved.",
              "the result has H_kv * d_head rows.",
              finish=lambda pooled, n: pooled.repeat_interleave(n, dim=0).flatten(0, 1)),
        Fault("heads not merged", "an axis too many: (H_kv, d_head, d_in).",
              "merge the first two axes: .flatten(0, 1), or reshape.", finish=lambda pooled, n: pooled),
    ), advice="pool the rows [1], [3], [10], [20] of four heads with d_head 1 into two: it must give [2] and [15].",
)  # fmt: skip
