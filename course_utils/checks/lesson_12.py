"""Lesson 12, the decoder-only language model: what is right, what is wrong, and how it is told."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils import decoding, kv_cache, layers, masks, metrics, models, multi_head, positions

from .exercise import Alternative, Exercise, Mistake, Option, Quiz

# Shared ---------------------------------------------------------------------------------------------------------------


def _gradients(output, watched):
    """What reaches the watched tensors when each entry of the output has a slope of its own; zeros where nothing does."""
    found = [None] * len(watched)
    if isinstance(output, torch.Tensor) and output.requires_grad:
        slope = torch.linspace(-1.0, 1.5, output.numel()).view(output.shape).cos()
        found = torch.autograd.grad((output * slope).sum(), watched, allow_unused=True)
    return [torch.zeros_like(w) if g is None else g.detach() for w, g in zip(watched, found, strict=True)]


def _plain(value):
    """A tensor as it is now: an answer that works in place may change it in a later call."""
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


# 12.1 -----------------------------------------------------------------------------------------------------------------

_MATRICES = ("gate_proj.weight", "up_proj.weight", "down_proj.weight")


def _swiglu_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L, d_model, d_ff in ((1, 2, 3, 4), (2, 5, 6, 9), (3, 4, 7, 2), (2, 5, 6, 9)):
        shapes = ((d_ff, d_model), (d_ff, d_model), (d_model, d_ff))
        params = {
            name: 1.5 * torch.randn(shape, generator=rng) / shape[1] ** 0.5
            for name, shape in zip(_MATRICES, shapes, strict=True)
        }
        cases.append({"x": torch.randn(B, L, d_model, generator=rng), "params": params})
    return cases


def _call_swiglu(answer, case):
    seen = _plain(answer(case["x"], case["params"]))
    learned = {name: tensor.clone().requires_grad_() for name, tensor in case["params"].items()}
    return seen, *_gradients(answer(case["x"], learned), list(learned.values()))


def _swiglu(
    join=lambda gate, up: F.silu(gate) * up,
    before=lambda x: x,
    after=lambda y: y,
    names=_MATRICES,
):
    """The gated network with one of its parts exchanged."""

    def answer(x, params):
        gate, up, down = (params[name] for name in names)
        x = before(x)
        return after(F.linear(join(F.linear(x, gate), F.linear(x, up)), down))

    return answer


def _swiglu_loop(x, params):
    gate, up, down = params.values()
    rows = []
    for sequence in x:
        outputs = []
        for vector in sequence:
            g = gate @ vector
            outputs.append(down @ (g / (1 + torch.exp(-g)) * (up @ vector)))
        rows.append(torch.stack(outputs))
    return torch.stack(rows)


def _swiglu_einsum(x, params):
    gate = torch.einsum("bld,fd->blf", x, params["gate_proj.weight"])
    up = torch.einsum("bld,fd->blf", x, params["up_proj.weight"])
    return torch.einsum("blf,df->bld", gate * gate.sigmoid() * up, params["down_proj.weight"])


def _swiglu_matmul(x, params):
    gate, up, down = params.values()
    return (nn.SiLU()(x @ gate.T) * (x @ up.T)) @ down.mT


def _swiglu_fused(x, params):
    both = torch.cat((params["gate_proj.weight"], params["up_proj.weight"]))
    gate, up = F.linear(x, both).chunk(2, dim=-1)
    return F.linear(F.silu(gate) * up, params["down_proj.weight"])


def _swiglu_course(x, params):
    d_ff, d_model = params["up_proj.weight"].shape
    return torch.func.functional_call(layers.SwiGLU(d_model, d_ff), params, (x,))


def _swiglu_without_gradient(x, params):
    with torch.no_grad():
        return _swiglu()(x, params)


def _swiglu_untransposed(x, params):
    gate, up, down = params.values()
    return (F.silu(x @ gate) * (x @ up)) @ down


def _swiglu_no_down(x, params):
    return F.silu(F.linear(x, params["gate_proj.weight"])) * F.linear(x, params["up_proj.weight"])


_SILU = "SiLU is z times sigmoid(z): torch.nn.functional.silu."
_BRANCH = "only the gate branch passes through SiLU: silu(gate(x)) * up(x)."

SWIGLU = Exercise(
    number="12.1",
    title="SwiGLU",
    points=3,
    inputs=_swiglu_inputs,
    reference=_swiglu(),
    returns=("output", *(f"gradient of {name}" for name in _MATRICES)),
    call=_call_swiglu,
    off_limits=("course_utils.layers.feed_forward.SwiGLU", "course_utils.layers.feed_forward.FeedForward"),
    alternatives=(
        Alternative("loop over positions", _swiglu_loop),
        Alternative("einsum", _swiglu_einsum),
        Alternative("matrix product", _swiglu_matmul),
        Alternative("both branches in one product", _swiglu_fused),
        Alternative("silu written out", _swiglu(lambda g, u: g / (1 + (-g).exp()) * u)),
        Alternative("the course's own", _swiglu_course, off_limits=True),
    ),
    mistakes=(
        Mistake(
            "silu on the wrong branch",
            _swiglu(lambda g, u: g * F.silu(u)),
            "the SiLU acts on the up branch, or the two matrices are exchanged.",
            _BRANCH,
        ),
        Mistake(
            "silu on both",
            _swiglu(lambda g, u: F.silu(g) * F.silu(u)),
            "both branches pass through SiLU.",
            _BRANCH,
        ),
        Mistake(
            "silu on the product",
            _swiglu(lambda g, u: F.silu(g * u)),
            "the two branches were multiplied first, and SiLU came after.",
            _BRANCH,
        ),
        Mistake(
            "sigmoid",
            _swiglu(lambda g, u: g.sigmoid() * u),
            "a sigmoid in the place of SiLU: that is GLU, the first of the family.",
            _SILU,
        ),
        Mistake("ReLU", _swiglu(lambda g, u: g.relu() * u), "a ReLU in the place of SiLU: that is ReGLU.", _SILU),
        Mistake("GELU", _swiglu(lambda g, u: F.gelu(g) * u), "GELU in the place of SiLU: that is GEGLU.", _SILU),
        Mistake(
            "GELU by tanh",
            _swiglu(lambda g, u: F.gelu(g, approximate="tanh") * u),
            "GELU (in its tanh form) in the place of SiLU.",
            _SILU,
        ),
        Mistake("tanh", _swiglu(lambda g, u: g.tanh() * u), "a tanh in the place of SiLU.", _SILU),
        Mistake(
            "softmax",
            _swiglu(lambda g, u: g.softmax(-1) * u),
            "a softmax over the features: the gates of one position compete with one another.",
            _SILU,
        ),
        Mistake(
            "no gate function",
            _swiglu(lambda g, u: g * u),
            "the two branches are multiplied as they are; no SiLU.",
            _BRANCH,
        ),
        Mistake(
            "added",
            _swiglu(lambda g, u: F.silu(g) + u),
            "the two branches were added.",
            "a gate multiplies: silu(gate(x)) * up(x), feature by feature.",
        ),
        Mistake(
            "no up branch",
            _swiglu(lambda g, u: F.silu(g)),
            "up_proj is not used: that is an ordinary network with SiLU.",
            "multiply silu(gate(x)) by up(x).",
        ),
        Mistake(
            "no gate branch",
            _swiglu(lambda g, u: F.silu(u)),
            "gate_proj is not used: that is an ordinary network with SiLU.",
            "multiply silu(gate(x)) by up(x).",
        ),
        Mistake(
            "gate twice",
            _swiglu(names=("gate_proj.weight", "gate_proj.weight", "down_proj.weight")),
            "gate_proj was used for both branches.",
            "the second branch has a matrix of its own, up_proj.",
        ),
        Mistake(
            "up twice",
            _swiglu(names=("up_proj.weight", "up_proj.weight", "down_proj.weight")),
            "up_proj was used for both branches.",
            "the branch with SiLU has a matrix of its own, gate_proj.",
        ),
        Mistake(
            "no down projection",
            _swiglu_no_down,
            "down_proj is missing: your result has d_ff features, not d_model.",
            "hand the product to down_proj.",
        ),
        Mistake(
            "silu at the end",
            _swiglu(lambda g, u: g * u, after=F.silu),
            "the SiLU stands after down_proj.",
            _BRANCH,
        ),
        Mistake(
            "silu at the beginning",
            _swiglu(lambda g, u: g * u, before=F.silu),
            "the SiLU stands before the matrices.",
            _BRANCH,
        ),
        Mistake(
            "not transposed",
            _swiglu_untransposed,
            "x @ weight was computed, but weights are kept as (out, in).",
            "multiply by the transpose, x @ weight.T, or use F.linear(x, weight).",
        ),
        Mistake(
            "residual inside",
            lambda x, params: x + _swiglu()(x, params),
            "x was added: the residual connection belongs to the block (12.2), not to this network.",
            "return what down_proj gives.",
        ),
        Mistake(
            "no gradient",
            _swiglu_without_gradient,
            "the output is right, but no gradient reaches the matrices: they could not learn.",
            "use the tensors in params themselves: no detach, no torch.no_grad, no .data, no new nn.Parameter.",
        ),
    ),
    advice="compute gate(x), up(x), silu of the first, the product and down of it one by one, and print each shape.",
)

# 12.2 -----------------------------------------------------------------------------------------------------------------


def _block_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L, H, H_kv, d_head, d_ff, first in (
        (1, 3, 2, 1, 2, 5, 2),
        (2, 7, 6, 2, 4, 11, 4),
        (3, 5, 4, 4, 2, 7, 1),
    ):
        d_model = H * d_head
        case = {"x": 1.5 * torch.randn(B, L, d_model, generator=rng), "first": first}
        for number in (1, 2):
            case[f"norm_{number}.weight"] = 1 + 0.5 * torch.randn(d_model, generator=rng)
        case |= {"num_heads": H, "num_kv_heads": H_kv, "d_ff": d_ff}
        cases.append(case | {"seed": int(torch.randint(10**6, (), generator=rng))})
    return cases


def _run_block(answer, case):
    """Output and gradients for the whole sequence, then the output of the same sequence in two pieces with a cache."""
    x, sizes = case["x"], (case["num_heads"], case["num_kv_heads"], case["d_ff"])
    torch.manual_seed(case["seed"])
    block = answer(x.shape[-1], *sizes)
    for name in ("self_attention", "feed_forward", "norm_1", "norm_2"):
        if not isinstance(getattr(block, name, None), nn.Module):
            raise ValueError(f"the block must keep its part {name}, as in the constructor that was given")
    for offset, name in enumerate(("self_attention", "feed_forward")):
        torch.manual_seed(case["seed"] + offset)
        for parameter in getattr(block, name).parameters():
            nn.init.normal_(parameter, std=1.2 * parameter.shape[-1] ** -0.5)
    with torch.no_grad():
        for number in (1, 2):
            getattr(block, f"norm_{number}").weight.copy_(case[f"norm_{number}.weight"])
    with torch.no_grad():
        seen = _plain(block(x))
    leaf = x.clone().requires_grad_()
    gradients = _gradients(block(leaf * 1), [leaf, block.norm_1.weight, block.norm_2.weight])
    batch, length, d_model = x.shape
    cache = kv_cache.KVCache(batch, case["num_kv_heads"], length, d_model // case["num_heads"])
    with torch.no_grad():
        pieces = [_plain(block(piece.clone(), cache)) for piece in x.split([case["first"], length - case["first"]], 1)]
    return seen, *gradients, *pieces, cache.length


class _Block(nn.Module):
    """A decoder block with the constructor that the exercise gives; the mistakes change one of its steps."""

    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = positions.RotaryPositions(d_model // num_heads)
        self.self_attention = multi_head.MultiHeadAttention(
            d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary
        )
        self.feed_forward = layers.SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = layers.RMSNorm(d_model), layers.RMSNorm(d_model)

    def mask(self, x, cache):
        start = 0 if cache is None else cache.length
        return masks.causal_mask(x.shape[1], start + x.shape[1])

    def attend(self, y, cache):
        return self.self_attention(y, mask=_Block.mask(self, y, cache), cache=cache)

    def forward(self, x, cache=None):
        x = x + self.attend(self.norm_1(x), cache)
        return x + self.feed_forward(self.norm_2(x))


def _block(forward=None, mask=None, attend=None):
    """``_Block`` with one part exchanged: ``mask(L_new, L_all)``, ``attend(self, y, cache)`` or ``forward``."""
    methods = {}
    if mask is not None:

        def masked(self, y, cache):
            start = 0 if cache is None else cache.length
            return self.self_attention(y, mask=mask(y.shape[1], start + y.shape[1]), cache=cache)

        methods["attend"] = masked
    if attend is not None:
        methods["attend"] = attend
    if forward is not None:
        methods["forward"] = forward
    return type("DecoderBlock", (_Block,), methods)


def _block_steps(step):
    """A forward of two equal steps: ``step(x, norm, sublayer)`` around the attention, then around the network."""

    def forward(self, x, cache=None):
        x = step(x, self.norm_1, lambda y: self.attend(y, cache))
        return step(x, self.norm_2, self.feed_forward)

    return forward


def _block_norms(first, second):
    def forward(self, x, cache=None):
        x = x + self.attend(getattr(self, first)(x), cache)
        return x + self.feed_forward(getattr(self, second)(x))

    return forward


def _block_spelled_out(self, x, cache=None):
    y = self.norm_1(x)
    new = x.shape[1]
    old = 0 if cache is None else cache.length
    allowed = torch.arange(old + new) <= torch.arange(old, old + new)[:, None]
    attended, _ = self.self_attention(y, mask=allowed, cache=cache, return_weights=True)
    x = torch.add(x, attended)
    return torch.add(x, self.feed_forward(self.norm_2(x)))


def _no_mask_for_one(self, y, cache):
    mask = None if y.shape[1] == 1 else _Block.mask(self, y, cache)
    return self.self_attention(y, mask=mask, cache=cache)


def _mask_for_an_empty_cache(self, y, cache):
    empty = cache is None or cache.length == 0
    return self.self_attention(y, mask=masks.causal_mask(y.shape[1]) if empty else None, cache=cache)


def _block_position_by_position(self, x, cache=None):
    """One position at a time through a cache; without one, from all positions anew."""
    if cache is None:
        outputs = []
        for t in range(1, x.shape[1] + 1):
            y = x[:, :t] + self.self_attention(self.norm_1(x[:, :t]), mask=masks.causal_mask(t))
            outputs.append((y + self.feed_forward(self.norm_2(y)))[:, -1])
        return torch.stack(outputs, 1)
    outputs = []
    for t in range(x.shape[1]):
        y = x[:, t : t + 1] + self.self_attention(self.norm_1(x[:, t : t + 1]), cache=cache)
        outputs.append(y + self.feed_forward(self.norm_2(y)))
    return torch.cat(outputs, 1)


def _block_in_place(self, x, cache=None):
    x += self.attend(self.norm_1(x), cache)
    x += self.feed_forward(self.norm_2(x))
    return x


def _block_first_in_place(self, x, cache=None):
    x += self.attend(self.norm_1(x), cache)
    return x + self.feed_forward(self.norm_2(x))


def _block_parallel(self, x, cache=None):
    return x + self.attend(self.norm_1(x), cache) + self.feed_forward(self.norm_2(x))


def _block_adds_to_the_start(self, x, cache=None):
    y = x + self.attend(self.norm_1(x), cache)
    return x + self.feed_forward(self.norm_2(y))


def _block_network_first(self, x, cache=None):
    x = x + self.feed_forward(self.norm_1(x))
    return x + self.attend(self.norm_2(x), cache)


def _block_loses_the_stream(self, x, cache=None):
    x = x + self.attend(self.norm_1(x), cache)
    return self.feed_forward(self.norm_2(x))


def _block_attention_alone(self, x, cache=None):
    x = self.attend(self.norm_1(x), cache)
    return x + self.feed_forward(self.norm_2(x))


def _block_norm_only_first(self, x, cache=None):
    x = x + self.attend(self.norm_1(x), cache)
    return x + self.feed_forward(x)


def _block_norm_only_second(self, x, cache=None):
    x = x + self.attend(x, cache)
    return x + self.feed_forward(self.norm_2(x))


def _block_no_network(self, x, cache=None):
    return x + self.attend(self.norm_1(x), cache)


class _CourseBlock(layers.DecoderOnlyLayer):
    """The course's own, with the constructor that the exercise gives, and its names."""

    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        rotary = positions.RotaryPositions(d_model // num_heads)
        super().__init__(d_model, num_heads, d_ff, num_kv_heads=num_kv_heads, rotary=rotary)
        self.norm_1, self.norm_2 = self.attention_norm, self.feed_forward_norm

    def forward(self, x, cache=None):
        return super().forward(x, _Block.mask(self, x, cache), cache=cache)


_SUM = "each sublayer's result is added to what went into it, before the norm."
_BOTTOM_RIGHT = "the new queries are the last of all positions: causal_mask(L, cache.length + L)."

BLOCK = Exercise(
    number="12.2",
    title="A decoder block",
    points=5,
    inputs=_block_inputs,
    reference=_Block,
    returns=(
        "output",
        "gradient of x",
        "gradient of norm_1.weight",
        "gradient of norm_2.weight",
        "output of the first piece, with a cache",
        "output of the second piece, with a cache",
        "length of the cache",
    ),
    call=_run_block,
    expects="class",
    off_limits=(
        "course_utils.layers.residual.Residual",
        "course_utils.layers.decoder_only.DecoderOnlyLayer",
        "course_utils.layers.decoder.DecoderLayer",
        "course_utils.layers.encoder.EncoderLayer",
        "course_utils.models.decoder_lm.DecoderLM",
    ),
    atol=2e-5,
    alternatives=(
        Alternative("spelled out, asking for the weights", _block(_block_spelled_out)),
        Alternative("no mask for one position", _block(attend=_no_mask_for_one)),
        Alternative("position by position", _block(_block_position_by_position)),
        Alternative(
            "the triangle of ones", _block(mask=lambda new, full: torch.ones(new, full).tril(full - new).bool())
        ),
        Alternative("the course's own", _CourseBlock, off_limits=True),
    ),
    mistakes=(
        Mistake(
            "post-norm",
            _block(_block_steps(lambda x, norm, f: norm(x + f(x)))),
            "post-norm: each norm comes after the sum.",
            "normalize what goes into the sublayer and add its result to the x before the norm.",
        ),
        Mistake(
            "norm after the sublayer",
            _block(_block_steps(lambda x, norm, f: x + norm(f(x)))),
            "each norm acts on what the sublayer gives.",
            "normalize what goes into the sublayer.",
        ),
        Mistake(
            "no norms",
            _block(_block_steps(lambda x, norm, f: x + f(x))),
            "the norms are not used.",
            "normalize what goes into each sublayer, with norm_1 and norm_2.",
        ),
        Mistake(
            "no second norm",
            _block(_block_norm_only_first),
            "norm_2 is not used: the network gets the stream as it is.",
            "normalize what goes into the network by norm_2.",
        ),
        Mistake(
            "no first norm",
            _block(_block_norm_only_second),
            "norm_1 is not used: the attention gets the stream as it is.",
            "normalize what goes into the attention by norm_1.",
        ),
        Mistake(
            "first norm twice",
            _block(_block_norms("norm_1", "norm_1")),
            "norm_1 is used for both sublayers; norm_2 never learns.",
            "norm_2 belongs to the network.",
        ),
        Mistake(
            "second norm twice",
            _block(_block_norms("norm_2", "norm_2")),
            "norm_2 is used for both sublayers; norm_1 never learns.",
            "norm_1 belongs to the attention.",
        ),
        Mistake(
            "norms exchanged",
            _block(_block_norms("norm_2", "norm_1")),
            "the two norms are exchanged.",
            "norm_1 belongs to the attention, norm_2 to the network.",
        ),
        Mistake(
            "no residual connections",
            _block(_block_steps(lambda x, norm, f: f(norm(x)))),
            "nothing is added: both residual connections are missing.",
            _SUM,
        ),
        Mistake(
            "no residual around the network",
            _block(_block_loses_the_stream),
            "what the network gives stands alone: its residual connection is missing.",
            _SUM,
        ),
        Mistake(
            "no residual around the attention",
            _block(_block_attention_alone),
            "what the attention gives stands alone: its residual connection is missing.",
            _SUM,
        ),
        Mistake(
            "normalized x added",
            _block(_block_steps(lambda x, norm, f: norm(x) + f(norm(x)))),
            "the residual starts from the normalized x: the direct path is cut by the norm.",
            _SUM,
        ),
        Mistake(
            "parallel",
            _block(_block_parallel),
            "both sublayers read the same x, side by side (some published models do that; not this block).",
            "the network reads the sum that the attention made.",
        ),
        Mistake(
            "added to the start",
            _block(_block_adds_to_the_start),
            "the second sum starts from the x of the beginning: what the attention found is lost to the stream.",
            "add the network's result to the sum that the attention made.",
        ),
        Mistake(
            "network first",
            _block(_block_network_first),
            "the network came before the attention.",
            "attention with norm_1 first, then the network with norm_2.",
        ),
        Mistake(
            "no network",
            _block(_block_no_network),
            "the feed-forward network is missing.",
            "after the attention: x plus the network of the normalized x.",
        ),
        Mistake(
            "no causal mask",
            _block(attend=lambda self, y, cache: self.self_attention(y, cache=cache)),
            "no mask: each position sees its future.",
            "hand a causal mask to the attention: mask=causal_mask(...).",
        ),
        Mistake(
            "mask inverted",
            _block(mask=lambda new, full: ~masks.causal_mask(new, full)),
            "the mask is turned around: each position sees its future only.",
            "True means may attend; hand the causal mask over as it is.",
        ),
        Mistake(
            "diagonal masked",
            _block(mask=lambda new, full: masks.causal_mask(new, full).tril(full - new - 1)),
            "the diagonal is masked too: a position cannot see itself.",
            "a position sees itself and all before it.",
        ),
        Mistake(
            "one position too many",
            _block(mask=lambda new, full: torch.ones(new, full, dtype=torch.bool).tril(full - new + 1)),
            "each position sees the one after it, the very answer that it is to give.",
            "a position sees itself and all before it.",
        ),
        Mistake(
            "top-left mask",
            _block(mask=lambda new, full: torch.ones(new, full, dtype=torch.bool).tril()),
            "the mask is aligned top-left: right without a cache, but with one the new queries stand at the wrong place.",
            _BOTTOM_RIGHT,
        ),
        Mistake(
            "mask of the new positions only",
            _block(mask=lambda new, full: masks.causal_mask(new)),
            "the mask has a column for each new position only; with a cache there are earlier keys too.",
            _BOTTOM_RIGHT,
        ),
        Mistake(
            "cache not handed on",
            _block(attend=lambda self, y, cache: self.self_attention(y, mask=masks.causal_mask(y.shape[1]))),
            "the cache is accepted and never used: the second piece knows nothing of the first.",
            "hand it to the attention: cache=cache.",
        ),
        Mistake(
            "no mask with a cache",
            _block(
                attend=lambda self, y, cache: self.self_attention(
                    y, mask=masks.causal_mask(y.shape[1]) if cache is None else None, cache=cache
                )
            ),
            "with a cache there is no mask: of several new positions the early ones see the later.",
            _BOTTOM_RIGHT,
        ),
        Mistake(
            "mask for the prefill alone",
            _block(attend=_mask_for_an_empty_cache),
            "once the cache holds something there is no mask: of several new positions the early ones see the later.",
            _BOTTOM_RIGHT,
        ),
        Mistake(
            "in place",
            _block(_block_in_place),
            "x += writes into the tensor that the caller handed over.",
            "write x = x + ..., which makes a new tensor.",
        ),
        Mistake(
            "in place, first sum",
            _block(_block_first_in_place),
            "the first sum, x += ..., writes into the tensor that the caller handed over.",
            "write x = x + ..., which makes a new tensor.",
        ),
    ),
    advice="with all parameters of attention and network at 0 the block must give x back; test that first.",
)

# 12.3 -----------------------------------------------------------------------------------------------------------------


def _small_model(seed, vocab, num_heads, num_kv_heads, d_head, max_len):
    """A random model whose predictions are sharp, and depend on much of the text."""
    d_model = num_heads * d_head
    config = models.DecoderConfig(
        vocab, num_layers=2, d_model=d_model, d_ff=2 * d_model, num_heads=num_heads, num_kv_heads=num_kv_heads,
        max_len=max_len, tie_embeddings=False,
    )  # fmt: skip
    torch.manual_seed(seed)
    model = models.DecoderLM(config).eval().requires_grad_(False)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, std=1.5 * parameter.shape[1] ** -0.5)
    nn.init.normal_(model.embedding.weight)
    return model


