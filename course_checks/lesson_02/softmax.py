"""2.1 · A softmax that does not overflow."""

import torch

from ..deciding.exercise import Case, Exercise, mistake

NAMES = {
    "torch": "softmax _softmax log_softmax logsumexp",
    "torch.Tensor": "softmax log_softmax logsumexp",
    "torch.special": "softmax log_softmax logsumexp",
    "torch.sparse": "softmax log_softmax",
    "torch.distributions.transforms": "SoftmaxTransform",
    "torch.nn.functional": "softmax log_softmax softmin gumbel_softmax cross_entropy scaled_dot_product_attention",
    "course_utils.attention": "masked_softmax scaled_dot_product_attention",
}


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    mixed = torch.randn(3, 4, 6, generator=rng)
    mixed[0, 1], mixed[0, 2] = mixed[0, 1] + 1000.0, mixed[0, 2] - 1000.0
    large = torch.tensor([[1000.0, 999.0, 998.0], [-1000.0, -999.0, -1000.0], [1000.0, -1000.0, 999.0]])
    return [
        Case(scores=torch.tensor([[0.0, 1.0, 2.0], [0.5, -1.0, 0.0]])),
        Case(scores=torch.randn(5, 7, generator=rng)),
        Case(scores=1.5 * torch.randn(2, 3, 5, generator=rng)),
        Case(scores=torch.randn(2, 3, 5, generator=rng, dtype=torch.float64), values_only=True),
        Case("the scores are large", scores=large, values_only=True),
        Case("the scores are large", scores=mixed, values_only=True),
    ]


EXP = "shifted.exp()"
OWN = "adding one number to a whole row changes no weight of it: which one makes overflow impossible?"

EXERCISE = Exercise(
    cases,
    returns=("weights",),
    off_limits=tuple(f"{owner}.{name}" for owner, names in NAMES.items() for name in names.split()),
    gradients=True,
    advice="print your weights.sum(dim=-1): every entry must be 1, for scores of 1000 as well.",
    mistakes=[mistake("NaN is replaced by a number in the end.", OWN, {EXP: "scores.exp()"}, then=torch.nan_to_num)],
)
