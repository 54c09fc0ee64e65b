"""6.1 · Split what a checkpoint packed."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import HEADS
from ..deciding.wrong_answer import as_numbers, part_of, stops_with, symptom

TOO_MANY = "it loops: more than 60 operations, or 300 steps of Python, for 100 heads"


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    places = 20.0 * torch.arange(2)[:, None] + torch.arange(12)
    # The last one was seen before.
    sizes = (
        (2, 5, 4, 2),
        (3, 7, 2, 5),
        (2, 6, 1, 4),
        (4, 3, 5, 6),
        (2, 4, 3, 3),
        (2, 5, 4, 2),
    )
    made = [Case(qkv=torch.randn(B, L, 3 * H * d, generator=rng), num_heads=H) for B, L, H, d in sizes]
    double = torch.randn(2, 4, 18, generator=rng, dtype=torch.float64)
    qkv = torch.randn(2, 5, 12, generator=rng)
    turned = Case("`qkv` comes from a transpose", driver={"turned": True}, qkv=qkv, num_heads=2)
    many = Case(
        "there are many heads",
        values_only=True,
        driver={"most_operations": 60, "too_many": TOO_MANY},
        qkv=torch.randn(1, 2, 300, generator=rng),
        num_heads=100,
    )
    return [Case(qkv=places[None], num_heads=2), *made, Case(qkv=double, num_heads=3), turned, many]


def forgets_the_three(answer):
    """In each wrong case the queries are as wide as the query, key and value of a head together."""
    for index in answer.wrong:
        seen, case = answer.observed[index], answer.cases[index]
        q = part_of(seen["value"], 0, 3) if seen["outcome"] == "returned" else None
        numbers = None if q is None else as_numbers(q)
        if numbers is None or numbers.dim() < 1 or numbers.shape[-1] != case["qkv"].shape[-1] // case["num_heads"]:
            return None
    sentence = "your queries are three times too wide: the last axis of `qkv` is divided by num_heads only."
    return symptom(
        sentence, "a head's share of the last axis holds its query, its key and its value.", "three times too wide"
    )


EXERCISE = Exercise(
    cases,
    returns=("q", "k", "v"),
    driver="three",
    symptoms=(
        forgets_the_three,
        stops_with(
            TOO_MANY,
            "it loops over the heads, with operations or steps of Python for each.",
            "one reshape and one permute cut and move all heads at once.",
            "loops over the heads",
        ),
    ),
    off_limits=HEADS,
    gradients=True,
    advice="try the example of the task: the queries of token 0 are 0 and 1 in head 0, 6 and 7 in head 1.",
)