def _generation_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    return [
        _generation_case(rng, 1, 3, 2, 5, (2, 1, 4)),
        _generation_case(rng, 2, 4, 6, 11, (4, 2, 6)),
        _generation_case(rng, 3, 5, 4, 13, (2, 2, 8)),
        _generation_case(rng, 1, 2, 6, 3, (2, 1, 6)),  # every id comes before the end: none of them is an end symbol
    ]


def _generation_case(rng, batch, length, new, vocab, sizes):
    """Draw until every choice is clear (whatever the rounding), and the tokens vary: of three ids, all before the end."""
    while True:
        case = {
            "prompt": torch.randint(0, vocab, (batch, length), generator=rng),
            "max_new_tokens": new,
            "vocab": vocab,
            "heads": list(sizes),
            "seed": int(torch.randint(10**6, (), generator=rng)),
        }
        model = _small_model(case["seed"], vocab, *sizes, 4 * (length + new))
        with torch.no_grad():
            said = _uncached(model, case["prompt"], new)
            best = model(said)[:, length - 1 : -1].topk(2, dim=-1).values
        clear = (best[..., 0] - best[..., 1]).min() > 0.02
        tails = {tuple(row) for row in said[:, length:].tolist()}
        varied = all(len(set(tail)) >= min(3, new) for tail in tails)
        varied &= vocab > 3 or all(len(set(tail[:-1])) == vocab for tail in tails)
        if clear and varied and len(tails) == batch:
            return case


