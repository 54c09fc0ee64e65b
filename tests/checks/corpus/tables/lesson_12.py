"""Answers that the first tables of lesson 12 knew, wrong and right, by exercise and name (generated once; see README.md)."""

import math
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import decoding, layers, masks, metrics, multi_head, positions
from . import Answers, Right, Wrong

_MATRICES = ("gate_proj.weight", "up_proj.weight", "down_proj.weight")


def _swiglu(join=lambda gate, up: F.silu(gate) * up, before=lambda x: x, after=lambda y: y, names=_MATRICES):
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
    return nn.SiLU()(x @ gate.T) * (x @ up.T) @ down.mT


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
    return F.silu(x @ gate) * (x @ up) @ down


def _swiglu_no_down(x, params):
    return F.silu(F.linear(x, params["gate_proj.weight"])) * F.linear(x, params["up_proj.weight"])


SWIGLU = Answers(
    number="12.1",
    alternatives=(
        Right("loop over positions", _swiglu_loop),
        Right("einsum", _swiglu_einsum),
        Right("matrix product", _swiglu_matmul),
        Right("both branches in one product", _swiglu_fused),
        Right("silu written out", _swiglu(lambda g, u: g / (1 + (-g).exp()) * u)),
        Right("the course's own", _swiglu_course, off_limits=True),
    ),
    mistakes=(
        Wrong("silu on the wrong branch", _swiglu(lambda g, u: g * F.silu(u))),
        Wrong("silu on both", _swiglu(lambda g, u: F.silu(g) * F.silu(u))),
        Wrong("silu on the product", _swiglu(lambda g, u: F.silu(g * u))),
        Wrong("sigmoid", _swiglu(lambda g, u: g.sigmoid() * u)),
        Wrong("ReLU", _swiglu(lambda g, u: g.relu() * u)),
        Wrong("GELU", _swiglu(lambda g, u: F.gelu(g) * u)),
        Wrong("GELU by tanh", _swiglu(lambda g, u: F.gelu(g, approximate="tanh") * u)),
        Wrong("tanh", _swiglu(lambda g, u: g.tanh() * u)),
        Wrong("softmax", _swiglu(lambda g, u: g.softmax(-1) * u)),
        Wrong("no gate function", _swiglu(lambda g, u: g * u)),
        Wrong("added", _swiglu(lambda g, u: F.silu(g) + u)),
        Wrong("no up branch", _swiglu(lambda g, u: F.silu(g))),
        Wrong("no gate branch", _swiglu(lambda g, u: F.silu(u))),
        Wrong("gate twice", _swiglu(names=("gate_proj.weight", "gate_proj.weight", "down_proj.weight"))),
        Wrong("up twice", _swiglu(names=("up_proj.weight", "up_proj.weight", "down_proj.weight"))),
        Wrong("no down projection", _swiglu_no_down),
        Wrong("silu at the end", _swiglu(lambda g, u: g * u, after=F.silu)),
        Wrong("silu at the beginning", _swiglu(lambda g, u: g * u, before=F.silu)),
        Wrong("not transposed", _swiglu_untransposed),
        Wrong("residual inside", lambda x, params: x + _swiglu()(x, params)),
        Wrong("no gradient", _swiglu_without_gradient),
    ),
)


