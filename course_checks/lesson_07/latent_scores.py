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
    ]


def made_the_keys(answer):
    """The driver saw a tensor as large as the keys, or as many multiplications."""
    seen = [case["value"]["value"] for case in answer.observed if case["outcome"] == "returned"]
    if len(seen) < len(answer.observed) or not any(large["value"] is True for _, large in seen):
        return None
    sentence = "with 40 keys: the keys of all heads were made, all at once or piece by piece, or as much work was done."
    return symptom(sentence, "which two of the three can be multiplied first, once a query?", "keys made")


EXERCISE = Exercise(
    cases,
    returns=("scores", "the keys were made"),
    driver="without_keys",
    gradients=True,
    symptoms=(made_the_keys,),
    advice="for one head and one key compute q W c by hand, in both orders, and compare.",
)