class _Recorder(nn.Module):
    """A model that notes how many positions each call got, and whether it got a cache."""

    def __init__(self, model):
        super().__init__()
        self.model, self.calls = model, []

    def start_cache(self, batch_size, max_len):
        return self.model.start_cache(batch_size, max_len)

    def forward(self, tokens, *, cache=None):
        self.calls.append([list(getattr(tokens, "shape", [])), cache is not None])
        return self.model(tokens, cache=cache)

    def next_logits(self, tokens, *, cache=None):
        return self(tokens, cache=cache)[:, -1]


def _call_generation(answer, case):
    prompt, new = case["prompt"], case["max_new_tokens"]
    model = _small_model(case["seed"], case["vocab"], *case["heads"], 4 * (prompt.shape[1] + new))
    recorder = _Recorder(model)
    said = answer(recorder, prompt, new)
    return said, [shape for shape, _ in recorder.calls], [used for _, used in recorder.calls]


def _uncached(model, prompt, new):
    tokens = prompt
    for _ in range(new):
        tokens = torch.cat((tokens, model(tokens)[:, -1].argmax(-1, keepdim=True)), 1)
    return tokens


def _cached(
    room=lambda length, new: length + new - 1,
    prefill=lambda prompt: prompt,
    feed=lambda token, tokens: token,
    pick=lambda logits: logits[:, -1].argmax(-1, keepdim=True),
    steps=lambda new: new,
    renew=False,
    finish=lambda tokens, length: tokens,
    late=False,
    end=None,
):
    """Cached greedy generation with one of its parts exchanged."""

    def answer(model, prompt, new):
        batch, length = prompt.shape
        cache = model.start_cache(batch, room(length, new))
        tokens, fed = prompt, prefill(prompt)
        for step in range(steps(new)):
            if renew and step:
                cache = model.start_cache(batch, room(length, new))
            token = pick(model(fed, cache=None if late and step == 0 else cache))
            tokens = torch.cat((tokens, token), dim=1)
            fed = feed(token, tokens)
            if end is not None and (token == end).all():
                break
        return finish(tokens, length)

    return answer