class _Block(nn.Module):
    """A decoder block with the constructor that the exercise gives; the mistakes change one of its steps."""

    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = positions.RotaryPositions(d_model // num_heads)
        self.self_attention = multi_head.MultiHeadAttention(
            d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary
        )
        self.feed_forward = layers.SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = (layers.RMSNorm(d_model), layers.RMSNorm(d_model))

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
        self.norm_1, self.norm_2 = (self.attention_norm, self.feed_forward_norm)

    def forward(self, x, cache=None):
        return super().forward(x, _Block.mask(self, x, cache), cache=cache)


BLOCK = Answers(
    number="12.2",
    alternatives=(
        Right("spelled out, asking for the weights", _block(_block_spelled_out)),
        Right("no mask for one position", _block(attend=_no_mask_for_one)),
        Right("position by position", _block(_block_position_by_position)),
        Right("the triangle of ones", _block(mask=lambda new, full: torch.ones(new, full).tril(full - new).bool())),
        Right("the course's own", _CourseBlock, off_limits=True),
    ),
    mistakes=(
        Wrong("post-norm", _block(_block_steps(lambda x, norm, f: norm(x + f(x))))),
        Wrong("norm after the sublayer", _block(_block_steps(lambda x, norm, f: x + norm(f(x))))),
        Wrong("no norms", _block(_block_steps(lambda x, norm, f: x + f(x)))),
        Wrong("no second norm", _block(_block_norm_only_first)),
        Wrong("no first norm", _block(_block_norm_only_second)),
        Wrong("first norm twice", _block(_block_norms("norm_1", "norm_1"))),
        Wrong("second norm twice", _block(_block_norms("norm_2", "norm_2"))),
        Wrong("norms exchanged", _block(_block_norms("norm_2", "norm_1"))),
        Wrong("no residual connections", _block(_block_steps(lambda x, norm, f: f(norm(x))))),
        Wrong("no residual around the network", _block(_block_loses_the_stream)),
        Wrong("no residual around the attention", _block(_block_attention_alone)),
        Wrong("normalized x added", _block(_block_steps(lambda x, norm, f: norm(x) + f(norm(x))))),
        Wrong("parallel", _block(_block_parallel)),
        Wrong("added to the start", _block(_block_adds_to_the_start)),
        Wrong("network first", _block(_block_network_first)),
        Wrong("no network", _block(_block_no_network)),
        Wrong("no causal mask", _block(attend=lambda self, y, cache: self.self_attention(y, cache=cache))),
        Wrong("mask inverted", _block(mask=lambda new, full: ~masks.causal_mask(new, full))),
        Wrong("diagonal masked", _block(mask=lambda new, full: masks.causal_mask(new, full).tril(full - new - 1))),
        Wrong(
            "one position too many",
            _block(mask=lambda new, full: torch.ones(new, full, dtype=torch.bool).tril(full - new + 1)),
        ),
        Wrong("top-left mask", _block(mask=lambda new, full: torch.ones(new, full, dtype=torch.bool).tril())),
        Wrong("mask of the new positions only", _block(mask=lambda new, full: masks.causal_mask(new))),
        Wrong(
            "cache not handed on",
            _block(attend=lambda self, y, cache: self.self_attention(y, mask=masks.causal_mask(y.shape[1]))),
        ),
        Wrong(
            "no mask with a cache",
            _block(
                attend=lambda self, y, cache: self.self_attention(
                    y, mask=masks.causal_mask(y.shape[1]) if cache is None else None, cache=cache
                )
            ),
        ),
        Wrong("mask for the prefill alone", _block(attend=_mask_for_an_empty_cache)),
        Wrong("in place", _block(_block_in_place)),
        Wrong("in place, first sum", _block(_block_first_in_place)),
    ),
)


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
        tokens, fed = (prompt, prefill(prompt))
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
    tokens, logits = (prompt, model(prompt, cache=cache))
    for _ in range(new):
        token = logits[:, -1].argmax(-1, keepdim=True)
        tokens = torch.cat((tokens, token), 1)
        logits = model(token, cache=cache)
    return tokens


GENERATION = Answers(
    number="12.3",
    alternatives=(
        Right("prefill before the loop", _cached_prefill_first),
        Right("a table that is filled", _cached_in_a_table),
        Right("more room than needed", _cached(room=_roomy)),
        Right("eval mode asked for", _cached_in_eval_mode),
        Right("all positions scored", _cached(pick=lambda logits: logits.argmax(-1)[:, -1:])),
        Right("the course's own", _course_generation, off_limits=True),
    ),
    mistakes=(
        Wrong("whole text fed", _cached(room=_roomy, feed=lambda token, tokens: tokens)),
        Wrong("whole text fed, no room", _cached(feed=lambda token, tokens: tokens)),
        Wrong(
            "whole text fed, little room",
            _cached(room=lambda length, new: length + new, feed=lambda token, tokens: tokens),
        ),
        Wrong(
            "whole text fed, much room",
            _cached(room=lambda length, new: 4 * (length + new), feed=lambda token, tokens: tokens),
        ),
        Wrong("last prompt token fed twice", _last_token_twice),
        Wrong("prefill without the last token", _prefilled_without_the_last),
        Wrong("cache not prefilled", _cached(prefill=lambda prompt: prompt[:, -1:])),
        Wrong("prefill without the cache", _cached(late=True)),
        Wrong("a new cache each step", _cached(renew=True)),
        Wrong("prompt one token at a time", _prompt_one_by_one),
        Wrong("one call too many", _one_call_too_many),
        Wrong("no cache", _uncached),
        Wrong("logits of position 0", _cached(pick=lambda logits: logits[:, 0].argmax(-1, keepdim=True))),
        Wrong("argmin", _cached(pick=lambda logits: logits[:, -1].argmin(-1, keepdim=True))),
        Wrong("drawn", _cached(pick=lambda logits: torch.multinomial(logits[:, -1].softmax(-1), 1))),
        Wrong(
            "first row's token for all",
            _cached(pick=lambda logits: logits[:1, -1].argmax(-1, keepdim=True).expand(len(logits), 1)),
        ),
        Wrong(
            "argmax over the batch", _cached(pick=lambda logits: logits[:, -1].argmax(0, keepdim=True).T[: len(logits)])
        ),
        Wrong("one too few", _cached(steps=lambda new: new - 1)),
        Wrong("one too many", _cached(room=_roomy, steps=lambda new: new + 1)),
        *(Wrong(f"stops at id {end}", _cached(end=end)) for end in range(3)),
        Wrong("new tokens only", _cached(finish=lambda tokens, length: tokens[:, length:])),
        Wrong("nothing joined", _cached(finish=lambda tokens, length: tokens[:, -1:])),
        Wrong("the axis lost", _cached(pick=lambda logits: logits[:, -1].argmax(-1))),
    ),
)


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
        probs, places = (heat(logits, temperature).softmax(-1), None)
        if stable:
            probs, places = probs.sort(dim=-1, descending=True, stable=True)
        else:
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
            ids, weights = (ids[:1], [1.0])
        else:
            ids = ids[:top_k]
            weights = [math.exp((row[i] - row.max()).item() / temperature) for i in ids]
            total, kept, so_far = (sum(weights), [], 0.0)
            for weight in weights:
                if kept and so_far >= (1.0 if top_p is None else top_p):
                    break
                kept.append(weight)
                so_far += weight / total
            weights = kept
        result = torch.zeros(len(row), dtype=row.dtype)
        for i, weight in zip(ids, weights, strict=False):
            result[i] = weight / sum(weights)
        rows.append(result)
    return torch.stack(rows)


def _sampling_by_ranks(logits, temperature, top_k, top_p):
    if temperature == 0:
        top_k, temperature = (1, 1.0)
    ids = torch.arange(logits.shape[-1])
    a, b = (logits[:, :, None], logits[:, None, :])
    ahead = (b > a) | (b == a) & (ids < ids[:, None])
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


SAMPLING = Answers(
    number="12.4",
    alternatives=(
        Right("loop", _sampling_loop),
        Right("by ranks, without sorting", _sampling_by_ranks),
        Right(
            "probabilities to the power 1 / temperature",
            _sampling(heat=lambda logits, t: (logits.softmax(-1) ** (1 / t)).log()),
        ),
        Right("top-p of 1 leaves all", lambda z, t, k, p: _sampling()(z, t, k, None if p == 1.0 else p)),
        Right("the course's own", _sampling_course, off_limits=True),
    ),
    mistakes=(
        Wrong("crossing token dropped", _sampling(dropped=_crossing_dropped)),
        Wrong(
            "crossing token dropped, even the first",
            _sampling(dropped=lambda probs, before, top_p: before + probs > top_p),
        ),
        Wrong("nothing left for top_p = 0", _sampling(dropped=lambda probs, before, top_p: before >= top_p)),
        Wrong("top_p reached exactly", _sampling(dropped=_kept_beyond)),
        Wrong(
            "one token too many",
            _sampling(
                dropped=lambda probs, before, top_p: (
                    before - probs.roll(1, -1).index_fill(-1, torch.tensor([0]), 0.0) >= top_p
                )
            ),
        ),
        Wrong("top-k not renormalized", _sampling(renormalize_k=False, renormalize_p=False)),
        Wrong(
            "renormalized only at the end",
            lambda z, t, k, p: (lambda q: q / q.sum(-1, keepdim=True))(_sampling(renormalize_k=False)(z, t, k, p)),
        ),
        Wrong("top-p not renormalized", _sampling(renormalize_p=False)),
        Wrong("temperature after the softmax", _sampling(heat=lambda logits, t: (logits.softmax(-1) / t).log())),
        Wrong("softmax twice", _sampling(heat=lambda logits, t: logits.softmax(-1) / t)),
        Wrong("temperature multiplied", _sampling(heat=lambda logits, t: logits * t)),
        Wrong("temperature at the end", _late_heat),
        Wrong("temperature 0", _sampling(greedy=False)),
        Wrong("greedy gives an id", _greedy_as_id),
        Wrong("greedy shares", _shared_greedy),
        Wrong("greedy takes the last", _last_greedy),
        Wrong("ties all kept", _tied_all_kept),
        Wrong("ties by the higher id", _sampling(stable=False)),
        Wrong("top_k above the vocabulary", _too_large_k),
        Wrong(
            "least probable kept",
            _sampling(cut_k=lambda probs, k: probs * (torch.arange(probs.shape[-1]) >= probs.shape[-1] - k)),
        ),
        Wrong("one fewer", _sampling(cut_k=lambda probs, k: probs * (torch.arange(probs.shape[-1]) < max(k - 1, 1)))),
        Wrong("one more", _sampling(cut_k=lambda probs, k: probs * (torch.arange(probs.shape[-1]) <= k))),
        Wrong("top_k ignored", lambda z, t, k, p: _sampling()(z, t, None, p)),
        Wrong("top_p ignored", lambda z, t, k, p: _sampling()(z, t, k, None)),
        Wrong(
            "top-p as a threshold",
            _sampling(dropped=lambda probs, before, p: (probs < p) & (torch.arange(probs.shape[-1]) > 0)),
        ),
        Wrong("unsorted sums", _unsorted_sum),
        Wrong("left sorted", _sampling(back=False)),
        Wrong("first row's choice for all", _shared_order),
        Wrong("zeros for logits", _zeros_for_logits),
        Wrong("logits divided in place", _in_place),
        Wrong("logits filled in place", _filled_in_place),
        Wrong("log-probabilities", _log_probs),
    ),
)


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
        total = sum((losses[real].sum().item() for losses, real in found))
        return finish(total, sum((int(real.sum()) for _, real in found)))

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
    total = sum((F.cross_entropy(z.mT, y, ignore_index=pad_id, reduction="sum") for z, y in batches))
    return torch.exp(total / sum(((y != pad_id).sum() for _, y in batches))).item()


def _perplexity_weighted(batches, pad_id):
    total, number = (0.0, 0)
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
    return math.exp(sum((x[r].sum().item() for x, r in found)) / sum((len(x) for x, _ in found)))


def _mean_over_sequences(batches, pad_id):
    means = []
    for logits, labels in batches:
        losses = F.cross_entropy(logits.mT, labels, reduction="none")
        means += [row[real].mean().item() for row, real in zip(losses, labels != pad_id, strict=True)]
    return math.exp(sum(means) / len(means))


def _joined_mean(losses):
    return torch.cat(losses).mean().item()


PERPLEXITY = Answers(
    number="12.5",
    alternatives=(
        Right("loop over tokens", _perplexity_loop),
        Right("everything joined", _perplexity_joined),
        Right("sums by cross_entropy", _perplexity_sums),
        Right("the course's own", _perplexity_course, off_limits=True),
    ),
    mistakes=(
        Wrong("means weighted by their numbers, base 2 throughout (NaN for a batch of padding)", _perplexity_weighted),
        Wrong(
            "mean of the batches' losses",
            _by_batch(lambda batches: math.exp(sum((x.mean().item() for x in batches)) / len(batches))),
        ),
        Wrong(
            "mean of the batches' perplexities",
            _by_batch(lambda batches: sum((x.mean().exp().item() for x in batches)) / len(batches)),
        ),
        Wrong("mean of the sequences' losses", _mean_over_sequences),
        Wrong("mean of the tokens' perplexities", _by_batch(lambda batches: torch.cat(batches).exp().mean().item())),
        Wrong("padding counted", _everything(lambda batches: math.exp(_joined_mean(batches)))),
        Wrong(
            "padding counted, mean of the batches",
            _everything(lambda batches: math.exp(sum((x.mean().item() for x in batches)) / len(batches))),
        ),
        Wrong("padding in the number", _padding_in_the_number),
        Wrong("exp of the sum", _by_batch(lambda batches: torch.cat(batches).sum().exp().item())),
        Wrong(
            "divided by the batches", _by_batch(lambda batches: torch.cat(batches).sum().div(len(batches)).exp().item())
        ),
        Wrong("no exp", _by_batch(_joined_mean)),
        Wrong("bits", _by_batch(lambda batches: _joined_mean(batches) / math.log(2))),
        Wrong("2 to the power of nats", _by_batch(lambda batches: 2 ** _joined_mean(batches))),
        Wrong("exp of bits", _by_batch(lambda batches: math.exp(_joined_mean(batches) / math.log(2)))),
        Wrong("sign", _by_batch(lambda batches: math.exp(-_joined_mean(batches)))),
        Wrong(
            "softmax before cross_entropy",
            _perplexity(per_token=lambda z, y: F.cross_entropy(z.softmax(-1), y, reduction="none")),
        ),
        Wrong("mean of the probabilities", _by_batch(lambda batches: 1 / torch.cat(batches).neg().exp().mean().item())),
        Wrong("last batch only", _by_batch(lambda batches: math.exp(batches[-1].mean().item()))),
        Wrong("first batch only", _by_batch(lambda batches: math.exp(batches[0].mean().item()))),
        Wrong("padding is always 0", lambda batches, pad_id: _perplexity()(batches, 0)),
    ),
)


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
        old, new = (keys.shape[2], query.shape[2])
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
        return (output, torch.cat((keys, kept(k, key)), dim=2), values)

    return answer


def _rotary_by_hand(query, key, value, keys, values, cos, sin):
    old, new = (keys.shape[2], query.shape[2])
    turned = []
    for x in (query, key):
        first, second = x.chunk(2, -1)
        c, s = (cos[old : old + new], sin[old : old + new])
        turned.append(torch.cat((first * c - second * s, second * c + first * s), -1))
    keys, values = (torch.cat((keys, turned[1]), 2), torch.cat((values, value), 2))
    scores = turned[0] @ keys.mT / query.shape[-1] ** 0.5
    allowed = torch.ones(new, old + new, dtype=torch.bool).tril(old)
    return (scores.masked_fill(~allowed, float("-inf")).softmax(-1) @ values, keys, values)


def _rotary_position_by_position(query, key, value, keys, values, cos, sin):
    outputs = []
    for t in range(query.shape[2]):
        one = slice(t, t + 1)
        step = _rotary_by_hand(query[:, :, one], key[:, :, one], value[:, :, one], keys, values, cos, sin)
        outputs.append(step[0])
        keys, values = step[1:]
    return (torch.cat(outputs, 2), keys, values)


def _rotary_by_index(query, key, value, keys, values, cos, sin):
    places = torch.arange(keys.shape[2], keys.shape[2] + query.shape[2])
    q, k = (positions.apply_rope(x, cos[places], sin[places]) for x in (query, key))
    keys, values = (torch.cat((keys, k), dim=2), torch.cat((values, value), dim=2))
    allowed = torch.arange(keys.shape[2]) <= places[:, None]
    return (F.scaled_dot_product_attention(q, keys, values, attn_mask=allowed), keys, values)


def _rotary_turned_again(query, key, value, keys, values, cos, sin):
    old, new = (keys.shape[2], query.shape[2])
    keys, values = (torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2))
    keys = positions.apply_rope(keys, cos[: old + new], sin[: old + new])
    q = positions.apply_rope(query, cos[old : old + new], sin[old : old + new])
    allowed = masks.causal_mask(new, old + new)
    return (F.scaled_dot_product_attention(q, keys, values, attn_mask=allowed), keys, values)


