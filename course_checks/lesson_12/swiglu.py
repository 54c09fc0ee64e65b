"""12.1 · SwiGLU."""

import torch

from ..deciding.exercise import Case, Exercise

SHAPES = {"gate_proj.weight": 0, "up_proj.weight": 0, "down_proj.weight": 1}


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L, d_model, d_ff, *labels, dtype=torch.float32):
        shapes = {name: (d_model, d_ff) if down else (d_ff, d_model) for name, down in SHAPES.items()}
        params = {name: torch.randn(shape, generator=rng, dtype=dtype) for name, shape in shapes.items()}
        params = {name: 1.5 * weight / weight.shape[1] ** 0.5 for name, weight in params.items()}
        return Case(*labels, x=torch.randn(B, L, d_model, generator=rng, dtype=dtype), params=params)

    large = case(2, 3, 4, 5, "the numbers that go into SiLU are large (above 100)")
    large.values_only = True  # small gradients among large ones depend on the order of float32 sums
    large["x"] = 1 + large["x"].abs()
    large["params"]["gate_proj.weight"] = 30 * (1 + large["params"]["gate_proj.weight"].abs())
    sizes = ((1, 2, 3, 4), (2, 5, 6, 9), (3, 4, 7, 2), (2, 5, 6, 9))
    return [*(case(*size) for size in sizes), case(2, 3, 4, 6, dtype=torch.float64), large]


EXERCISE = Exercise(
    cases,
    returns=("output",),
    off_limits=tuple(f"course_utils.layers.feed_forward.{name}" for name in ("SwiGLU", "FeedForward")),
    gradients=True,
    advice="compute gate(x), up(x), silu of the first, the product and down of it one by one, and print each shape.",
)