def _roomy(length, new):
    return length + 2 * new + 1


def _cached_prefill_first(model, prompt, new):
    cache = model.start_cache(len(prompt), prompt.shape[1] + new)
    token = model(prompt, cache=cache)[:, -1].softmax(-1).max(-1).indices[:, None]
    said = [token]
    while len(said) < new:
        token = model(token, cache=cache)[:, 0].argmax(-1)[:, None]
        said.append(token)
    return torch.cat((prompt, *said), dim=1)


def _cached_in_a_table(model, prompt, new):
    batch, length = prompt.shape
    tokens = torch.zeros(batch, length + new, dtype=torch.long)
    tokens[:, :length] = prompt
    cache = model.start_cache(batch, length + new)
    start = 0
    for end in range(length, length + new):
        tokens[:, end] = model(tokens[:, start:end], cache=cache)[:, -1].argmax(-1)
        start = end
    return tokens


def _cached_in_eval_mode(model, prompt, new):
    device = next(model.parameters()).device
    with torch.inference_mode():
        return _cached()(model.eval(), prompt.to(device), new)


def _course_generation(model, prompt, new):
    return decoding.generate(model, prompt, max_new_tokens=new, temperature=0)


def _last_token_twice(model, prompt, new):
    cache = model.start_cache(len(prompt), prompt.shape[1] + new)
    model(prompt, cache=cache)
    tokens = prompt
    for _ in range(new):
        tokens = torch.cat((tokens, model(tokens[:, -1:], cache=cache)[:, -1].argmax(-1, keepdim=True)), 1)
    return tokens


def _prefilled_without_the_last(model, prompt, new):
    cache = model.start_cache(len(prompt), prompt.shape[1] + new)
    if prompt.shape[1] > 1:
        model(prompt[:, :-1], cache=cache)
    tokens = prompt
    for _ in range(new):
        tokens = torch.cat((tokens, model(tokens[:, -1:], cache=cache)[:, -1].argmax(-1, keepdim=True)), 1)
    return tokens


def _prompt_one_by_one(model, prompt, new):
    cache = model.start_cache(len(prompt), prompt.shape[1] + new)
    for t in range(prompt.shape[1]):
        logits = model(prompt[:, t : t + 1], cache=cache)
    tokens = prompt
    for step in range(new):
        token = logits[:, -1].argmax(-1, keepdim=True)
        tokens = torch.cat((tokens, token), 1)
        if step < new - 1:
            logits = model(token, cache=cache)
    return tokens


def _one_call_too_many(model, prompt, new):
    cache = model.start_cache(len(prompt), prompt.shape[1] + new)
    tokens, logits = prompt, model(prompt, cache=cache)
    for _ in range(new):
        token = logits[:, -1].argmax(-1, keepdim=True)
        tokens = torch.cat((tokens, token), 1)
        logits = model(token, cache=cache)
    return tokens


_WHOLE_TEXT = (
    "with the cache, the whole text was fed again at a later step: its positions enter the cache a second time.",
    "after the prefill, feed only the newest token, shape (B, 1).",
)

GENERATION = Exercise(
    number="12.3",
    title="Generate with a cache",
    points=4,
    inputs=_generation_inputs,
    reference=_cached(),
    returns=("tokens", "shapes fed to the model", "calls with a cache"),
    call=_call_generation,
    off_limits=("course_utils.decoding.sampling.generate", "course_utils.decoding.search.greedy_decode"),
    alternatives=(
        Alternative("prefill before the loop", _cached_prefill_first),
        Alternative("a table that is filled", _cached_in_a_table),
        Alternative("more room than needed", _cached(room=_roomy)),
        Alternative("eval mode asked for", _cached_in_eval_mode),
        Alternative("all positions scored", _cached(pick=lambda logits: logits.argmax(-1)[:, -1:])),
        Alternative("the course's own", _course_generation, off_limits=True),
    ),
    mistakes=(
        Mistake("whole text fed", _cached(room=_roomy, feed=lambda token, tokens: tokens), *_WHOLE_TEXT),
        Mistake("whole text fed, no room", _cached(feed=lambda token, tokens: tokens), *_WHOLE_TEXT),
        Mistake(
            "whole text fed, little room",
            _cached(room=lambda length, new: length + new, feed=lambda token, tokens: tokens),
            *_WHOLE_TEXT,
        ),
        Mistake(
            "whole text fed, much room",
            _cached(room=lambda length, new: 4 * (length + new), feed=lambda token, tokens: tokens),
            *_WHOLE_TEXT,
        ),
        Mistake(
            "last prompt token fed twice",
            _last_token_twice,
            "the last token of the prompt was fed twice: it is in the prefill, and it is fed once more.",
            "the prefill's own logits, at its last position, give the first new token.",
        ),
        Mistake(
            "prefill without the last token",
            _prefilled_without_the_last,
            "the prompt was fed in two calls, its last token apart (the tokens may be right).",
            "feed the whole prompt in the first call: its last logits give the first new token.",
        ),
        Mistake(
            "cache not prefilled",
            _cached(prefill=lambda prompt: prompt[:, -1:]),
            "the cache was not prefilled: the first call got the last token of the prompt alone.",
            "the first call feeds the whole prompt.",
        ),
        Mistake(
            "prefill without the cache",
            _cached(late=True),
            "the prompt was fed without the cache; the later steps know nothing of it.",
            "hand the cache to the first call too: that call is what fills it.",
        ),
        Mistake(
            "a new cache each step",
            _cached(renew=True),
            "a new cache was made at every step; what was kept is lost.",
            "call start_cache once, before the loop.",
        ),
        Mistake(
            "prompt one token at a time",
            _prompt_one_by_one,
            "the prompt was fed one token at a time: the tokens are right, but it takes one call for each.",
            "the positions of the prompt are all known: feed them in one call.",
        ),
        Mistake(
            "one call too many",
            _one_call_too_many,
            "after the last token the model was called once more, for nothing.",
            "max_new_tokens calls are enough: the prefill gives the first token.",
        ),
        Mistake(
            "no cache",
            _uncached,
            "the cache was not used: every step computes the whole text again (the tokens are right).",
            "make a cache with model.start_cache and hand it to every call as cache=.",
        ),
        Mistake(
            "logits of position 0",
            _cached(pick=lambda logits: logits[:, 0].argmax(-1, keepdim=True)),
            "the logits of position 0 were taken: after the prefill they belong to the first token of the prompt.",
            "take the last position: [:, -1].",
        ),
        Mistake(
            "argmin",
            _cached(pick=lambda logits: logits[:, -1].argmin(-1, keepdim=True)),
            "the least probable token was taken.",
            "greedy takes the largest logit: argmax.",
        ),
        Mistake(
            "drawn",
            _cached(pick=lambda logits: torch.multinomial(logits[:, -1].softmax(-1), 1)),
            "tokens were drawn at random.",
            "greedy takes the most probable token: argmax.",
        ),
        Mistake(
            "first row's token for all",
            _cached(pick=lambda logits: logits[:1, -1].argmax(-1, keepdim=True).expand(len(logits), 1)),
            "the token of the first sequence was given to all sequences.",
            "argmax over the last axis gives one token for each row.",
        ),
        Mistake(
            "argmax over the batch",
            _cached(pick=lambda logits: logits[:, -1].argmax(0, keepdim=True).T[: len(logits)]),
            "the maximum was taken over the batch, not over the vocabulary.",
            "argmax over the last axis, dim=-1.",
        ),
        Mistake(
            "one too few",
            _cached(steps=lambda new: new - 1),
            "one new token is missing.",
            "max_new_tokens tokens: the prefill gives the first, and max_new_tokens - 1 further calls the rest.",
        ),
        Mistake(
            "one too many",
            _cached(room=_roomy, steps=lambda new: new + 1),
            "one token too many.",
            "max_new_tokens tokens: the prefill gives the first, and max_new_tokens - 1 further calls the rest.",
        ),
        *(
            Mistake(
                f"stops at id {end}",
                _cached(end=end),
                f"generation stopped when the id {end} came up.",
                "no id is an end symbol here: every prompt gets max_new_tokens new tokens.",
            )
            for end in range(3)
        ),
        Mistake(
            "new tokens only",
            _cached(finish=lambda tokens, length: tokens[:, length:]),
            "only the new tokens came back.",
            "return prompt and new tokens together: (B, L + max_new_tokens).",
        ),
        Mistake(
            "nothing joined",
            _cached(finish=lambda tokens, length: tokens[:, -1:]),
            "only the last token came back.",
            "join the prompt and every new token along dim=1.",
        ),
        Mistake(
            "the axis lost",
            _cached(pick=lambda logits: logits[:, -1].argmax(-1)),
            "the new tokens have shape (B,); cat and the model need (B, 1).",
            "keep the axis: argmax(dim=-1, keepdim=True).",
        ),
    ),
    advice="compare with a loop without a cache: the tokens must be the same; then print the shape of what you feed.",
)

# 12.4 -----------------------------------------------------------------------------------------------------------------


