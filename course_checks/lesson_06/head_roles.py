"""6.7 · Needed, doubled or idle."""

import torch

from ..deciding.exercise import Case, Exercise

PLAN = (  # whole, alone, those pairs that are not the larger of the two errors alone, tolerance; all exact in binary
    (0.0, [0.0, 0.0, 2.0, 0.0], {(0, 1): 1.0}, 0.5),
    (0.5, [0.75, 1.0, 0.75, 2.5, 0.5], {(0, 2): 1.5, (3, 4): 2.5, (0, 3): 2.75, (1, 4): 1.25}, 0.5),
    (1.0, [1.0, 2.0, 1.0, 1.25, 0.75, 1.0], {(0, 1): 3.5, (2, 3): 1.5, (4, 5): 1.125}, 0.25),
    (0.25, [0.5, 0.5, 0.5, 0.25], {(0, 1): 1.0, (1, 2): 0.75, (2, 3): 0.75, (0, 3): 0.5}, 0.25),
    (2.0, [3.0, 3.5, 3.0, 2.0, 4.0], {(0, 2): 3.75, (1, 4): 1.5, (0, 3): 3.0}, 1.0),
    *((2.0, [2.5, 2.0, 0.5], {(0, 1): 3.25, (0, 2): 1.0, (1, 2): 0.5}, 1.0), (0.0, [0.0, 0.125], {(0, 1): 1.0}, 0.5)),
    (0.5, [0.5, 1.5, 0.75], {(0, 1): 2.25}, 0.5),
)


def cases(seed):
    """The example as it stands; in the others the order of the heads is drawn."""
    rng, made = torch.Generator().manual_seed(seed), []
    for whole, errors, known, tolerance in PLAN:
        alone = torch.tensor(errors, dtype=torch.float64 if len(made) % 2 else torch.float32)
        pairs = torch.maximum(alone[:, None], alone[None, :])
        for (g, h), error in known.items():
            pairs[g, h] = pairs[h, g] = error
        order = torch.randperm(len(alone), generator=rng) if made else torch.arange(len(alone))
        made.append(Case(whole=whole, alone=alone[order], pairs=pairs[order][:, order], tolerance=tolerance))
    return made


EXERCISE = Exercise(
    cases,
    returns=("roles",),
    advice="print pairs[g, h] - alone[g] for all g and h of failing_case(): what taking out h adds once g is gone.",
)
