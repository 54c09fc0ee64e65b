"""The spread of dot products, as they are and scaled."""

import torch

from ...exercise import Case, Exercise, Fault


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for label, n, d_k, size, mean in (
        ((), 600, 4, 1.0, 0.0),
        ((), 700, 64, 1.0, 0.0),
        (("the entries do not have variance 1",), 650, 7, 2.0, 0.0),
        (("the entries do not have mean 0",), 800, 24, 1.0, 0.5),
    ):
        query, key = (torch.randn(n, d_k, generator=rng) for _ in range(2))
        cases.append(Case(*label, query=size * query + mean, key=key + mean))
    return cases


def _spread(
    query, key, *, meet=lambda query, key: (query * key).sum(-1), factor=lambda query, key: query.shape[-1] ** -0.5,
    measure=torch.std, first=lambda measure, scores, factor: measure(scores),
    second=lambda measure, scores, factor: measure(scores * factor),
):  # fmt: skip
    scores, scale = meet(query, key), factor(query, key)
    return first(measure, scores, scale), second(measure, scores, scale)


_ROOT = "divide the scores by query.shape[-1] ** 0.5."
_STD = "use .std(), the standard deviation."

FAULTS = (
    Fault("not scaled", "both numbers are of the unscaled scores.", _ROOT, factor=lambda q, k: 1.0),
    Fault("both scaled", "both numbers are of the scaled scores.", "scaled = scores / root makes a new tensor, but "
          "scores /= root changes the old one.", first=lambda measure, scores, factor: measure(scores * factor)),
    Fault("divided by d_k", "the scores are divided by d_k, not by its square root: wide vectors' scores become too "
          "small.", _ROOT, factor=lambda q, k: 1 / q.shape[-1]),
    Fault("divided by the root of n", "the scores are divided by the root of n, the number of rows.",
          "the scale is the size of one vector, query.shape[-1].", factor=lambda q, k: q.shape[0] ** -0.5),
    Fault("root cut to a whole number", "the scores are divided by the root of d_k cut to a whole number.",
          "keep the root as it is, query.shape[-1] ** 0.5, without int, isqrt or //.",
          factor=lambda q, k: 1 / int(q.shape[-1] ** 0.5)),
    Fault("divided by the fourth root", "the scores are divided by the fourth root of d_k: half of the scaling is "
          "missing.", _ROOT, factor=lambda q, k: q.shape[-1] ** -0.25),
    Fault("multiplied", "the scores are multiplied by the root of d_k: scaling was to make them smaller.",
          "divide instead.", factor=lambda q, k: q.shape[-1] ** 0.5),
    Fault("cosines", "the second number is of the cosines: each pair is divided by its own two lengths.",
          "divide every score by the same number, the root of d_k.",
          factor=lambda q, k: 1 / (q.norm(dim=-1) * k.norm(dim=-1))),
    Fault("second number squared", "the second number is a variance: the deviation over the root of d_k was squared.",
          "divide the scores by query.shape[-1] ** 0.5, then take .std().",
          second=lambda measure, scores, factor: measure(scores * factor) ** 2),
    Fault("divided by their own spread", "the scores are divided by their own standard deviation: that gives 1 for any "
          "scores.", "divide by the root of d_k, whatever the scores are.",
          second=lambda measure, scores, factor: measure(scores / scores.std())),
    Fault("variance", "variances; the standard deviation is the root of the variance.", _STD, measure=torch.var),
    Fault("typical size", "the root of the mean square: it is the standard deviation only where the mean is 0.",
          "use .std(), which subtracts the mean first.", measure=lambda scores: scores.square().mean().sqrt()),
    Fault("mean of the absolute values", "the mean of the absolute scores, which is another measure of size.", _STD,
          measure=lambda scores: scores.abs().mean()),
    Fault("products not added", "the spread of the single products q_i k_i: they were not added up to dot products.",
          "sum over the last axis before you take the standard deviation.", meet=lambda q, k: q * k),
    Fault("added over the rows", "the products are added over the rows (dim=0): that mixes different pairs.",
          "sum over dim=-1, so that n numbers remain.", meet=lambda q, k: (q * k).sum(0)),
    Fault("mean of the products", "the mean of the products, where their sum was wanted: a division by d_k too many.",
          "use .sum(dim=-1) for the dot product.", meet=lambda q, k: (q * k).mean(-1)),
    Fault("all pairs", "the spread over all n times n pairs; row i of the queries belongs to row i of the keys only.",
          "multiply entry by entry, then sum over the last axis.", meet=lambda q, k: q @ k.T),
    Fault("theory", "the theory for standard normal entries, the root of d_k and 1, not a measurement.",
          "compute the dot products, then their standard deviation.",
          whole=lambda query, key: (query.shape[-1] ** 0.5, 1.0)),
    Fault("spread of the entries", "the spreads of the entries, put into a formula; no dot product was measured.",
          "compute the n dot products, then their standard deviation.",
          whole=lambda query, key: (query.std() * key.std() * query.shape[-1] ** 0.5, query.std() * key.std())),
)  # fmt: skip

EXERCISE = Exercise(
    answer="score_spread", cases=_cases, reference=_spread, returns=("unscaled", "scaled"),
    rtol=2e-3,  # accepts n for n - 1: with 600 rows that is less than 0.1 %
    faults=FAULTS,
    advice="print the shape of your scores: it must be (n,), one dot product for each row.",
)  # fmt: skip
