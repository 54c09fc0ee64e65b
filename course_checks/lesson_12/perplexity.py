"""12.5 · Perplexity."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import TEXT_SCORES


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    by_hand = torch.tensor([[[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]]).log()  # (1, 2, 3)
    empty = batches(rng, ((3, 6, 2), (1, 4, 3), (2, 3, 2)), 9, 4)
    empty.insert(1, (torch.randn(2, 3, 9, generator=rng), torch.full((2, 3), 4)))
    long = [(6 * torch.randn(1, 150, 20, generator=rng), torch.randint(4, 20, (1, 150), generator=rng))]
    logits, labels = torch.randn(2, 12, 5, generator=rng), torch.randint(4, (2, 12), generator=rng)
    logits[0, 3, labels[0, 3]] = -150.0
    return [
        Case(batches=[(by_hand, torch.tensor([[0, 1]]))], pad_id=2),  # 1/2 and 1/4: the root of 8
        Case("there are several batches", batches=batches(rng, ((2, 6, 4), (3, 3, 2)), 7, 0), pad_id=0),
        Case("there are several batches", batches=batches(rng, ((3, 6, 2), (1, 4, 3), (2, 3, 2)), 9, 4), pad_id=4),
        Case("there are many badly predicted tokens", batches=long, pad_id=3),
        Case("there are several batches", "a batch holds nothing but padding", batches=empty, pad_id=4),
        Case("a right token's logit lies 150 below the others", batches=[(logits, labels)], pad_id=4),
    ]


def batches(rng, sizes, vocab, pad_id):
    """Batches of unequal size and difficulty; some labels are padding, and what the logits give to padding varies."""
    made = []
    for number, (B, L, shortest) in enumerate(sizes):
        labels = torch.randint(0, vocab - 1, (B, L), generator=rng)
        labels = labels + (labels >= pad_id)  # any id but padding
        logits = 1.3 * torch.randn(B, L, vocab, generator=rng)
        logits.scatter_add_(-1, labels[..., None], torch.full((B, L, 1), 2.5 - 1.5 * number))
        lengths = torch.randint(shortest, L + 1, (B,), generator=rng)
        lengths[0] = min(shortest, L - 1)
        made.append((logits, labels.masked_fill(torch.arange(L) >= lengths[:, None], pad_id)))
    return made


EXERCISE = Exercise(
    cases,
    returns=("perplexity",),
    off_limits=TEXT_SCORES,
    advice="work the example of the task by hand: two tokens with probabilities 1/2 and 1/4.",
)