def _sampling_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    by_hand = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log()
    ties = torch.tensor([[1.0, 3.0, 2.0, 3.0, 2.0, 2.0, -1.0]]).roll(int(torch.randint(2, (), generator=rng)), 1)

    def case(logits, temperature=1.0, top_k=None, top_p=None):
        return {"logits": logits, "temperature": temperature, "top_k": top_k, "top_p": top_p}

    return [
        case(by_hand, top_p=0.6),
        case(by_hand, top_k=2),
        case(torch.zeros(1, 2), top_p=0.5),  # the first token reaches top_p exactly: 1/2 and 1/2 carry no rounding
        case(by_hand, top_k=3, top_p=0.83),  # renormalized after top-k: two tokens; not renormalized: three
        case(ties, top_k=3),
        case(ties, top_k=4, temperature=0.8),
        case(ties, temperature=0),
        _clear_case(rng, 2, 11, 0.7, None, None),
        _clear_case(rng, 2, 11, 1.6, 5, None),
        _clear_case(rng, 3, 7, 1.0, None, 0.75),
        _clear_case(rng, 2, 9, 1.7, None, 0.7),
        _clear_case(rng, 3, 9, 0.6, 6, 0.8),
        case(torch.randn(2, 5, generator=rng), top_k=12),
        case(torch.randn(3, 5, generator=rng), top_p=0.0),
        case(torch.randn(2, 6, generator=rng), top_k=1, top_p=1.0),
    ]


def _clear_case(rng, batch, vocab, temperature, top_k, top_p):
    """Draw until no running sum is near ``top_p``, the rows keep unequal numbers, and it matters where the heat comes."""
    case = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    while True:
        logits = 1.5 * torch.randn(batch, vocab, generator=rng)
        if top_p is None:
            return {"logits": logits, **case}
        sums = {}
        for heat in (temperature, 1.0):
            for first in (top_k or vocab, vocab):
                probs = (logits / heat).sort(descending=True).values.softmax(-1)[:, :first]
                for norm in (1.0, probs.sum(-1, keepdim=True)):
                    sums[heat, first, norm is not probs and isinstance(norm, float)] = (probs / norm).cumsum(-1)
        kept = {key: (s < top_p).sum(-1) + 1 for key, s in sums.items()}
        clear = all((s - top_p).abs().min() > 5e-3 for s in sums.values())
        right = kept[temperature, top_k or vocab, False]
        differ = temperature == 1.0 or (kept[1.0, top_k or vocab, False] != right).all()
        cut = top_k is None or (kept[temperature, top_k, True] != right).any()
        if clear and differ and cut and len(set(right.tolist())) > 1 and right.min() > 1 and right.max() < vocab:
            return {"logits": logits, **case}


def _sampling(
    heat=lambda logits, temperature: logits / temperature,
    greedy=True,
    cut_k=None,
    renormalize_k=True,
    dropped=None,
    renormalize_p=True,
    stable=True,
    back=True,
):
    """The distribution of the next token with one of its parts exchanged; everything stands sorted until the end."""

    def after_k(probs, top_k):
        if top_k is None:
            return probs
        probs = probs.clone() if cut_k is None else cut_k(probs, top_k)
        if cut_k is None:
            probs[:, top_k:] = 0.0
        return probs / probs.sum(-1, keepdim=True) if renormalize_k else probs

    def after_p(probs, top_p):
        if top_p is None:
            return probs
        before = probs.cumsum(-1) - probs
        out = before >= top_p if dropped is None else dropped(probs, before, top_p)
        if dropped is None:
            out[:, 0] = False
        probs = probs.masked_fill(out, 0.0)
        return probs / probs.sum(-1, keepdim=True) if renormalize_p else probs

    def answer(logits, temperature, top_k, top_p):
        if greedy and temperature == 0:
            return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
        probs, places = heat(logits, temperature).softmax(-1), None
        if stable:
            probs, places = probs.sort(dim=-1, descending=True, stable=True)
        else:  # of equal ones the last comes first
            probs, places = probs.flip(-1).sort(dim=-1, descending=True, stable=True)
            places = logits.shape[-1] - 1 - places
        probs = after_p(after_k(probs, top_k), top_p)
        return torch.zeros_like(probs).scatter(-1, places, probs) if back else probs

    return answer


def _sampling_loop(logits, temperature, top_k, top_p):
    rows = []
    for row in logits:
        ids = sorted(range(len(row)), key=lambda i: (-row[i].item(), i))
        if temperature == 0:
            ids, weights = ids[:1], [1.0]
        else:
            ids = ids[:top_k]
            weights = [math.exp((row[i] - row.max()).item() / temperature) for i in ids]
            total, kept, so_far = sum(weights), [], 0.0
            for weight in weights:
                if kept and so_far >= (1.0 if top_p is None else top_p):
                    break
                kept.append(weight)
                so_far += weight / total
            weights = kept
        result = torch.zeros(len(row))
        for i, weight in zip(ids, weights, strict=False):
            result[i] = weight / sum(weights)
        rows.append(result)
    return torch.stack(rows)


def _sampling_by_ranks(logits, temperature, top_k, top_p):
    if temperature == 0:
        top_k, temperature = 1, 1.0
    ids = torch.arange(logits.shape[-1])
    a, b = logits[:, :, None], logits[:, None, :]
    ahead = (b > a) | ((b == a) & (ids < ids[:, None]))  # (B, V, V): b comes before a
    if top_k is not None:
        logits = logits.masked_fill(ahead.sum(-1) >= top_k, float("-inf"))
    probs = (logits / temperature).softmax(-1)
    if top_p is not None:
        more_probable = (ahead * probs[:, None]).sum(-1)
        probs = probs * ((more_probable < top_p) | (more_probable == 0) & (ahead.sum(-1) == 0))
        probs = probs / probs.sum(-1, keepdim=True)
    return probs


def _sampling_course(logits, temperature, top_k, top_p):
    return decoding.sampling_distribution(logits, temperature=temperature, top_k=top_k, top_p=top_p)


def _tied_all_kept(logits, temperature, top_k, top_p):
    if top_k is not None and temperature != 0:
        least = logits.topk(min(top_k, logits.shape[-1])).values[:, -1:]
        logits = logits.masked_fill(logits < least, float("-inf"))
    return _sampling()(logits, temperature, None, top_p)


def _too_large_k(logits, temperature, top_k, top_p):
    if top_k is not None and temperature != 0:
        values, ids = torch.topk(logits, top_k)
        logits = torch.full_like(logits, float("-inf")).scatter(-1, ids, values)
    return _sampling()(logits, temperature, None, top_p)


def _shared_order(logits, temperature, top_k, top_p):
    probs = _sampling()(logits, temperature, top_k, top_p)
    kept = probs[:1] > 0
    chosen = (logits / (temperature or 1.0)).masked_fill(~kept, float("-inf")).softmax(-1)
    return chosen if temperature else probs


def _unsorted_sum(logits, temperature, top_k, top_p):
    probs = _sampling()(logits, temperature, top_k, None)
    if top_p is None or temperature == 0:
        return probs
    out = probs.cumsum(-1) - probs >= top_p
    out[:, 0] = False
    probs = probs.masked_fill(out, 0.0)
    return probs / probs.sum(-1, keepdim=True)


def _zeros_for_logits(logits, temperature, top_k, top_p):
    """What is ruled out gets the logit 0, whose exponential is 1."""
    if temperature == 0:
        return _sampling()(logits, temperature, top_k, top_p)
    kept = _sampling()(logits, temperature, top_k, top_p) > 0
    return (logits / temperature).masked_fill(~kept, 0.0).softmax(-1)


def _in_place(logits, temperature, top_k, top_p):
    if temperature == 0:
        return _sampling()(logits, temperature, top_k, top_p)
    logits /= temperature
    return _sampling()(logits, 1.0, top_k, top_p)


def _filled_in_place(logits, temperature, top_k, top_p):
    if temperature == 0:
        return _sampling()(logits, temperature, top_k, top_p)
    probs = _sampling()(logits, temperature, top_k, top_p)
    logits[probs == 0] = float("-inf")
    return probs


def _log_probs(logits, temperature, top_k, top_p):
    return _sampling()(logits, temperature, top_k, top_p).log()


def _shared_greedy(logits, temperature, top_k, top_p):
    if temperature == 0:
        best = (logits == logits.max(-1, keepdim=True).values).to(logits.dtype)
        return best / best.sum(-1, keepdim=True)
    return _sampling()(logits, temperature, top_k, top_p)


def _last_greedy(logits, temperature, top_k, top_p):
    if temperature == 0:
        return F.one_hot(logits.shape[-1] - 1 - logits.flip(-1).argmax(-1), logits.shape[-1]).to(logits.dtype)
    return _sampling()(logits, temperature, top_k, top_p)


def _greedy_as_id(logits, temperature, top_k, top_p):
    return logits.argmax(-1) if temperature == 0 else _sampling()(logits, temperature, top_k, top_p)


def _late_heat(logits, temperature, top_k, top_p):
    """Top-k and top-p of the probabilities without temperature; only then is it applied, to what is left."""
    if temperature == 0:
        return _sampling()(logits, 0, top_k, top_p)
    kept = _sampling()(logits, 1.0, top_k, top_p) > 0
    return (logits / temperature).masked_fill(~kept, float("-inf")).softmax(-1)


def _crossing_dropped(probs, before, top_p):
    out = before + probs > top_p
    out[:, 0] = False
    return out


def _kept_beyond(probs, before, top_p):
    out = before > top_p
    out[:, 0] = False
    return out


_CROSSING = (
    "the token that crosses top_p was dropped: what is kept has less probability than asked for.",
    "a token stays if the ones before it have not reached top_p yet: compare the sum without the token itself.",
)

