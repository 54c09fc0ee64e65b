"""Temperature and entropy."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.attention import shared
from ...kit.shapes import same


def with_temperature(
    scores, temperature, *, heat=lambda s, t: s / t, weigh=lambda s: s.softmax(-1), after=lambda w, t: w,
    counted=lambda w, s, t: w, guard=lambda w: w.masked_fill(w == 0, 1.0), log=torch.log,
    times=lambda w, logs: w * logs, add=lambda terms: terms.sum(-1), sign=torch.neg, finish=same,
):  # fmt: skip
    """Weights, and the entropy of each row."""
    weights = after(weigh(heat(scores, temperature)), temperature)
    w = counted(weights, scores, temperature)
    return weights, finish(sign(add(times(w, log(guard(w))))))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [Case(scores=torch.tensor([[0.0, 1.0, 2.0]]), temperature=2.0)]
    for shape, temperature in (((5, 7), 0.7), ((4, 6), 2.5), ((5, 7), 1.5)):
        cases.append(Case(scores=2 * torch.randn(shape, generator=rng), temperature=temperature))
    zero = torch.tensor([[6.0, 0.0, 5.9], [1.0, 1.0, 1.0], [0.0, 0.3, 0.35]])  # and a small weight that counts
    return [*cases, Case("a weight is exactly 0", scores=zero, temperature=0.05, values_only=True)]


_EXACT = "change the weights only where they are exactly 0, or by less than 1e-8."

EXERCISE = Exercise(
    answer="with_temperature", cases=_cases, reference=with_temperature, returns=("weights", "entropy"), faults=(
        Fault("multiplied", "the scores multiplied by the temperature: a high temperature makes your weights sharper.",
              "divide the scores by the temperature.", heat=lambda s, t: s * t),
        Fault("temperature not used", "a softmax of the scores as they are: the temperature plays no part.",
              "divide the scores by the temperature before the softmax.", heat=lambda s, t: s),
        Fault("temperature squared", "the scores divided by the square of the temperature.",
              "divide by T itself. (It is the bandwidth whose square is a temperature.)", heat=lambda s, t: s / t**2),
        Fault("temperature after", "the weights were divided by the temperature, after the softmax.",
              "divide the scores, before the softmax.", heat=lambda s, t: s, after=lambda w, t: w / t),
        Fault("entropy of no weights", "the entropy of weights divided by the temperature: they do not sum to 1.",
              "divide the scores, before the softmax.", heat=lambda s, t: s, counted=lambda w, s, t: w / t),
        Fault("over the queries", "a softmax over the queries (dim=-2): your columns sum to 1, your rows should.",
              "normalize over the keys, dim=-1.", weigh=lambda s: s.softmax(-2)),
        Fault("no shift", "a softmax without a shift: at a low temperature exp overflows.",
              "subtract the maximum of each row, or call torch.softmax.", weigh=lambda s: shared(s.exp())),
        Fault("zeros unguarded", "no care for a weight of 0: 0 times its logarithm, minus infinity, is NaN.",
              "replace a weight of 0 by 1 before the logarithm, or use torch.special.entr.", guard=same),
        Fault("NaN replaced late", "NaN replaced by 0 after the sum: a row with a weight of 0 has entropy 0.",
              "mend the single terms, before the sum: the others still count.", guard=same, finish=torch.nan_to_num),
        *(Fault(f"epsilon {eps:g}", "a constant inside the logarithm, large enough to change the entropy.",
                _EXACT, guard=lambda w, eps=eps: w + eps) for eps in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)),
        *(Fault(f"clamped at {eps:g}", "weights were cut off from below, ordinary ones too.",
                _EXACT, guard=lambda w, eps=eps: w.clamp(min=eps)) for eps in (1e-2, 1e-3)),
        Fault("sign lost", "the entropy without its minus sign: an entropy is never negative.",
              "the logarithm of a weight is negative; put the minus in front of the sum.", sign=same),
        Fault("base 2", "the entropy with the logarithm to base 2, in bits.", "use the natural logarithm, .log().",
              log=torch.log2),
        Fault("mean over the keys", "the mean of the terms, not their sum.", "use .sum(dim=-1).",
              add=lambda terms: terms.mean(-1)),
        Fault("one number for all", "one entropy for the whole matrix; asked for is one for each query.",
              "sum over the last dimension only.", add=torch.sum),
        Fault("not weighted", "the sum of the logarithms, each not yet multiplied by its weight.",
              "each logarithm counts by its weight: w times log w.", times=lambda w, logs: logs),
        Fault("number of keys that count", "the exponential of the entropy, the number of keys that count.",
              "return the entropy itself.", finish=torch.exp),
        Fault("entropy without temperature", "the entropy is that of the weights at temperature 1.",
              "compute the entropy from the weights that you return.", counted=lambda w, s, t: s.softmax(-1)),
    ), advice="for equal scores the weights must be 1 / L_k and the entropy log(L_k); try it with four zeros.",
)  # fmt: skip
