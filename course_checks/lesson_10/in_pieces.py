"""10.4 · One update, several pieces."""

import math

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import stops_with
from .common import padded


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(sizes, vocab, pad_id):
        """For each piece the lengths of its sources and of its targets; each is padded to its own longest, and one more."""
        pieces = []
        for sources, targets, more in sizes:
            low = 0 if pad_id else 1
            source, target = (padded(rng, some, max(some) + more, vocab, pad_id, low) for some in (sources, targets))
            pieces.append((source, target))
        tables = {name: torch.randn(vocab, vocab, generator=rng) for name in ("learned", "source")}
        return Case(driver={"tables": tables}, pieces=pieces, pad_id=pad_id)

    flat = torch.tensor([0.0, 0.0, math.log(2)]).expand(3, 3).clone()
    example = Case(
        driver={"tables": {"learned": flat, "source": torch.zeros(3, 3)}},
        pieces=[
            (torch.tensor([[1]]), torch.tensor([[1, 2, 2, 2]])),
            (torch.tensor([[2]]), torch.tensor([[1, 1, 0, 0]])),
        ],
        pad_id=0,
    )
    return [
        example,
        case([((3, 2), (6, 4), 0), ((4,), (3,), 2), ((2, 2, 5), (2, 5, 2), 1)], 7, 0),
        case([((2, 4, 3), (3, 2, 7), 0), ((5,), (6,), 0)], 8, 3),
        case([((4, 2), (2, 3), 1), ((3, 3), (8, 5), 0), ((2,), (4,), 0), ((1, 6), (5, 2), 2)], 6, 5),
        case([((3, 4), (4, 6), 1)], 9, 2),
    ]


EXERCISE = Exercise(
    cases,
    returns=("loss", "parameters after an update", "pieces that had gone back before each call of the model"),
    driver="drive_pieces",
    pairs=60,
    symptoms=(
        stops_with(
            "what loss_of is given",
            "loss_of was given logits and labels that don't go together.",
            "the labels of a piece are its target without the first symbol, (B, L_t).",
        ),
    ),
    advice="in the example the pieces have 3 labels and 1: what does each of the four labels count?",
)
