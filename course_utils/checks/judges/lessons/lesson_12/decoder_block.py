"""A decoder block."""

import torch
from torch import nn

from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions

from ...contrast import only_in_its_case
from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L, heads, kv_heads, d_head, d_ff, *labels, pieces=None, filled=False, again=False, dtype=torch.float32):
        d_model, number = heads * d_head, int(torch.randint(10**6, (), generator=rng))
        norms = {f"norm_{n}.weight": 1 + 0.5 * torch.randn(d_model, generator=rng, dtype=dtype) for n in (1, 2)}
        earlier = torch.randn(B, kv_heads, 2, d_head, generator=rng, dtype=dtype) if filled else None
        return Case(
            *labels, x=1.5 * torch.randn(B, L, d_model, generator=rng, dtype=dtype), **norms, num_heads=heads,
            num_kv_heads=kv_heads, d_ff=d_ff, pieces=pieces, _earlier=earlier, _again=again, _seed=number,
        )  # fmt: skip

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


def _old(cache):
    return 0 if cache is None else cache.length


def _step(self, x, norm, sublayer):
    return x + sublayer(norm(x))


class _Block(nn.Module):
    """A decoder block with the constructor that the exercise gives; a fault changes a method."""

    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        more = {"num_kv_heads": num_kv_heads, "bias": False, "rotary": RotaryPositions(d_model // num_heads)}
        self.self_attention = MultiHeadAttention(d_model, num_heads, **more)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        first, second = self.norms()
        seen = {"mask": self.mask(x.shape[1], cache), "cache": self.hand_on(cache)}
        return self.flow(
            x,
            lambda x: self.step_1(x, first, lambda y: self.self_attention(y, **seen)),
            lambda x: self.step_2(x, second, self.feed_forward),
        )

    def norms(self):
        return self.norm_1, self.norm_2

    def mask(self, new, cache):
        return causal_mask(new, _old(cache) + new)

    def hand_on(self, cache):
        return cache

    def flow(self, x, attention, network):
        return network(attention(x))

    step_1 = step_2 = _step


def _triangle(shift):
    """Ones up to ``shift(old)`` columns right of the diagonal."""
    return lambda self, new, cache: torch.ones(new, _old(cache) + new).tril(shift(_old(cache))).bool()


def _in_place(self, x, norm, sublayer):
    x += sublayer(norm(x))
    return x


def _class(**parts):
    return type("DecoderBlock", (_Block,), parts)


def _flowing(name, said, flow):
    return Fault(name, said, _STREAM, whole=_class(flow=flow))


_SUM = "x = x + sublayer(norm(x)): what a sublayer returns is added to what went into its norm, in a new tensor."
_BOTTOM_RIGHT = "the new queries are the last of all positions: causal_mask(L, cache.length + L)."
_NEXT = "a position sees itself and all before it."
_STREAM = "attention first, then the network on the sum that the attention made; its result is added to that sum."
_BOTH, _FIRST, _SECOND = ("step_1", "step_2"), ("step_1",), ("step_2",)
_PLACES = {_BOTH: "attention and network", _FIRST: "the attention", _SECOND: "the network"}
_BROKEN_STEPS = (
    ("post-norm", "the norm comes after the sum (post-norm)", lambda self, x, norm, f: norm(x + f(x)), (_BOTH,)),
    ("norm after the sublayer", "the norm acts on what the sublayer returns", lambda self, x, norm, f: x + norm(f(x)),
     (_BOTH,)),
    ("no norm", "no norm is used", lambda self, x, norm, f: x + f(x), (_BOTH, _FIRST, _SECOND)),
    ("no residual connection", "nothing is added to what the sublayer returns", lambda self, x, norm, f: f(norm(x)),
     (_BOTH, _FIRST, _SECOND)),
    ("normalized x added", "the residual connection starts from the normalized x, as where x = norm(x) overwrites x",
     lambda self, x, norm, f: norm(x) + f(norm(x)), (_BOTH, _FIRST, _SECOND)),
    ("in place", "x += ... writes into a tensor that others still need", _in_place, (_BOTH, _FIRST)),
)  # fmt: skip

EXERCISE = Exercise(
    answer="DecoderBlock", cases=_cases, reference=_class,
    returns=("output", "gradients of x, norm_1.weight and norm_2.weight", "length of the cache"), atol=2e-5,
    faults=(
        *(Fault(f"{name}, {_PLACES[steps]}", f"around {_PLACES[steps]}: {said}.", _SUM, **dict.fromkeys(steps, step))
          for name, said, step, places in _BROKEN_STEPS for steps in places),
        *faults_of("norms", "norm_1 belongs to the attention, norm_2 to the network.",
            ("norms exchanged", "the two norms are exchanged.", lambda self: (self.norm_2, self.norm_1)),
            ("first norm twice", "norm_1 is used for both sublayers; norm_2 never learns.",
             lambda self: (self.norm_1, self.norm_1)),
            ("second norm twice", "norm_2 is used for both sublayers; norm_1 never learns.",
             lambda self: (self.norm_2, self.norm_2))),
        _flowing("parallel", "both sublayers read the same x, side by side (some published models do that; not this one).",
            lambda self, x, attention, network: attention(x) + network(x) - x),
        _flowing("added to the start", "the second sum starts from the x of the beginning: what the attention found is "
            "lost to the stream.", lambda self, x, attention, network: x - (y := attention(x)) + network(y)),
        _flowing("network first", "the network comes before the attention.",
            lambda self, x, attention, network: attention(network(x))),
        Fault("network first, with norm_1", "the network comes before the attention.", _STREAM, whole=_class(
            norms=lambda self: (self.norm_2, self.norm_1), flow=lambda self, x, attention, network: attention(network(x)))),
        _flowing("no network", "the feed-forward network is missing.", lambda self, x, attention, network: attention(x)),
        *faults_of("mask", _BOTTOM_RIGHT,
            ("no mask", "no mask: each position sees its future.", lambda self, new, cache: None,
             "hand the attention mask=causal_mask(...)."),
            ("mask inverted", "the mask is turned around: each position sees its future only.",
             lambda self, new, cache: ~_Block.mask(self, new, cache),
             "True means may attend; hand the causal mask over as it is."),
            ("diagonal masked", "the diagonal is masked too: a position cannot see itself.",
             _triangle(lambda old: old - 1), _NEXT),
            ("one position too many", "each position sees the one after it, the very answer that it is to give.",
             _triangle(lambda old: old + 1), _NEXT),
            ("top-left mask", "the mask is aligned top-left: right without a cache, but with one the new queries stand at "
             "the wrong place.", _triangle(lambda old: 0)),
            ("mask of the new positions only", "the mask has a column for each new position only; with a cache there are "
             "earlier keys too.", lambda self, new, cache: causal_mask(new)),
            ("no mask with a cache", "with a cache there is no mask: of several new positions the early ones see the "
             "later.", lambda self, new, cache: causal_mask(new) if cache is None else None),
            ("mask for the prefill alone", "once the cache holds something there is no mask: of several new positions the "
             "early ones see the later.", lambda self, new, cache: None if _old(cache) else causal_mask(new))),
        Fault("cache not handed on", "the cache is never used: the second piece knows nothing of the first.",
            "hand it to the attention: cache=cache.", hand_on=lambda self, cache: None,
            mask=lambda self, new, cache: causal_mask(new)),
        Fault("empty cache taken for none", "an empty cache is not handed to the attention: the first piece is never kept.",
            "hand the cache on whatever it holds; only None means that there is none.",
            hand_on=lambda self, cache: cache if _old(cache) else None),
    ),
    symptoms=(only_in_its_case,),
    advice="with all parameters of attention and network at 0 the block must give x back; test that first.",
    tries=100,
)  # fmt: skip
