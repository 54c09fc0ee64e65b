"""What several exercises of lesson 05 share: what is off limits, masks, very low scores."""

import torch
import torch.nn.functional as F

ATTENTIONS = (
    "torch.nn.functional.scaled_dot_product_attention",
    "course_utils.attention.masked_softmax",
    "course_utils.attention.scaled_dot_product_attention",
    "course_utils.blockwise_attention.attention_in_blocks",
    "course_utils.multi_head.MultiHeadAttention",
)
MASKS = (
    *(f"course_utils.masks.{name}" for name in ("padding_mask", "causal_mask", "sliding_window_mask")),
    *("course_utils.widgets.mask_composer.compose_mask", "torch.nn.attention.bias.causal_lower_right"),
)
LOW = -100_000.0  # below any number that an answer may take for "low enough" and float16 can hold


def random_mask(shape, rng):
    """Random booleans in which every row allows something and hides something."""
    keep = torch.rand(shape, generator=rng) > 0.4
    allowed = torch.randint(shape[-1], shape[:-1], generator=rng)
    keep |= F.one_hot(allowed, shape[-1]).bool()
    return keep & ~F.one_hot((allowed + 1) % shape[-1], shape[-1]).bool()


def one_key_mask(shape, rng):
    """One True in every row: its weight is exactly 1, however low the scores and however the softmax is written."""
    return F.one_hot(torch.randint(shape[-1], shape[:-1], generator=rng), shape[-1]).bool()


def low_scores(lead, L_q, L_k, rng):
    """Queries and keys whose scores are all near LOW and ordinary otherwise; exact, in whatever order they are added."""
    query, key = ((4 * torch.randn(*lead, length, 16, generator=rng)).round() / 4 for length in (L_q, L_k))
    query[..., 0], key[..., 0] = 512.0, LOW * 4 / 512  # divided by the root of 16
    return query, key
