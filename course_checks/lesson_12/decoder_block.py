"""12.2 · A decoder block."""

import torch

from ..deciding.exercise import Case, Exercise

LAYERS = ("residual.Residual", "decoder_only.DecoderOnlyLayer", "decoder.DecoderLayer", "encoder.EncoderLayer")


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L, heads, kv_heads, d_head, d_ff, *labels, pieces=None, filled=False, again=False, dtype=torch.float32):
        d_model, number = heads * d_head, int(torch.randint(10**6, (), generator=rng))
        norms = {f"norm_{n}.weight": 1 + 0.5 * torch.randn(d_model, generator=rng, dtype=dtype) for n in (1, 2)}
        earlier = torch.randn(B, kv_heads, 2, d_head, generator=rng, dtype=dtype) if filled else None
        x = 1.5 * torch.randn(B, L, d_model, generator=rng, dtype=dtype)
        sizes = {"num_heads": heads, "num_kv_heads": kv_heads, "d_ff": d_ff, "pieces": pieces}
        return Case(*labels, driver={"earlier": earlier, "again": again, "seed": number}, x=x, **norms, **sizes)

    cached, filled = "`x` comes in pieces, with a cache", "the cache holds positions from elsewhere"
    return [
        case(1, 3, 2, 1, 2, 5),
        case(2, 7, 6, 2, 4, 11),
        case(1, 4, 2, 1, 2, 5, cached, pieces=[2, 2]),
        case(2, 7, 6, 2, 4, 11, cached, pieces=[4, 3]),
        case(3, 5, 4, 4, 2, 7, cached, pieces=[1, 3, 1], dtype=torch.float64),
        case(2, 5, 4, 2, 4, 9, cached, filled, pieces=[3, 2], filled=True),
        case(2, 6, 4, 2, 4, 9, cached, "an earlier call had another cache", pieces=[3, 3], again=True),
        case(2, 4, 4, 2, 2, 6, dtype=torch.float64),
    ]


EXERCISE = Exercise(
    cases,
    returns=("output", "gradients of x, norm_1.weight and norm_2.weight", "length of the cache"),
    expects="class",
    driver="drive_block",
    off_limits=(*(f"course_utils.layers.{name}" for name in LAYERS), "course_utils.models.decoder_lm.DecoderLM"),
    atol=2e-5,
    pairs=60,
    advice="print what each norm reads and what each sum starts from: x in the first branch, the first sum in the second.",
)
