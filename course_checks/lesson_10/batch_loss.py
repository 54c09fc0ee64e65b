"""10.7 · Find the bug."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import stops_with
from .common import no_gradient, padded


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = []
    for sources, targets, L_s, L_t, vocab, pad_id in (
        ((3, 2), (4, 4), 3, 4, 6, 0),
        ((4, 6, 2), (5, 3, 4), 6, 5, 8, 0),
        ((5, 3), (7, 4), 5, 7, 7, 4),
        ((2, 5), (6, 7), 5, 7, 7, 1),
        ((3, 4), (6, 5), 4, 6, 7, 0),
    ):
        low, dtype = 0 if pad_id else 1, torch.float64 if pad_id == 1 else torch.float32
        source, target = (padded(rng, n, L, vocab, pad_id, low) for n, L in ((sources, L_s), (targets, L_t)))
        labels = ("padding stands on the left of the target",) if pad_id == 4 else ()
        if L_t == 6:
            labels, target[:, 3] = ("padding stands between the target's symbols",), pad_id
        target = target.flip(1) if pad_id == 4 else target
        names = ("target", "source", "place", "last")
        tables = {name: torch.randn(vocab, vocab, generator=rng, dtype=dtype) for name in names}
        made.append(Case(*labels, driver={"tables": tables}, source=source, target=target, pad_id=pad_id))
    return made


EXERCISE = Exercise(
    cases,
    returns=("loss", "gradient of the model"),
    driver="drive_batch_loss",
    symptoms=(
        no_gradient,
        stops_with(
            "its masks are boolean",
            "a mask is not boolean.",
            "combine booleans with & and make new ones with dtype=torch.bool.",
        ),
    ),
    pairs=60,
    advice="for 3 positions, write down which inputs position 0 may see, and compare them with its label.",
)
