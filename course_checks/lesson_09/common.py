"""What several exercises of lesson 09 share: what is off limits, cases of norms and of layers."""

import torch

from ..deciding.exercise import Case

NORMS = (
    *(f"torch.nn.functional.{name}_norm" for name in ("layer", "rms", "group", "instance", "batch")),
    *("torch.nn.functional.normalize", "torch.nn.functional.local_response_norm"),
    *(f"torch.{name}_norm" for name in ("layer", "native_layer", "rms", "group", "batch", "instance")),
    *("torch.native_batch_norm", "torch.native_group_norm", "torch._native_batch_norm_legit"),
    *(f"torch.nn.{name}Norm" for name in ("Layer", "RMS", "Group")),
    *(f"course_utils.layers.norms.{name}" for name in ("layer_norm", "rms_norm", "LayerNorm", "RMSNorm")),
    "course_utils.layers.fast_rms_norm.FastRMSNorm",
)
LAYERS = (
    *("course_utils.layers.residual.Residual", "course_utils.layers.encoder.EncoderLayer"),
    *("course_utils.layers.decoder.DecoderLayer", "course_utils.layers.decoder_only.DecoderOnlyLayer"),
    *("torch.nn.TransformerEncoderLayer", "torch.nn.TransformerDecoderLayer"),
)


def norm_cases(seed, with_bias):
    """Ordinary vectors; small ones, where epsilon counts; a large epsilon; vectors that only epsilon saves from 0 / 0."""
    rng = torch.Generator().manual_seed(seed)
    flat = "a vector has variance 0" if with_bias else "a vector is all zeros"
    made = []
    for label, shape, size, eps, dtype in (
        ("", (2, 3, 4), 1.0, 1e-5, torch.float32),
        ("", (3, 5, 6), 1.0, 1e-5, torch.float32),
        ("the entries are small", (2, 7, 5), 0.003, 1e-5, torch.float32),
        ("eps is large", (4, 3, 10), 1.5, 0.5, torch.float32),
        (flat, (2, 3, 8), 1.0, 1e-3, torch.float32),
        ("", (3, 5, 6), 2.0, 1e-5, torch.float32),  # sizes seen before, other numbers
        ("", (2, 4, 3), 1.0, 1e-6, torch.float64),
    ):
        x = size * (torch.randn(shape, generator=rng) + torch.randn(*shape[:2], 1, generator=rng))
        if label == flat:
            x[0, 1], x[1, 0] = (2.0, -0.5) if with_bias else (0.0, 0.0)
        arguments = {"x": x, "weight": 1 + 0.5 * torch.randn(shape[-1], generator=rng)}
        if with_bias:
            arguments["bias"] = torch.randn(shape[-1], generator=rng)
        arguments = {name: value.to(dtype) for name, value in arguments.items()}
        made.append(Case(*filter(None, [label]), **arguments, eps=eps))
    return made


def layer_arguments(rng, B, L, H, d_head, norms, training, dtype):
    """An input, numbers for the norms, sizes, and a seed that the other parameters are drawn from."""
    d_model = H * d_head
    tensors = {"x": 1.5 * torch.randn(B, L, d_model, generator=rng) + torch.randn(B, L, 1, generator=rng)}
    for number in range(1, norms + 1):
        tensors[f"norm_{number}.weight"] = 1 + 0.5 * torch.randn(d_model, generator=rng)
        tensors[f"norm_{number}.bias"] = torch.randn(d_model, generator=rng)
    tensors = {name: value.to(dtype) for name, value in tensors.items()}
    driver = {"seed": int(torch.randint(10**6, (), generator=rng))}
    return {**tensors, "num_heads": H, "d_ff": d_model + 1, "dropout": 0.4, "training": training, "driver": driver}


def padding(rng, B, L):
    """Which of L tokens are no padding, shape (B, 1, 1, L): at least two of them, and not all of the first row."""
    lengths = torch.randint(2, L + 1, (B,), generator=rng)
    lengths[0] = L - 1
    return (torch.arange(L) < lengths[:, None])[:, None, None, :]
