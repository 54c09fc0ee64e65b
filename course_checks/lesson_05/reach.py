"""5.6 · Who reaches whom through a stack of layers."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import stops_with
from .common import ATTENTIONS, MASKS


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def window(L, w):
        return torch.ones(L, L).tril().triu(1 - w).bool()

    first, second = torch.zeros(2, 3, 3, dtype=torch.bool)
    first[1, 0], second[2, 1] = True, True
    sparse = torch.rand(3, 6, 6, generator=rng) < 0.2
    # What token 1 takes from token 0 in the first layer is one of ever more things in the later ones.
    fading = torch.eye(24).bool().repeat(400, 1, 1)
    fading[0, 1, 0], fading[1:, 1, 2:] = True, True
    block = (torch.arange(8) // 4)[:, None] == torch.arange(8) // 4
    return [
        Case(masks=torch.stack([first, second])),
        Case(masks=torch.stack([second, first])),
        Case("all layers have one mask", masks=window(7, 3).expand(2, 7, 7).clone()),
        Case("all layers have one mask", masks=window(9, 2).expand(5, 9, 9).clone()),
        Case(masks=torch.stack([block & window(8, 8), window(8, 2)])),
        Case(masks=sparse),
        Case(masks=sparse.flip(0)),
        Case("there is one layer", masks=torch.rand(1, 5, 5, generator=rng) < 0.4),
        Case("there are many layers", masks=(torch.rand(1, 24, 24, generator=rng) < 0.8).expand(400, 24, 24).clone()),
        Case("there are many layers", masks=fading),
        Case("there are many layers", masks=window(40, 2).expand(30, 40, 40).clone()),
    ]


EXERCISE = Exercise(
    cases,
    returns=("table",),
    off_limits=(*ATTENTIONS, *MASKS),
    symptoms=(
        stops_with(
            "not implemented for 'Bool'",
            "a matrix product of booleans: PyTorch has products of numbers only.",
            "let numbers stand for True and False in the product, and ask afterwards which ones are above 0.",
            "a product of booleans",
        ),
    ),
    advice="follow one token by hand through the example: where is it after layer 1, and where after layer 2?",
)
