"""Scaled dot-product attention."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.attention import ATTENTION_FAULTS, LARGE, attend, large_scores


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    key = torch.tensor([[[3.0, 1.0, 1.0, 1.0], [1.0, 3.0, 3.0, 3.0]]]).log()
    cases = [Case(query=torch.tensor([[[2.0, 0.0, 0.0, 0.0]]]), key=key, value=torch.tensor([[[8.0], [4.0]]]))]
    sizes = (((2,), 5, 7, 3, 6), ((3,), 6, 4, 9, 2), ((1,), 4, 4, 6, 5), ((2, 4), 5, 7, 3, 6), ((2,), 5, 7, 3, 6))
    # In float64 the root of d_k is a whole number, so torch.sqrt(torch.tensor(d_k)), which is float32, is exact.
    dtypes = (torch.float32, torch.float64, torch.float32, torch.float32, torch.float32)
    for dtype, (lead, L_q, L_k, d_k, d_v) in zip(dtypes, sizes, strict=True):
        query, key, value = (
            torch.randn(*lead, *shape, generator=rng, dtype=dtype) for shape in ((L_q, d_k), (L_k, d_k), (L_k, d_v))
        )
        cases.append(Case(query=query, key=key, value=value))
    query, key = large_scores(rng)
    return [*cases, Case(LARGE, values_only=True, query=query, key=key, value=torch.randn(2, 5, 4, generator=rng))]


def _all_heads(query, *_):
    """With two leading axes, the scale of all heads together."""
    return ((query.shape[1] if query.dim() == 4 else 1) * query.shape[-1]) ** -0.5


def _output_from(pooled):
    """Weights as they should be, and an output that is made without them; ``pooled`` gets the scores before their division."""

    def answer(query, key, value):
        return pooled(query @ key.mT, query.shape[-1] ** 0.5) @ value, attend(query, key, value)[1]

    return answer


_WEIGHTS = "multiply the values with what you hand back: weights @ value."

EXERCISE = Exercise(
    answer="attention", cases=_cases, reference=attend, returns=("output", "weights"),
    faults=(
        *ATTENTION_FAULTS,
        Fault("root of d_model with heads", "right for one leading axis; with two, the root of all heads' entries "
              "together (d_model) is divided by.", "divide by the root of query's last size alone, whatever stands in "
              "front.", factor=_all_heads),
        Fault("output from raw scores", "the weights are right, but the output isn't made with them: the scores as they are, "
              "without scale or softmax, are multiplied with the values.", _WEIGHTS, whole=_output_from(lambda s, root: s)),
        Fault("output from scaled scores", "the weights are right, but the output isn't made with them: the scaled scores, "
              "before the softmax, are multiplied with the values.", _WEIGHTS, whole=_output_from(lambda s, root: s / root)),
        Fault("output from unscaled weights", "the weights are right, but the output is made with others: those of scores that "
              "were not scaled.", _WEIGHTS, whole=_output_from(lambda s, root: s.softmax(-1))),
        Fault("scores handed back", "what you hand back beside the output are the scores, not the weights.",
              "return the result of the softmax.", shown=lambda weights, scores: scores),
    ),
    advice="print weights.sum(dim=-1): all ones. Then compare scores[0, 0, 0] with one dot product over d_k ** 0.5.",
)  # fmt: skip