SAMPLING = Exercise(
    number="12.4",
    title="Temperature, top-k and top-p",
    points=5,
    inputs=_sampling_inputs,
    reference=_sampling(),
    returns=("probabilities",),
    off_limits=("course_utils.decoding.sampling.sampling_distribution",),
    alternatives=(
        Alternative("loop", _sampling_loop),
        Alternative("by ranks, without sorting", _sampling_by_ranks),
        Alternative(
            "probabilities to the power 1 / temperature",
            _sampling(heat=lambda logits, t: (logits.softmax(-1) ** (1 / t)).log()),
        ),
        Alternative("top-p of 1 leaves all", lambda z, t, k, p: _sampling()(z, t, k, None if p == 1.0 else p)),
        Alternative("the course's own", _sampling_course, off_limits=True),
    ),
    mistakes=(
        Mistake("crossing token dropped", _sampling(dropped=_crossing_dropped), *_CROSSING),
        Mistake(
            "crossing token dropped, even the first",
            _sampling(dropped=lambda probs, before, top_p: before + probs > top_p),
            "the token that crosses top_p was dropped, even if it is the first: then nothing is left, and 0 / 0 is NaN.",
            _CROSSING[1],
        ),
        Mistake(
            "nothing left for top_p = 0",
            _sampling(dropped=lambda probs, before, top_p: before >= top_p),
            "with top_p = 0 every token was dropped, and 0 / 0 is NaN.",
            "the most probable token always stays.",
        ),
        Mistake(
            "top_p reached exactly",
            _sampling(dropped=_kept_beyond),
            "when the tokens kept reach top_p exactly, one more was kept.",
            "to reach top_p is enough: a token falls if the ones before it have top_p or more, >= and not >.",
        ),
        Mistake(
            "one token too many",
            _sampling(
                dropped=lambda probs, before, top_p: (
                    before - probs.roll(1, -1).index_fill(-1, torch.tensor([0]), 0.0) >= top_p
                )
            ),
            "one token more than needed was kept: the one after the crossing.",
            "stop at the first token whose running sum reaches top_p.",
        ),
        Mistake(
            "top-k not renormalized",
            _sampling(renormalize_k=False, renormalize_p=False),
            "what is left does not sum to 1: no renormalization.",
            "divide by the sum of what is left, or set logits to minus infinity before the softmax.",
        ),
        Mistake(
            "renormalized only at the end",
            # top-k after top-p is the same: the fewer of the two counts of tokens stay
            lambda z, t, k, p: (lambda q: q / q.sum(-1, keepdim=True))(_sampling(renormalize_k=False)(z, t, k, p)),
            "top-p took its running sum over probabilities that were not renormalized after top-k, or it came before top-k.",
            "temperature, then top-k and renormalize, then the sums of top-p.",
        ),
        Mistake(
            "top-p not renormalized",
            _sampling(renormalize_p=False),
            "after top-p, what is left does not sum to 1.",
            "divide by the sum of what is left.",
        ),
        Mistake(
            "temperature after the softmax",
            _sampling(heat=lambda logits, t: (logits.softmax(-1) / t).log()),
            "the temperature has no effect: it is not used, or it divides the probabilities, and renormalizing takes that back.",
            "divide the logits, before the softmax.",
        ),
        Mistake(
            "softmax twice",
            _sampling(heat=lambda logits, t: logits.softmax(-1) / t),
            "a softmax of probabilities: the softmax was taken twice.",
            "divide the logits by the temperature and take the softmax once.",
        ),
        Mistake(
            "temperature multiplied",
            _sampling(heat=lambda logits, t: logits * t),
            "the logits were multiplied by the temperature: hot is cold.",
            "divide them: a temperature above 1 makes the distribution flatter.",
        ),
        Mistake(
            "temperature at the end",
            _late_heat,
            "top-p looked at the probabilities without temperature; it was applied to what was left.",
            "divide the logits by the temperature first of all.",
        ),
        Mistake(
            "temperature 0",
            _sampling(greedy=False),
            "temperature 0 was divided by: infinities and NaN.",
            "treat 0 on its own: all probability on the most probable token.",
        ),
        Mistake(
            "greedy gives an id",
            _greedy_as_id,
            "for temperature 0 an id came back, not a distribution.",
            "return probabilities here too: 1 for the most probable token, 0 for the others.",
        ),
        Mistake(
            "greedy shares",
            _shared_greedy,
            "at temperature 0 several tokens with the same logit share the probability.",
            "one token gets it all; of equal ones the one with the lowest id.",
        ),
        Mistake(
            "greedy takes the last",
            _last_greedy,
            "at temperature 0 the last of several equal tokens was taken.",
            "of equal tokens the one with the lowest id comes first, as argmax does it.",
        ),
        Mistake(
            "ties all kept",
            _tied_all_kept,
            "more than top_k tokens are left: all that equal the last one were kept.",
            "exactly top_k tokens stay; of equal ones those with the lower ids. Work with places after a stable sort.",
        ),
        Mistake(
            "ties by the higher id",
            _sampling(stable=False),
            "of equally probable tokens those with the higher ids were kept.",
            "sort with descending=True and stable=True.",
        ),
        Mistake(
            "top_k above the vocabulary",
            _too_large_k,
            "torch.topk stops when top_k is larger than the vocabulary.",
            "take the smaller of top_k and V, or slice a sorted tensor: a slice does not mind.",
        ),
        Mistake(
            "least probable kept",
            _sampling(cut_k=lambda probs, k: probs * (torch.arange(probs.shape[-1]) >= probs.shape[-1] - k)),
            "the least probable tokens were kept.",
            "sort with descending=True; the first top_k stay.",
        ),
        Mistake(
            "one fewer",
            _sampling(cut_k=lambda probs, k: probs * (torch.arange(probs.shape[-1]) < max(k - 1, 1))),
            "top_k - 1 tokens are left.",
            "places 0 to top_k - 1 stay: slice from top_k on.",
        ),
        Mistake(
            "one more",
            _sampling(cut_k=lambda probs, k: probs * (torch.arange(probs.shape[-1]) <= k)),
            "top_k + 1 tokens are left.",
            "places 0 to top_k - 1 stay: slice from top_k on.",
        ),
        Mistake(
            "top_k ignored",
            lambda z, t, k, p: _sampling()(z, t, None, p),
            "top_k is accepted and never used.",
            "rule out all but the top_k most probable tokens.",
        ),
        Mistake(
            "top_p ignored",
            lambda z, t, k, p: _sampling()(z, t, k, None),
            "top_p is accepted and never used.",
            "keep the fewest most probable tokens that reach top_p together.",
        ),
        Mistake(
            "top-p as a threshold",
            _sampling(dropped=lambda probs, before, p: (probs < p) & (torch.arange(probs.shape[-1]) > 0)),
            "each token's own probability was compared with top_p.",
            "compare the sum of the tokens before it.",
        ),
        Mistake(
            "unsorted sums",
            _unsorted_sum,
            "the running sum runs over the tokens in the order of their ids.",
            "sort by probability first, and put the result back in place afterwards.",
        ),
        Mistake(
            "left sorted",
            _sampling(back=False),
            "the probabilities came back in sorted order: they no longer belong to their ids.",
            "put them back: scatter by the places that sort gave.",
        ),
        Mistake(
            "first row's choice for all",
            _shared_order,
            "the tokens of the first row were kept in every row.",
            "each row keeps its own: sort and sum over the last axis.",
        ),
        Mistake(
            "zeros for logits",
            _zeros_for_logits,
            "what is ruled out got the logit 0, whose exponential is 1.",
            "minus infinity is the logit of probability 0.",
        ),
        Mistake(
            "logits divided in place",
            _in_place,
            "the logits were divided in place, inside the tensor that belongs to the caller.",
            "write logits = logits / temperature, which makes a new tensor.",
        ),
        Mistake(
            "logits filled in place",
            _filled_in_place,
            "minus infinity was written into the caller's logits.",
            "use masked_fill or a copy instead of assigning into logits.",
        ),
        Mistake(
            "log-probabilities",
            _log_probs,
            "logarithms came back.",
            "return probabilities: each row sums to 1.",
        ),
    ),
    advice="try it on the probabilities 0.5, 0.3, 0.15, 0.05 and print the result after every step.",
)

# 12.5 -----------------------------------------------------------------------------------------------------------------


