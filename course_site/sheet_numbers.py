"""Every number and every shape on the cheat sheet, computed by the library when the sheet is made."""

import math

import torch
import torch.nn.functional as F

from course_utils.attention import scaled_dot_product_attention
from course_utils.decoding import sampling_distribution
from course_utils.distributed.communication import all_reduce_bytes
from course_utils.distributed.ring_attention import ring_bytes
from course_utils.kv_cache import KVCache
from course_utils.layers import DecoderLayer, DecoderOnlyLayer, EncoderLayer, FeedForward
from course_utils.linear_attention import recurrent_form
from course_utils.masks import causal_mask, combine_masks, padding_mask, sliding_window_mask
from course_utils.metrics import bits_per_symbol, perplexity
from course_utils.models import count_parameters
from course_utils.multi_head import MultiHeadAttention, split_heads
from course_utils.positions import SinusoidalPositions, alibi_bias, alibi_slopes, apply_rope, rotary_angles
from course_utils.training import label_smoothing_loss, warmup_rate
from course_utils.widgets.cache_calculator import MODELS

PAPER = {"d_model": 512, "num_heads": 8, "d_ff": 2048}  # the base model of "Attention Is All You Need", table 3
QUERY_AND_KEY = torch.tensor([[1.0, 0.3], [0.8, 0.6]])  # turned in the sheet's picture, at these positions
PLACES, FREQUENCY = ((2, 0), (5, 3)), 0.35
LLAMA = next(shape for shape in MODELS if shape.name == "Llama 3 8B")


def all_numbers() -> dict[str, dict[str, object]]:
    """The numbers by their subject: ``all_numbers()["layers"]["encoder"]``."""
    subjects = (scaling, shapes, masks, caches, positions, layers, decoding, losses, states, ranks)
    return {subject.__name__: subject() for subject in subjects}


def scaling() -> dict[str, object]:
    """How large dot products get, and what a softmax makes of them."""
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 20_000, 64, generator=generator)
    scores = torch.tensor([1.0, 3.0, 4.0]).log()
    hidden = torch.tensor([[True, True, False]])
    weights = scaled_dot_product_attention(torch.ones(1, 1), scores[:, None], torch.eye(3), hidden)[1]
    return {
        "d_k": q.shape[-1],
        "before": f"{(q * k).sum(-1).std():.1f}",
        "after": f"{((q * k).sum(-1) / math.sqrt(q.shape[-1])).std():.2f}",
        "masked": ", ".join(f"{w:.2f}" for w in weights[0].tolist()),
    }


def shapes() -> dict[str, object]:
    """The shapes of one call of multi-head attention, from the tensors themselves."""
    x, memory = torch.zeros(2, 5, 512), torch.zeros(2, 7, 512)
    heads = split_heads(x, PAPER["num_heads"])
    layer = MultiHeadAttention(512, PAPER["num_heads"], num_kv_heads=2)
    output, weights = layer(x, memory, memory, return_weights=True)
    keys = split_heads(layer.k_proj(memory), layer.num_kv_heads)
    named = {"x": x, "memory": memory, "q": heads, "k": keys, "weights": weights, "output": output}
    return {name: str(tuple(tensor.shape)) for name, tensor in named.items()}


def masks() -> dict[str, object]:
    """Shapes, and how many of the pairs each mask allows."""
    tokens = torch.tensor([[3, 4, 5, 6, 0, 0], [3, 4, 5, 6, 7, 8]])
    made = {
        "padding": padding_mask(tokens, pad_id=0),
        "causal": causal_mask(6),
        "window": sliding_window_mask(6, window=3),
        "cached": causal_mask(1, 6),
    }
    made["both"] = combine_masks(made["padding"], made["causal"])
    sizes = {name: str(tuple(mask.shape)) for name, mask in made.items()}
    return sizes | {f"{name}_pairs": int(made[name].sum()) for name in ("causal", "window")}


def caches() -> dict[str, object]:
    """The cache of a published model, by the library's own cache on one position of one layer."""
    one = KVCache(1, LLAMA.num_kv_heads, 1, LLAMA.d_head, dtype=torch.bfloat16).num_bytes * LLAMA.num_layers
    full = KVCache(1, LLAMA.num_heads, 1, LLAMA.d_head, dtype=torch.bfloat16).num_bytes * LLAMA.num_layers
    length = 8192
    return {
        "name": LLAMA.name,
        "N": LLAMA.num_layers,
        "H": LLAMA.num_heads,
        "H_kv": LLAMA.num_kv_heads,
        "d": LLAMA.d_head,
        "token": f"{one / 2**10:.0f} KiB",
        "length": f"{length:,}",
        "all": f"{one * length / 2**30:.0f} GiB",
        "unshared": f"{full * length / 2**30:.0f} GiB",
        "G": LLAMA.num_heads // LLAMA.num_kv_heads,
    }


