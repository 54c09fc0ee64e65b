"""Lesson 13: weights of random causal heads, and what all its exercises put off limits."""

import torch

SCORES = tuple(
    f"course_utils.circuits.{name}"
    for name in (
        *("mean_weight", "induction_mask", "previous_token_mask", "duplicate_token_mask", "current_token_mask"),
        *("first_token_mask", "uniform_weight"),
    )
)
MATRICES = ("course_utils.circuits.qk_circuit", "course_utils.circuits.ov_circuit")


def causal_weights(batch, heads, length, rng, dtype=torch.float32):
    """Random weights of causal heads, (B, H, L, L), rather sharp ones."""
    scores = 2 * torch.randn(batch, heads, length, length, generator=rng, dtype=dtype)
    later = torch.ones(length, length, dtype=torch.bool).triu(1)
    return scores.masked_fill(later, float("-inf")).softmax(dim=-1)
