"""0.6 · Split into heads, and copy nothing."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import HEADS
from ..deciding.wrong_answer import symptom

WINDOW = "whether they are a window on x"


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = [Case(x=torch.arange(8.0).view(1, 2, 4), num_heads=2)]
    for B, L, H, d_head in ((2, 5, 3, 4), (3, 4, 2, 6), (2, 3, 6, 1), (4, 6, 1, 5), (2, 3, 2, 2), (3, 2, 4, 5)):
        made.append(Case(x=torch.randn(B, L, H * d_head, generator=rng), num_heads=H))
    return made


def copied(answer):
    """Right numbers everywhere, and nowhere a window."""
    parts = answer.parts()
    if [part.name for part in parts] != [WINDOW] or not all(pair.wrong for pair in parts[0].pairs):
        return None
    return symptom(
        "the heads are right, but they are a copy: the numbers were written into new memory.",
        "which of your moves makes a new tensor? view and transpose only change the rule by which memory is read.",
        "a copy",
    )


EXERCISE = Exercise(
    cases,
    returns=("heads", WINDOW),
    driver="window",
    off_limits=HEADS,
    advice="try x = torch.arange(8).view(1, 2, 4) with 2 heads: head 0 must hold [[0, 1], [4, 5]].",
    symptoms=(copied,),
)
