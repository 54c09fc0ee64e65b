"""What cases of layers of lesson 09 are made of, and what is off limits in them."""

import torch

LAYERS = (
    *("course_utils.layers.residual.Residual", "course_utils.layers.encoder.EncoderLayer"),
    *("course_utils.layers.decoder.DecoderLayer", "course_utils.layers.decoder_only.DecoderOnlyLayer"),
    *("torch.nn.TransformerEncoderLayer", "torch.nn.TransformerDecoderLayer"),
)


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
