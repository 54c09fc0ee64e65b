"""2.4 · Let ten keys count."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import close, stops_with, symptom

TOO_MANY = "it takes more than 20,000 operations, or 100,000 steps of Python"


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = [Case(scores=torch.tensor([[0.0, 1.0, 2.0]]), count=2.0)]
    for (L_q, L_k), count in (((3, 5), 2.5), ((5, 7), 4.0), ((4, 4), 1.8), ((5, 7), 1.5)):
        spread = torch.linspace(0.3, 6.0, L_q)[:, None]  # every row has a temperature of its own
        scores = torch.arange(L_k) / 2 + 0.4 * torch.rand(L_q, L_k, generator=rng)  # no two keys tie
        order = torch.randperm(L_k, generator=rng)
        made.append(Case(scores=spread * scores[:, order] + 40 * (spread - 2), count=count))
    even = torch.tensor([[0.1], [1.0]]) * (torch.arange(8.0) / 2 + 0.1 * torch.rand(2, 8, generator=rng))
    out_of_reach = torch.tensor([[1.0, 1.0, 1.0, 0.0], [3.0, 2.0, 0.0, 1.0], [0.0, 900.0, 400.0, 100.0]])
    return [
        *made,
        Case("no temperature fits", scores=out_of_reach, count=2.0),
        Case("nearly all keys count", scores=even, count=7.992),
    ]


def right_and_yours(answer):
    """All temperatures in one row each; None where shapes differ, or where the numbers are right and something else is not."""
    sides = [side for part in answer.parts() for side in part.numbers() or ()]
    if not sides or any(expected.shape != actual.shape for expected, actual, _ in sides):
        return None
    expected, actual = (torch.cat([side[place].flatten() for side in sides]) for place in (0, 1))
    return None if close(answer, actual, expected) else (expected, actual)


def other_ends(answer):
    """Right but for the ends of the search."""
    if (both := right_and_yours(answer)) is None:
        return None
    expected, actual = both
    low, high = actual.min(), actual.max()
    if low < high and close(answer, actual, expected.clamp(low, high)):
        looks_like = f"right, but your search gives nothing below {low:.3g} and nothing above {high:.3g}."
    elif close(answer, actual.clamp(0.01, 100.0), expected):
        looks_like = "where `count` is out of reach, yours goes beyond the ends 0.01 and 100."
    else:
        return None
    return symptom(looks_like, "search between 0.01 and 100, and return the end it stops at.", "other ends")


def not_near_enough(answer):
    """Every temperature is near the right one, by its share or by their difference, and some not near enough."""
    if (both := right_and_yours(answer)) is None:
        return None
    expected, actual = both
    off, share = (actual - expected).abs().max(), (actual / expected - 1).abs().max()
    if not min(off, share) < 0.1:
        return None
    if share < 0.1:
        looks_like = f"each temperature is near the right one, but off by up to {100 * share:.2g} % of it."
    else:
        looks_like = (
            f"no temperature is off by more than {off:.2g}, but one of them by {100 * share:.0f} % of the right one."
        )
    advice = "search on until small T are right to a thousandth too; if you do, is an eps added to the weights?"
    return symptom(looks_like, advice, "not near enough")


EXERCISE = Exercise(
    cases,
    returns=("temperature",),
    rtol=2e-3,
    most_operations=20_000,
    too_many=TOO_MANY,
    advice="for the scores 0, 1, 2 and T = 0.7541 two keys count; print how many count at your T.",
    symptoms=(
        stops_with(
            TOO_MANY,
            f"your search was stopped before it had ended by itself: {TOO_MANY}.",
            "ask what happens where `count` cannot be met exactly, and how many steps you need to come near it.",
            "never ends",
        ),
        other_ends,
        not_near_enough,
    ),
)
