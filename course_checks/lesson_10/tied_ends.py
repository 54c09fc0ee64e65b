"""10.2 · One matrix, two jobs."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = []
    for vocab, d_model, B, L in ((3, 4, 1, 2), (7, 5, 2, 3), (6, 9, 3, 4)):
        ids, hidden = torch.randint(0, vocab, (B, L), generator=rng), torch.randn(B, L, d_model, generator=rng)
        made.append(Case(vocab=vocab, d_model=d_model, ids=ids, hidden=hidden, driver={"seed": seed}))
    return made


EXERCISE = Exercise(
    cases,
    returns=(
        "number of parameters",
        "embedded ids",
        "logits",
        "embedded ids after an update",
        "logits after an update",
    ),
    expects="class",
    driver="drive_ends",
    pairs=50,
    advice="count the parameters of your module, and work out the example: which numbers come from the matrix?",
)
