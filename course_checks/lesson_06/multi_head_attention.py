"""6.3 · Multi-head attention."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import ATTENTION, HEADS


def parameters(d_in, d_model, rng, dtype):
    params = {}
    for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
        outer, inner = (d_in, d_model) if name == "o_proj" else (d_model, d_in)
        params[f"{name}.weight"] = 1.3 * torch.randn(outer, inner, generator=rng, dtype=dtype) / inner**0.5
        params[f"{name}.bias"] = 0.5 * torch.randn(outer, generator=rng, dtype=dtype)
    return params


def cases(seed):
    rng, made = torch.Generator().manual_seed(seed), []
    for B, L_q, L_k, d_in, H, d_head, axes, dtype in (
        (1, 2, 3, 3, 2, 2, None, torch.float32),
        (2, 5, 7, 10, 4, 3, "B11k", torch.float32),
        (3, 6, 4, 9, 2, 7, "BHqk", torch.float64),
        (2, 5, 7, 10, 4, 3, "qk", torch.float32),  # sizes seen before, other numbers
        (3, 4, 6, 7, 3, 5, "Hqk", torch.float32),  # B equals H
        (2, 5, 7, 6, 2, 4, "B1qk", torch.float64),
    ):
        mask = None
        if axes:
            sizes = {"B": B, "H": H, "q": L_q, "k": L_k, "1": 1}
            mask = torch.rand([sizes[letter] for letter in axes], generator=rng) < 0.6
            mask[..., 0], mask[..., -1] = True, False  # every query sees something, and never everything
        query, memory = (torch.randn(B, L, d_in, generator=rng, dtype=dtype) for L in (L_q, L_k))
        params = parameters(d_in, H * d_head, rng, dtype)
        made.append(Case(query=query, memory=memory, params=params, num_heads=H, mask=mask))
    low = made[-1]
    low.labels, low.values_only = ("all scores are near -100000",), True
    low["params"]["q_proj.bias"] -= 225
    low["params"]["k_proj.bias"] += 225  # times 225, times 4 entries, divided by 2
    return made


EXERCISE = Exercise(
    cases,
    returns=("output", "weights"),
    off_limits=(*HEADS, *ATTENTION),
    gradients=True,
    advice="do one step at a time and print its shape; the table of section 6.4 says what it must be.",
)
