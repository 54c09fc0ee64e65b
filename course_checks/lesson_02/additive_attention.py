"""2.5 · Additive attention without a vector for every pair."""

import torch

from ..deciding.exercise import Case, Exercise, mistake
from ..deciding.wrong_answer import stops_with, symptom

HELD = "a tensor with more than twice as many numbers as there are weights was made"
LOOPS = "it takes more than 200 operations, or 1,000 steps of Python, where there are many queries and keys"


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made, names = [], ("query", "key", "value", "W_q", "W_k", "w_v")
    sizes = ((1, 2, 3, 5, 2, 4, 1), (2, 5, 7, 3, 4, 6, 8), (3, 4, 2, 6, 5, 3, 2), (2, 3, 3, 4, 4, 4, 4))
    for B, L_q, L_k, d_q, d_k, d_hidden, d_v in (*sizes, sizes[1], (3, 40, 50, 5, 4, 8, 6)):
        shapes = ((B, L_q, d_q), (B, L_k, d_k), (B, L_k, d_v), (d_hidden, d_q), (d_hidden, d_k), (d_hidden,))
        dtype = torch.float64 if (B, L_q) == (3, 4) else torch.float32
        drawn = (torch.randn(shape, generator=rng, dtype=dtype) for shape in shapes)
        arguments = dict(zip(names, drawn, strict=True))
        arguments["W_q"] *= 1.2 / d_q**0.5
        arguments["W_k"] *= 1.2 / d_k**0.5
        made.append(Case(**arguments))
    many = made.pop()
    large = made[2] | {"w_v": 2000 * made[2]["w_v"]}
    watched = {"watched": True, "most_operations": 200, "too_many": LOOPS}
    return [
        *made,
        Case("the scores are very large", **large, values_only=True),
        Case("there are many pairs", **many, values_only=True, driver=watched),
    ]


def holds_too_much(answer):
    """Wrong elsewhere first, and stopped for a vector for every pair where there are many."""
    if not any(answer.observed[index].get("message") == HELD for index in answer.wrong[1:]):
        return None
    return symptom(
        "besides what differs here, with 40 queries and 50 keys it makes a tensor with more than twice as many numbers "
        "as there are weights.",
        "go through the hidden units one at a time, then compare the numbers with the example.",
        "a vector for every pair, and more",
    )


EXERCISE = Exercise(
    cases,
    returns=("output", "weights"),
    driver="no_vector_for_every_pair",
    off_limits=("course_utils.attention.AdditiveAttention",),
    gradients=True,
    atol=2e-5,
    mistakes=[
        mistake(
            "each entry of w_v is inside the tanh.",
            "follow the formula from the inside: the sum first, then tanh, then w_v.",
            {"weight * torch.tanh(pairs)": "torch.tanh(weight * pairs)"},
        )
    ],
    symptoms=(
        stops_with(
            HELD,
            "with 40 queries and 50 keys it makes a tensor with more than twice as many numbers as there are weights.",
            "write the score as a sum over the hidden units: how much do you need at a time?",
            "a vector for every pair",
        ),
        stops_with(
            LOOPS,
            "its loop is over the batch, the queries or the keys: with 40 queries and 50 keys it takes too many operations.",
            "loop over something of which there are few, however long the sentences are.",
            "loops over pairs",
        ),
        holds_too_much,
    ),
    advice="print the shapes: two projections, then for one hidden unit all pairs, (B, L_q, L_k).",
)