def _perplexity_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    by_hand = torch.tensor([[[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]]).log()  # (1, 2, 3)
    return [
        {"batches": [(by_hand, torch.tensor([[0, 1]]))], "pad_id": 2},  # 1/2 and 1/4: the root of 8
        _scored_batches(rng, ((2, 6, 4), (3, 3, 2)), 7, 0),
        _scored_batches(rng, ((3, 6, 2), (1, 4, 3), (2, 3, 2)), 9, 4),
    ]


def _scored_batches(rng, sizes, vocab, pad_id):
    """Batches of unequal size and difficulty; some labels are padding, and what is said of padding is often wrong."""
    batches = []
    for number, (B, L, shortest) in enumerate(sizes):
        labels = torch.randint(0, vocab - 1, (B, L), generator=rng)
        labels = labels + (labels >= pad_id)  # any id but padding
        logits = 1.3 * torch.randn(B, L, vocab, generator=rng)
        logits.scatter_add_(-1, labels[..., None], torch.full((B, L, 1), 2.5 - 1.5 * number))
        lengths = torch.randint(shortest, L + 1, (B,), generator=rng)
        lengths[0] = min(shortest, L - 1)
        labels = labels.masked_fill(torch.arange(L) >= lengths[:, None], pad_id)
        batches.append((logits, labels))
    return {"batches": batches, "pad_id": pad_id}


def _token_losses(batches, pad_id, per_token=lambda logits, labels: F.cross_entropy(logits, labels, reduction="none")):
    """For each batch the losses of its positions and which of them count, both flat."""
    found = []
    for logits, labels in batches:
        flat = labels.flatten()
        found.append((per_token(logits.flatten(0, 1), flat), flat != pad_id))
    return found


def _perplexity(finish=lambda total, number: math.exp(total / number), **options):
    def answer(batches, pad_id):
        found = _token_losses(batches, pad_id, **options)
        total = sum(losses[real].sum().item() for losses, real in found)
        return finish(total, sum(int(real.sum()) for _, real in found))

    return answer


def _by_batch(combine):
    """``combine`` gets the losses that count, one tensor for each batch."""

    def answer(batches, pad_id):
        return combine([losses[real] for losses, real in _token_losses(batches, pad_id)])

    return answer


def _perplexity_loop(batches, pad_id):
    logs = []
    for logits, labels in batches:
        for row, right in zip(logits.double(), labels, strict=True):
            for scores, label in zip(row, right.tolist(), strict=True):
                if label != pad_id:
                    logs.append(math.log(scores.softmax(-1)[label].item()))
    return math.exp(-sum(logs) / len(logs))


def _perplexity_joined(batches, pad_id):
    logits = torch.cat([z.flatten(0, 1) for z, _ in batches])
    labels = torch.cat([y.flatten() for _, y in batches])
    return F.cross_entropy(logits, labels, ignore_index=pad_id).exp()


def _perplexity_sums(batches, pad_id):
    total = sum(F.cross_entropy(z.mT, y, ignore_index=pad_id, reduction="sum") for z, y in batches)
    return torch.exp(total / sum((y != pad_id).sum() for _, y in batches)).item()


def _perplexity_weighted(batches, pad_id):
    total, number = 0.0, 0
    for logits, labels in batches:
        count = int((labels != pad_id).sum())
        total += F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id).item() * count
        number += count
    return 2 ** (total / math.log(2) / number)


def _perplexity_course(batches, pad_id):
    return _perplexity(metrics.perplexity)(batches, pad_id)


def _everything(combine):
    """As ``_by_batch``, with padding counted."""

    def answer(batches, pad_id):
        return combine([losses for losses, _ in _token_losses(batches, pad_id)])

    return answer


def _padding_in_the_number(batches, pad_id):
    found = _token_losses(batches, pad_id)
    return math.exp(sum(x[r].sum().item() for x, r in found) / sum(len(x) for x, _ in found))


def _mean_over_sequences(batches, pad_id):
    means = []
    for logits, labels in batches:
        losses = F.cross_entropy(logits.mT, labels, reduction="none")
        means += [row[real].mean().item() for row, real in zip(losses, labels != pad_id, strict=True)]
    return math.exp(sum(means) / len(means))


def _joined_mean(losses):
    return torch.cat(losses).mean().item()


_TOTAL = "add up the losses of all tokens, divide once by their number, and take exp once."

PERPLEXITY = Exercise(
    number="12.5",
    title="Perplexity",
    points=3,
    inputs=_perplexity_inputs,
    reference=_perplexity(),
    returns=("perplexity",),
    off_limits=(
        "course_utils.metrics.perplexity",
        "course_utils.metrics.bits_per_symbol",
        "course_utils.metrics.text_scores",
        "course_utils.training.label_smoothing_loss",
    ),
    alternatives=(
        Alternative("loop over tokens", _perplexity_loop),
        Alternative("everything joined", _perplexity_joined),
        Alternative("sums by cross_entropy", _perplexity_sums),
        Alternative("means weighted by their numbers, base 2 throughout", _perplexity_weighted),
        Alternative("the course's own", _perplexity_course, off_limits=True),
    ),
    mistakes=(
        Mistake(
            "mean of the batches' losses",
            _by_batch(lambda batches: math.exp(sum(x.mean().item() for x in batches) / len(batches))),
            "the mean of the batches' means: a small batch counts as much as a large one.",
            _TOTAL,
        ),
        Mistake(
            "mean of the batches' perplexities",
            _by_batch(lambda batches: sum(x.mean().exp().item() for x in batches) / len(batches)),
            "the mean of the batches' perplexities: a small batch counts as much as a large one, and exp was taken too early.",
            _TOTAL,
        ),
        Mistake(
            "mean of the sequences' losses",
            _mean_over_sequences,
            "the mean of the sequences' means: a short sequence counts as much as a long one.",
            _TOTAL,
        ),
        Mistake(
            "mean of the tokens' perplexities",
            _by_batch(lambda batches: torch.cat(batches).exp().mean().item()),
            "exp was taken of each token's loss, before the mean.",
            _TOTAL,
        ),
        Mistake(
            "padding counted",
            _everything(lambda batches: math.exp(_joined_mean(batches))),
            "padding counted: its losses are in the sum and its positions in the number.",
            "leave out the positions whose label is pad_id, in both.",
        ),
        Mistake(
            "padding counted, mean of the batches",
            _everything(lambda batches: math.exp(sum(x.mean().item() for x in batches) / len(batches))),
            "padding counted, and a small batch counts as much as a large one.",
            "leave out the positions whose label is pad_id; then " + _TOTAL,
        ),
        Mistake(
            "padding in the number",
            _padding_in_the_number,
            "padding is left out of the sum but counted in the number.",
            "count the positions whose label is not pad_id.",
        ),
        Mistake(
            "exp of the sum",
            _by_batch(lambda batches: torch.cat(batches).sum().exp().item()),
            "exp of the total loss: not divided by the number of tokens.",
            _TOTAL,
        ),
        Mistake(
            "divided by the batches",
            _by_batch(lambda batches: torch.cat(batches).sum().div(len(batches)).exp().item()),
            "the total loss was divided by the number of batches.",
            "divide by the number of tokens.",
        ),
        Mistake(
            "no exp",
            _by_batch(_joined_mean),
            "the mean loss came back, in nats.",
            "the perplexity is exp of it.",
        ),
        Mistake(
            "bits",
            _by_batch(lambda batches: _joined_mean(batches) / math.log(2)),
            "bits per token came back.",
            "the perplexity is 2 to that power, or exp of the loss in nats.",
        ),
        Mistake(
            "2 to the power of nats",
            _by_batch(lambda batches: 2 ** _joined_mean(batches)),
            "2 to the power of nats: the bases are mixed.",
            "cross_entropy uses the natural logarithm, so take exp.",
        ),
        Mistake(
            "exp of bits",
            _by_batch(lambda batches: math.exp(_joined_mean(batches) / math.log(2))),
            "exp of bits: the bases are mixed.",
            "exp belongs to the natural logarithm, 2 to the power to log2.",
        ),
        Mistake(
            "sign",
            _by_batch(lambda batches: math.exp(-_joined_mean(batches))),
            "the sign is turned around: your result is 1 / perplexity, which is below 1.",
            "exp of the mean of -log p.",
        ),
        Mistake(
            "softmax before cross_entropy",
            _perplexity(per_token=lambda z, y: F.cross_entropy(z.softmax(-1), y, reduction="none")),
            "a softmax before cross_entropy, which takes log-softmax itself.",
            "hand the logits over as they are.",
        ),
        Mistake(
            "mean of the probabilities",
            _by_batch(lambda batches: 1 / torch.cat(batches).neg().exp().mean().item()),
            "one over the mean probability of the right tokens.",
            "the mean is taken of the logarithms.",
        ),
        Mistake(
            "last batch only",
            _by_batch(lambda batches: math.exp(batches[-1].mean().item())),
            "the perplexity of the last batch alone.",
            "collect sum and number over all batches.",
        ),
        Mistake(
            "first batch only",
            _by_batch(lambda batches: math.exp(batches[0].mean().item())),
            "the perplexity of the first batch alone: the return stands inside the loop.",
            "return after the loop.",
        ),
        Mistake(
            "padding is always 0",
            lambda batches, pad_id: _perplexity()(batches, 0),
            "padding was taken to be id 0; here it may be any id.",
            "compare the labels with pad_id.",
        ),
    ),
    advice="work the example of the task by hand: two tokens with probabilities 1/2 and 1/4.",
)

# 12.6 -----------------------------------------------------------------------------------------------------------------


def _rotary_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, H, d_head, d_v, pieces in ((1, 1, 2, 3, [2, 1]), (2, 3, 4, 5, [4, 1, 1, 2]), (3, 2, 6, 4, [1, 3, 2])):
        L = sum(pieces)
        angles = positions.rotary_angles(torch.arange(L + 3), d_head, base=100.0)
        cases.append(
            {
                "query": 1.5 * torch.randn(B, H, L, d_head, generator=rng),
                "key": 1.5 * torch.randn(B, H, L, d_head, generator=rng),
                "value": torch.randn(B, H, L, d_v, generator=rng),
                "cos": angles.cos().float(),
                "sin": angles.sin().float(),
                "pieces": pieces,
            }
        )
    return cases


def _call_rotary(answer, case):
    """Piece by piece; what each call keeps is handed to the next."""
    keys, values = case["key"][:, :, :0], case["value"][:, :, :0]
    seen = []
    parts = (case[name].split(case["pieces"], dim=2) for name in ("query", "key", "value"))
    for query, key, value in zip(*parts, strict=True):
        result = answer(query, key, value, keys, values, case["cos"], case["sin"])
        if not isinstance(result, tuple | list) or len(result) != 3:
            raise TypeError("attend_step must return three tensors: output, keys, values")
        seen.append(_plain(result[0]))
        keys, values = result[1:]
    return seen, keys, values


