"""What several exercises of lesson 04 share: what is off limits, large scores, and the mistakes in scale and softmax."""

import torch

READY_MADE = (
    *("torch.nn.functional.scaled_dot_product_attention", "torch.nn.functional.multi_head_attention_forward"),
    *("torch.nn.MultiheadAttention", "course_utils.attention.scaled_dot_product_attention"),
    "course_utils.multi_head.MultiHeadAttention",
)
LARGE = "the scores are large"
KEYS = "the keys of one query share the weight among them: each row sums to 1."
ROW = "subtract something that every row has for itself, or use torch.softmax."
SIZE = "the root is that of the number of entries in one query, which is that of one key, too."


def eighths(*shape, rng):
    """Multiples of 1/8, so that all ways to add up their products agree to the last bit."""
    return (8 * torch.randn(shape, generator=rng)).round() / 8


def large_scores(rng):
    """Query and key: scores far above 100 in one row, far below -100 in the next; within a row of ordinary size."""
    query, key = eighths(2, 3, 16, rng=rng), eighths(2, 5, 16, rng=rng)
    query[..., 0] = torch.tensor([16.0, 0.0, -16.0])
    key[..., 0] = 32.0
    return query, key
