"""13.1 · A detector that isn't easily fooled."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import SCORES, causal_weights

DOUBLED = "a letter comes twice in a row"
ONE_KEY = "each query gives one key all its weight"
ALONE = "a string has no token twice"


def one_key(weights):
    """All weight on the key that has most: some queries give those that count none at all."""
    return torch.nn.functional.one_hot(weights.argmax(dim=-1), weights.shape[-1]).to(weights)


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, heads, length, vocab):
        tokens = torch.randint(vocab, (batch, length), generator=rng)
        tokens[0, -1], tokens[0, -2], tokens[0, 0] = 0, 1, 0  # one copy at least, and it isn't next to its query
        return Case(weights=causal_weights(batch, heads, length, rng), tokens=tokens)

    once = torch.randperm(26, generator=rng)[:5].repeat(2)[None]  # (1, 10)
    alone = torch.stack([torch.arange(6), torch.tensor([4, 2, 7, 4, 2, 4]), torch.arange(6).flip(0)])
    doubled = torch.tensor([[3, 3, 5, 3, 3, 3], [5, 1, 1, 5, 5, 1]])
    return [
        Case(weights=causal_weights(1, 2, 4, rng), tokens=torch.tensor([[0, 1, 2, 0]])),
        Case(weights=causal_weights(1, 3, 10, rng), tokens=once),
        case(2, 3, 8, 12),
        case(3, 2, 9, 4),
        case(3, 2, 9, 4),
        Case(ALONE, weights=causal_weights(3, 4, 6, rng), tokens=alone),
        Case(
            ONE_KEY, weights=one_key(causal_weights(2, 3, 9, rng)), tokens=torch.tensor([[0, 1, 2] * 3, [2, 3, 0] * 3])
        ),
        Case(DOUBLED, weights=causal_weights(2, 5, 6, rng), tokens=doubled),
        case(4, 3, 11, 6),
    ]


EXERCISE = Exercise(
    cases,
    returns=("scores",),
    off_limits=SCORES,
    advice='write down by hand, for each letter of "abcabca", the keys that count; then print your table of them.',
)
