"""What several exercises of lesson 04 share: large scores."""

import torch

LARGE = "the scores are large"


def eighths(*shape, rng):
    """Multiples of 1/8, so that all ways to add up their products agree to the last bit."""
    return (8 * torch.randn(shape, generator=rng)).round() / 8


def large_scores(rng):
    """Query and key: scores far above 100 in one row, far below -100 in the next; within a row of ordinary size."""
    query, key = eighths(2, 3, 16, rng=rng), eighths(2, 5, 16, rng=rng)
    query[..., 0] = torch.tensor([16.0, 0.0, -16.0])
    key[..., 0] = 32.0
    return query, key