def positions() -> dict[str, object]:
    """A row of the sinusoidal table, ALiBi's slopes, and two rotated scores of one distance."""
    row = SinusoidalPositions(4, 8)(torch.zeros(1, 2, 4))[0, 1]

    def score(*places: int) -> str:
        angles = [FREQUENCY * torch.tensor([[place]]) for place in places]
        q, k = (apply_rope(x[None], angle.cos(), angle.sin()) for x, angle in zip(QUERY_AND_KEY, angles, strict=True))
        return f"{(q * k).sum():.2f}"

    angles = rotary_angles(torch.tensor([1]), 512)[0]
    return {
        "row": ", ".join(f"{x:.2f}" for x in row.tolist()),
        "slopes": ", ".join(f"1/{1 / slope:.0f}" for slope in alibi_slopes(8).tolist()[:3]),
        "last_slope": f"1/{1 / alibi_slopes(8)[-1].item():.0f}",
        "bias": str(tuple(alibi_bias(8, 5).shape)),
        "near": score(*PLACES[0]),
        "far": score(*PLACES[1]),
        "other": score(5, 0),
        "longest": f"{2 * math.pi / angles[-1]:,.0f}",
    }


def layers() -> dict[str, object]:
    """Parameters of the paper's layers and of a layer of Llama 3 8B, counted on the modules."""
    d_model, num_heads, d_ff = PAPER.values()
    with torch.device("meta"):  # shapes without numbers
        made = {
            "attention": MultiHeadAttention(d_model, num_heads),
            "feed_forward": FeedForward(d_model, d_ff),
            "encoder": EncoderLayer(d_model, num_heads, d_ff),
            "decoder": DecoderLayer(d_model, num_heads, d_ff),
            "llama": DecoderOnlyLayer(4096, LLAMA.num_heads, 14336, num_kv_heads=LLAMA.num_kv_heads),
        }
    counts = {name: f"{count_parameters(module):,}" for name, module in made.items()}
    return counts | {"share": f"{count_parameters(made['feed_forward']) / count_parameters(made['encoder']):.0%}"}


def decoding() -> dict[str, object]:
    """One distribution, and what temperature, top-k and top-p make of it."""
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0])

    def shown(**how: float) -> str:
        return " ".join(f"{p:.2f}".replace("0.", ".") for p in sampling_distribution(logits, **how).tolist())

    return {
        "logits": "2, 1, 0, −1",
        "plain": shown(),
        "cold": shown(temperature=0.5),
        "top_k": shown(top_k=2),
        "top_p": shown(top_p=0.9),
    }


def losses() -> dict[str, object]:
    """What a guess among 26 letters costs, three ways; the floor of label smoothing; the peak of the warm-up."""
    nats = F.cross_entropy(torch.zeros(1, 26), torch.tensor([0])).item()
    smoothing, V = 0.1, 50  # noqa: N806
    spread = torch.full((1, V), smoothing / (V - 2)).log()
    spread[0, 0], spread[0, 3] = -math.inf, math.log(1 - smoothing)
    floor = label_smoothing_loss(spread.masked_fill(spread.isinf(), -1e4), torch.tensor([3]), smoothing=smoothing)
    return {
        "nats": f"{nats:.2f}",
        "bits": f"{bits_per_symbol(nats, 1):.2f}",
        "perplexity": f"{perplexity(nats, 1):.0f}",
        "floor": f"{floor:.2f}",
        "peak": f"{warmup_rate(4000, 512):.1e}".replace("e-04", " · 10⁻⁴"),
    }


def states() -> dict[str, object]:
    """A state beside a cache, and what the delta rule does with a key that comes twice."""
    d = LLAMA.d_head
    state = recurrent_form(*(torch.zeros(3, d) for _ in range(3)))[1]
    per_position = 2 * d  # numbers of a key and a value
    key, value = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[2.0], [5.0]])
    return {
        "d": d,
        "numbers": f"{state.numel():,}",
        "positions": state.numel() // per_position,
        "added": f"{recurrent_form(key, key, value)[0][-1].item():.0f}",
        "replaced": f"{recurrent_form(key, key, value, beta=torch.ones(2))[0][-1].item():.0f}",
    }


def ranks() -> dict[str, object]:
    """What each rank sends, in multiples of the bytes of its own keys and values."""
    there, back = ring_bytes(1, 1, 4)
    return {"P": 4, "there": there // 2, "back": back // 2, "all_reduce": f"{all_reduce_bytes(1000, 4) / 1000:.1f}"}