def _rotary_step(
    q_start=lambda old, new: old,
    k_start=lambda old, new: old,
    turn_value=False,
    mask=lambda new, full: masks.causal_mask(new, full),
    kept=lambda turned, raw: turned,
    turn_query=True,
    turn_key=True,
):
    """One step of attention with a cache and rotary positions, with one of its parts exchanged."""

    def turn(x, start, cos, sin):
        rows = slice(start, start + x.shape[2])
        return positions.apply_rope(x, cos[rows], sin[rows])

    def answer(query, key, value, keys, values, cos, sin):
        old, new = keys.shape[2], query.shape[2]
        q = turn(query, q_start(old, new), cos, sin) if turn_query else query
        k = turn(key, k_start(old, new), cos, sin) if turn_key else key
        if turn_value:
            half = value.shape[-1] // 2 * 2
            angles = (cos[:, : half // 2], sin[:, : half // 2])
            value = torch.cat((turn(value[..., :half], old, *angles), value[..., half:]), -1)
        everything = torch.cat((keys, k), dim=2)
        values = torch.cat((values, value), dim=2)
        allowed = mask(new, everything.shape[2])
        output = F.scaled_dot_product_attention(q, everything, values, attn_mask=allowed)
        return output, torch.cat((keys, kept(k, key)), dim=2), values

    return answer


def _rotary_by_hand(query, key, value, keys, values, cos, sin):
    old, new = keys.shape[2], query.shape[2]
    turned = []
    for x in (query, key):
        first, second = x.chunk(2, -1)
        c, s = cos[old : old + new], sin[old : old + new]
        turned.append(torch.cat((first * c - second * s, second * c + first * s), -1))
    keys, values = torch.cat((keys, turned[1]), 2), torch.cat((values, value), 2)
    scores = turned[0] @ keys.mT / query.shape[-1] ** 0.5
    allowed = torch.ones(new, old + new, dtype=torch.bool).tril(old)
    return scores.masked_fill(~allowed, float("-inf")).softmax(-1) @ values, keys, values


def _rotary_position_by_position(query, key, value, keys, values, cos, sin):
    outputs = []
    for t in range(query.shape[2]):
        one = slice(t, t + 1)
        step = _rotary_by_hand(query[:, :, one], key[:, :, one], value[:, :, one], keys, values, cos, sin)
        outputs.append(step[0])
        keys, values = step[1:]
    return torch.cat(outputs, 2), keys, values


def _rotary_by_index(query, key, value, keys, values, cos, sin):
    places = torch.arange(keys.shape[2], keys.shape[2] + query.shape[2])
    q, k = (positions.apply_rope(x, cos[places], sin[places]) for x in (query, key))
    keys, values = torch.cat((keys, k), dim=2), torch.cat((values, value), dim=2)
    allowed = torch.arange(keys.shape[2]) <= places[:, None]
    return F.scaled_dot_product_attention(q, keys, values, attn_mask=allowed), keys, values


def _rotary_turned_again(query, key, value, keys, values, cos, sin):
    old, new = keys.shape[2], query.shape[2]
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
    keys = positions.apply_rope(keys, cos[: old + new], sin[: old + new])
    q = positions.apply_rope(query, cos[old : old + new], sin[old : old + new])
    allowed = masks.causal_mask(new, old + new)
    return F.scaled_dot_product_attention(q, keys, values, attn_mask=allowed), keys, values


def _rotary_start_from_heads(query, key, value, keys, values, cos, sin):
    old = keys.shape[1] if keys.shape[2] else 0
    return _rotary_step(lambda _, new: old, lambda _, new: old)(query, key, value, keys, values, cos, sin)


_BOTH = "new queries and new keys stand at positions L_old to L_old + L_new - 1, both."

ROTARY_BUG = Exercise(
    number="12.6",
    title="Find the bug",
    points=3,
    inputs=_rotary_inputs,
    reference=_rotary_step(),
    returns=("outputs", "keys", "values"),
    call=_call_rotary,
    alternatives=(
        Alternative("all by hand", _rotary_by_hand),
        Alternative("position by position", _rotary_position_by_position),
        Alternative("positions as an index", _rotary_by_index),
    ),
    mistakes=(
        Mistake(
            "restarted at 0",
            _rotary_step(lambda old, new: 0, lambda old, new: 0),
            "the positions start at 0 again in every call: that is the bug that was to be found.",
            _BOTH,
        ),
        Mistake(
            "only the keys mended",
            _rotary_step(q_start=lambda old, new: 0),
            "the keys stand where they should, but the queries still start at position 0.",
            _BOTH,
        ),
        Mistake(
            "only the queries mended",
            _rotary_step(k_start=lambda old, new: 0),
            "the queries stand where they should, but the keys still start at position 0.",
            _BOTH,
        ),
        Mistake(
            "one too far",
            _rotary_step(lambda old, new: old + 1, lambda old, new: old + 1),
            "positions are counted from 1: the outputs are right, since only distances matter, but the kept keys are not.",
            "the first position is 0; the new ones start at keys.shape[2].",
        ),
        Mistake(
            "queries one too far",
            _rotary_step(q_start=lambda old, new: old + 1),
            "the queries stand one position behind their keys: every distance is too large by 1.",
            _BOTH,
        ),
        Mistake(
            "one too near",
            _rotary_step(lambda old, new: max(old - 1, 0), lambda old, new: max(old - 1, 0)),
            "the new positions start one too early: the newest key kept and the first new one share a position.",
            "the new ones start at keys.shape[2].",
        ),
        Mistake(
            "start from the whole length",
            _rotary_step(lambda old, new: old + new - 1 if old else 0, lambda old, new: old + new - 1 if old else 0),
            "the new positions start at the last position of all: right for one new token, wrong for several.",
            "the first new position is the number of kept keys, keys.shape[2].",
        ),
        Mistake(
            "start by the number of heads",
            _rotary_start_from_heads,
            "the start was read from keys.shape[1], the number of heads.",
            "positions stand on axis 2 of (B, H, L, d_head).",
        ),
        Mistake(
            "old keys turned again",
            _rotary_turned_again,
            "all keys are turned in every call; those that were kept had been turned already.",
            "turn the new keys only, then join them to the kept ones.",
        ),
        Mistake(
            "values turned",
            _rotary_step(turn_value=True),
            "the values were turned too.",
            "only queries and keys know their position; values stay as they are.",
        ),
        Mistake(
            "nothing turned",
            _rotary_step(turn_query=False, turn_key=False),
            "nothing is turned: without positions the order of the earlier tokens is lost.",
            "turn queries and keys by the angles of their positions.",
        ),
        Mistake(
            "queries not turned",
            _rotary_step(turn_query=False),
            "the queries are not turned.",
            _BOTH,
        ),
        Mistake(
            "keys not turned",
            _rotary_step(turn_key=False),
            "the keys are not turned.",
            _BOTH,
        ),
        Mistake(
            "raw keys kept",
            _rotary_step(kept=lambda turned, raw: raw),
            "the keys were handed back as they came in; the next call takes them for turned ones.",
            "keep the turned keys.",
        ),
        Mistake(
            "no mask",
            _rotary_step(mask=lambda new, full: None),
            "the mask is gone: of several new positions the early ones see the later.",
            "leave the mask as it was; the bug is elsewhere.",
        ),
        Mistake(
            "top-left mask",
            _rotary_step(mask=lambda new, full: torch.ones(new, full, dtype=torch.bool).tril()),
            "the mask is aligned top-left: the new queries no longer see the newest keys.",
            "leave the mask as it was; the bug is elsewhere.",
        ),
    ),
    advice="which position does the first new token have? Print the rows of cos that you use in each call.",
)

# 12.7, 12.8 -----------------------------------------------------------------------------------------------------------

LEFT_OVER = Quiz(
    number="12.7",
    title="What is left to draw from",
    points=1,
    right="b",
    options={
        "a": Option(
            "One: the first has 0.5, and the second would cross 0.83.",
            "the token that crosses the threshold is kept, and one token with 0.53 does not reach 0.83 yet.",
        ),
        "b": Option(
            "Two: among the three that top-k leaves, the first two have 0.84 together.",
            "top-k leaves 0.5, 0.3 and 0.15, renormalized 0.53, 0.32 and 0.16. The first two reach 0.83.",
        ),
        "c": Option(
            "Three: 0.5 and 0.3 are only 0.8 together, so the third is needed.",
            "that would be so without top-k. Here its survivors are renormalized first, and 0.8 of 0.95 is 0.84.",
        ),
        "d": Option(
            "Four: temperature 1 keeps them all.",
            "temperature 1 changes nothing, but top-k and top-p cut on their own.",
        ),
    },
)

COST = Quiz(
    number="12.8",
    title="A text twice as long",
    points=1,
    right="c",
    options={
        "a": Option(
            "With the cache the same as before, without it twice as many.",
            "the cache saves the projections, not the looking: the new query still meets every kept key.",
        ),
        "b": Option(
            "Twice as many in both cases.",
            "with the cache, yes. Without it there are twice as many queries as well, each with up to twice as many keys.",
        ),
        "c": Option(
            "With the cache twice as many, without it about four times as many.",
            "one query meets 2 L keys instead of L; without a cache about 2 L queries meet up to 2 L keys each.",
        ),
        "d": Option(
            "With the cache four times as many, without it eight times.",
            "one step is asked for, not the whole generation: a cached step has one query.",
        ),
    },
)

EXERCISES = (SWIGLU, BLOCK, GENERATION, SAMPLING, PERPLEXITY, ROTARY_BUG, LEFT_OVER, COST)
