"""7.10 · Scores without keys."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import symptom


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, heads, L_q, L_k, d_head, d_c, dtype=torch.float32):
        shapes = {"query": (batch, heads, L_q, d_head), "latent": (batch, L_k, d_c), "W_up": (heads * d_head, d_c)}
        return Case(**{name: torch.randn(shape, generator=rng, dtype=dtype) for name, shape in shapes.items()})

    return [  # with 40 keys d_c is below d_head: then even the latents of all heads are smaller than their keys
        case(1, 1, 1, 2, 2, 3),
        case(2, 3, 2, 40, 5, 4),
        case(1, 4, 2, 40, 6, 3, torch.float64),
        case(2, 3, 2, 7, 4, 6),
        case(2, 3, 2, 40, 5, 4),
        case(3, 2, 2, 40, 5, 2),
        too_large_keys(rng),
    ]


OVERFLOW = "the keys would overflow, and the scores do not"


def too_large_keys(rng):
    """Whoever makes the keys, in whatever way, gets inf: one number of each is near 1e313, with the query's share near 1e10.

    Another one is as small as that is large, so that no factor for all of ``W_up`` saves both.
    """
    shapes = {"query": (2, 3, 2, 4), "latent": (2, 5, 3), "W_up": (12, 3)}
    numbers = {name: 0.5 + torch.rand(shape, generator=rng, dtype=torch.float64) for name, shape in shapes.items()}
    scales = torch.tensor([1e303, 1.0, 1e-303, 1e100], dtype=torch.float64)  # of the numbers of a key
    numbers["query"] /= scales
    numbers["W_up"] *= scales.repeat(3)[:, None]
    numbers["latent"] *= 1e10
    return Case(OVERFLOW, values_only=True, **numbers)


def overflows(answer):
    """Right values but where the keys overflow."""
    differing = [index for index in answer.wrong if answer.returned_everywhere() and answer.differs(index)]
    if [answer.cases[index].labels for index in differing] != [(OVERFLOW,)]:
        return None
    scores = answer.observed[differing[0]]["value"]["value"][0].get("value")
    if not isinstance(scores, torch.Tensor) or scores.isfinite().all():
        return None
    sentence = "where the keys are too large for a number, and the scores are not, yours are inf: you make the keys on the way."
    return symptom(sentence, ORDER, "keys made")


def made_the_keys(answer):
    """The driver saw a tensor as large as the keys, or as many multiplications."""
    seen = [case["value"]["value"] for case in answer.observed if case["outcome"] == "returned"]
    if len(seen) < len(answer.observed) or not any(large["value"] is True for _, large in seen):
        return None
    sentence = "with 40 keys: the keys of all heads were made, all at once or piece by piece, or as much work was done."
    return symptom(sentence, ORDER, "keys made")


ORDER = "which two of the three can be multiplied first, once a query?"


EXERCISE = Exercise(
    cases,
    returns=("scores", "the keys were made"),
    driver="without_keys",
    gradients=True,
    symptoms=(overflows, made_the_keys),
    advice="for one head and one key compute q W c by hand, in both orders, and compare.",
)
