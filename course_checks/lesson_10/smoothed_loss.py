"""10.3 · Label smoothing."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import padded


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(lengths, longest, vocab, smoothing, pad_id, *labels, dtype=torch.float32):
        logits = 1.5 * torch.randn(len(lengths), longest, vocab, generator=rng, dtype=dtype)
        ids = padded(rng, lengths, longest, vocab, pad_id, 0 if pad_id else 1)
        exact = dtype == torch.float64  # shares in float32 are as good: their gradients differ in the eighth digit
        return Case(*labels, values_only=exact, logits=logits, labels=ids, smoothing=smoothing, pad_id=pad_id)

    far = case((3, 2), 3, 5, 0.2, 0, "the logits are large")
    far["logits"][0, 1] = torch.tensor([0.0, 500.0, -500.0, 3.0, 1.0])
    return [
        case((2,), 2, 4, 0.1, 0),
        case((5, 2, 3), 5, 7, 0.3, 0),
        case((6, 4), 6, 9, 0.1, 3),
        case((4, 5), 6, 9, 0.2, 5, dtype=torch.float64),
        case((1, 4), 4, 5, 0.0, 0),
        case((4, 4), 4, 6, 0.25, 2, "no label is padding"),
        far,
    ]


EXERCISE = Exercise(
    cases,
    returns=("loss",),
    off_limits=("course_utils.training.label_smoothing_loss",),
    gradients=True,
    pairs=200,
    advice="work out one position by hand: V = 4, pad 0, label 2, smoothing 0.1 gives the shares 0, 0.05, 0.9, 0.05.",
)