def _rotary_start_from_heads(query, key, value, keys, values, cos, sin):
    old = keys.shape[1] if keys.shape[2] else 0
    return _rotary_step(lambda _, new: old, lambda _, new: old)(query, key, value, keys, values, cos, sin)


ROTARY_BUG = Answers(
    number="12.6",
    alternatives=(
        Right("all by hand", _rotary_by_hand),
        Right("position by position", _rotary_position_by_position),
        Right("positions as an index", _rotary_by_index),
    ),
    mistakes=(
        Wrong("restarted at 0", _rotary_step(lambda old, new: 0, lambda old, new: 0)),
        Wrong("only the keys mended", _rotary_step(q_start=lambda old, new: 0)),
        Wrong("only the queries mended", _rotary_step(k_start=lambda old, new: 0)),
        Wrong("one too far", _rotary_step(lambda old, new: old + 1, lambda old, new: old + 1)),
        Wrong("queries one too far", _rotary_step(q_start=lambda old, new: old + 1)),
        Wrong("one too near", _rotary_step(lambda old, new: max(old - 1, 0), lambda old, new: max(old - 1, 0))),
        Wrong(
            "start from the whole length",
            _rotary_step(lambda old, new: old + new - 1 if old else 0, lambda old, new: old + new - 1 if old else 0),
        ),
        Wrong("start by the number of heads", _rotary_start_from_heads),
        Wrong("old keys turned again", _rotary_turned_again),
        Wrong("values turned", _rotary_step(turn_value=True)),
        Wrong("nothing turned", _rotary_step(turn_query=False, turn_key=False)),
        Wrong("queries not turned", _rotary_step(turn_query=False)),
        Wrong("keys not turned", _rotary_step(turn_key=False)),
        Wrong("raw keys kept", _rotary_step(kept=lambda turned, raw: raw)),
        Wrong("no mask", _rotary_step(mask=lambda new, full: None)),
        Wrong("top-left mask", _rotary_step(mask=lambda new, full: torch.ones(new, full, dtype=torch.bool).tril())),
    ),
)

EXERCISES = (
    SWIGLU,
    BLOCK,
    GENERATION,
    SAMPLING,
    PERPLEXITY,
    ROTARY_BUG,
)
