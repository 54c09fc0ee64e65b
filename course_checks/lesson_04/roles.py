"""4.2 · Who asks, who is asked, who answers?"""

import itertools

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    kinds = list(itertools.product(("x", "memory"), repeat=3))
    order = torch.randperm(len(kinds), generator=rng).tolist()
    made = []
    for sizes in ((3, 3), (4, 6), (6, 4)):
        for kind in order:
            where = dict(zip(("queries", "keys", "values"), kinds[kind], strict=True))
            number = int(torch.randint(10_000, (), generator=rng))
            made.append(Case(L=sizes[0], d=sizes[1], driver={**where, "seed": number}))
    return made


EXERCISE = Exercise(
    cases,
    returns=("roles",),
    driver="which_gives_what",
    twice=False,
    pairs=40,
    advice="call layer_from with all eight kinds, and print what your function says of each.",
)
