"""Lesson 06, multi-head attention: what is right, what is wrong, and how it is told."""

import math

import torch
import torch.nn.functional as F

from course_utils import multi_head
from course_utils.attention import masked_softmax, scaled_dot_product_attention

from .exercise import Alternative, Exercise, Mistake, Option, Quiz

_HEADS = ("course_utils.multi_head.split_heads", "course_utils.multi_head.merge_heads")
_READY_MADE = (
    *_HEADS,
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention",
    "course_utils.attention.scaled_dot_product_attention",
    "course_utils.multi_head.MultiHeadAttention",
)

# 6.1 ------------------------------------------------------------------------------------------------------------------


def _split_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    places = 10.0 * torch.arange(2)[:, None] + torch.arange(4)
    return [
        {"x": places[None], "num_heads": 2},
        {"x": torch.randn(2, 5, 12, generator=rng), "num_heads": 4},
        {"x": torch.randn(3, 7, 10, generator=rng), "num_heads": 2},
        {"x": torch.randn(2, 3, 8, generator=rng), "num_heads": 1},
        {"x": torch.randn(4, 6, 5, generator=rng), "num_heads": 5},
        {"x": torch.randn(2, 5, 12, generator=rng), "num_heads": 4},  # sizes seen before, other numbers
    ]


def _split(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def _straight_split(x, num_heads):
    return x.reshape(x.shape[0], num_heads, x.shape[1], -1)


def _split_loop(x, num_heads):
    size = x.shape[-1] // num_heads
    out = torch.zeros(x.shape[0], num_heads, x.shape[1], size)
    for h in range(num_heads):
        for i in range(size):
            out[:, h, :, i] = x[:, :, h * size + i]
    return out


def _interleaved_split(x, num_heads):
    return x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)


def _overlapping_split(x, num_heads):
    return torch.stack([x[..., h : h + x.shape[-1] // num_heads] for h in range(num_heads)], dim=1)


_STRAIGHT_SPLIT = (
    "one view straight to (B, H, L, d_head): head 0 holds the first part of the sequence, not a part of every token.",
    "cut the last axis first, to (B, L, H, d_head), then transpose axes 1 and 2.",
)
_INTERLEAVED = (
    "the features dealt out in turn: head 0 has features 0, H, 2H and so on.",
    "the heads come before the features in the cut: (B, L, H, d_head), so that a head has neighbors.",
)

SPLIT = Exercise(
    number="6.1",
    title="Split into heads",
    points=3,
    inputs=_split_inputs,
    reference=_split,
    returns=("heads",),
    off_limits=_HEADS,
    alternatives=(
        Alternative("view and transpose", lambda x, n: x.view(*x.shape[:2], n, x.shape[-1] // n).transpose(1, 2)),
        Alternative("reshape and permute", lambda x, n: x.reshape(*x.shape[:2], n, -1).permute(0, 2, 1, 3)),
        Alternative("contiguous", lambda x, n: _split(x, n).contiguous()),
        Alternative("chunk and stack", lambda x, n: torch.stack(x.chunk(n, dim=-1), dim=1)),
        Alternative("einsum", lambda x, n: torch.einsum("blhd->bhld", x.unflatten(-1, (n, -1)))),
        Alternative("loop", _split_loop),
        Alternative(
            "features first", lambda x, n: x.transpose(1, 2).reshape(x.shape[0], n, -1, x.shape[1]).transpose(2, 3)
        ),
        Alternative("the course's own", lambda x, n: multi_head.split_heads(x, n), off_limits=True),
    ),
    mistakes=(
        Mistake("straight view", _straight_split, *_STRAIGHT_SPLIT),
        Mistake(
            "no transpose",
            lambda x, n: x.unflatten(-1, (n, -1)),
            "the cut without the transpose: your shape is (B, L, H, d_head).",
            "bring the heads forward: swap axes 1 and 2.",
        ),
        Mistake("interleaved", _interleaved_split, *_INTERLEAVED),
        Mistake(
            "heads and features exchanged",
            lambda x, n: x.unflatten(-1, (-1, n)).transpose(1, 2),
            "num_heads was taken for the size of a head: your shape is (B, d_head, L, H).",
            "cut the last axis into num_heads parts of d_model // num_heads features, in this order.",
        ),
        Mistake(
            "features before tokens",
            lambda x, n: _split(x, n).transpose(2, 3),
            "the last two axes exchanged: (B, H, d_head, L).",
            "the tokens come before the features of a head: (B, H, L, d_head).",
        ),
        Mistake(
            "heads first",
            lambda x, n: _split(x, n).transpose(0, 1),
            "the heads in front of the batch: (H, B, L, d_head).",
            "the batch stays first; the heads are axis 1 (torch.stack takes dim=1).",
        ),
        Mistake(
            "transpose before the cut",
            lambda x, n: x.transpose(1, 2).reshape(x.shape[0], n, x.shape[1], -1),
            "tokens and features were exchanged before the cut; the rows of your heads mix several tokens.",
            "cut first, to (B, L, H, d_head), then exchange axes 1 and 2.",
        ),
        Mistake(
            "a list of heads",
            lambda x, n: list(x.chunk(n, dim=-1)),
            "a list with one tensor for each head.",
            "stack them into one tensor, with the heads as axis 1.",
        ),
        Mistake(
            "overlapping slices",
            _overlapping_split,
            "slices that start at feature h: neighboring heads share all but one of their features.",
            "head h starts at feature h * d_head and ends before (h + 1) * d_head.",
        ),
        Mistake(
            "heads last",
            lambda x, n: torch.stack(x.chunk(n, dim=-1), dim=-1),
            "the heads stacked as the last axis: (B, L, d_head, H).",
            "the heads are axis 1 of the result: torch.stack takes dim=1.",
        ),
        Mistake(
            "nothing cut",
            lambda x, n: x.unsqueeze(1).expand(-1, n, -1, -1),
            "the whole input handed to every head: nothing was cut.",
            "each head gets d_model // num_heads of the features.",
        ),
    ),
    advice="try the example of the task: head 1 must hold the last features of every token.",
)

# 6.2 ------------------------------------------------------------------------------------------------------------------


def _merge_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = ((2, 4, 5, 3), (3, 2, 7, 6), (4, 6, 3, 2), (2, 1, 4, 5), (2, 4, 5, 3))
    example = torch.tensor([[[[0.0, 1.0], [10.0, 11.0]], [[2.0, 3.0], [12.0, 13.0]]]])
    return [{"x": example}] + [{"x": torch.randn(*size, generator=rng)} for size in sizes]


def _merge(x):
    return x.transpose(1, 2).flatten(2)


def _straight_merge(x):
    return x.reshape(x.shape[0], x.shape[2], -1)


def _interleaved_merge(x):
    return x.permute(0, 2, 3, 1).flatten(2)


def _view_merge(x):
    return x.transpose(1, 2).view(x.shape[0], x.shape[2], -1)


_STRAIGHT_MERGE = (
    "a reshape without the transpose back: the rows of one head were put behind one another.",
    "exchange axes 1 and 2 first, to (B, L, H, d_head); then join the last two axes.",
)
_VIEW_MERGE = (
    "a view of a transposed tensor, whose numbers do not lie in that order in memory.",
    "copy them into order with contiguous() first, or use reshape or flatten.",
)

MERGE = Exercise(
    number="6.2",
    title="Merge the heads",
    points=2,
    inputs=_merge_inputs,
    reference=_merge,
    returns=("merged",),
    off_limits=_HEADS,
    alternatives=(
        Alternative("contiguous view", lambda x: x.transpose(1, 2).contiguous().view(x.shape[0], x.shape[2], -1)),
        Alternative("permute and reshape", lambda x: x.permute(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)),
        Alternative("cat of heads", lambda x: torch.cat(x.unbind(1), dim=-1)),
        Alternative("loop", lambda x: torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)),
        Alternative("einsum", lambda x: torch.einsum("bhld->blhd", x).flatten(2)),
        Alternative("the course's own", lambda x: multi_head.merge_heads(x), off_limits=True),
    ),
    mistakes=(
        Mistake("no transpose", _straight_merge, *_STRAIGHT_MERGE),
        Mistake("view", _view_merge, *_VIEW_MERGE),
        Mistake(
            "interleaved",
            _interleaved_merge,
            "the heads dealt out in turn: feature 0 of every head, then feature 1 of every head.",
            "keep each head together: join (H, d_head), with the heads before the features.",
        ),
        Mistake(
            "heads averaged",
            lambda x: x.mean(1),
            "the mean over the heads; what they found is blended together.",
            "put the heads side by side: the last axis has H * d_head features.",
        ),
        Mistake(
            "heads added",
            lambda x: x.sum(1),
            "the sum over the heads; what they found is blended together.",
            "put the heads side by side: the last axis has H * d_head features.",
        ),
        Mistake(
            "not joined",
            lambda x: x.transpose(1, 2),
            "the transpose alone: your result still has four axes.",
            "join the last two axes, (H, d_head), into one.",
        ),
        Mistake(
            "stacked on a new axis",
            lambda x: torch.stack(x.unbind(1), dim=-1),
            "the heads stacked on a new last axis: (B, L, d_head, H).",
            "join them along the features that are there: torch.cat, not torch.stack.",
        ),
        Mistake(
            "along the sequence",
            lambda x: x.flatten(1, 2),
            "the heads one after another along the sequence: (B, H * L, d_head).",
            "the heads belong side by side in the features: (B, L, H * d_head).",
        ),
        Mistake(
            "wrong axes exchanged",
            lambda x: x.transpose(2, 3).reshape(x.shape[0], x.shape[2], -1),
            "axes 2 and 3 exchanged instead of 1 and 2.",
            "the heads are axis 1 and the tokens axis 2: those two change places.",
        ),
        Mistake(
            "head 0 only",
            lambda x: x[:, 0],
            "head 0 alone.",
            "all heads go side by side into the last axis.",
        ),
    ),
    advice="try merge_heads on the result of your split_heads: it must give the input back.",
)

# 6.3 ------------------------------------------------------------------------------------------------------------------


def _parameters(rng, d_in, d_model):
    params = {}
    for name in ("q_proj", "k_proj", "v_proj"):
        params[f"{name}.weight"] = 1.3 * torch.randn(d_model, d_in, generator=rng) / d_in**0.5
        params[f"{name}.bias"] = 0.5 * torch.randn(d_model, generator=rng)
    params["o_proj.weight"] = torch.randn(d_in, d_model, generator=rng) / d_model**0.5
    params["o_proj.bias"] = torch.randn(d_in, generator=rng)
    return params


def _forward_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L_q, L_k, d_in, H, d_head, mask_shape in (
        (1, 2, 3, 3, 2, 2, None),
        (2, 5, 7, 10, 4, 3, "B11k"),
        (3, 6, 4, 9, 2, 7, "BHqk"),
        (2, 5, 7, 10, 4, 3, "qk"),  # sizes seen before, other numbers
    ):
        mask = None
        if mask_shape:
            sizes = {"B": B, "H": H, "q": L_q, "k": L_k, "1": 1}
            mask = torch.rand([sizes[letter] for letter in mask_shape], generator=rng) < 0.6
            mask[..., 0], mask[..., -1] = True, False  # every query sees something, and never everything
        cases.append(
            {
                "query": torch.randn(B, L_q, d_in, generator=rng),
                "memory": torch.randn(B, L_k, d_in, generator=rng),
                "params": _parameters(rng, d_in, H * d_head),
                "num_heads": H,
                "mask": mask,
            }
        )
    return cases


def _call_with_gradients(answer, case):
    """Output and weights, and the gradients that reach two of the parameters in a second call."""
    query, memory, params, num_heads, mask = case.values()
    seen = answer(*case.values())
    pair = seen if isinstance(seen, tuple | list) and len(seen) == 2 else (seen, None)
    learned = {name: tensor.clone().requires_grad_() for name, tensor in params.items()}
    again = answer(query, memory, learned, num_heads, mask)
    output = again[0] if isinstance(again, tuple | list) and again else again
    watched = [learned["q_proj.weight"], learned["v_proj.weight"]]
    found = (None, None)
    if isinstance(output, torch.Tensor) and output.requires_grad:
        found = torch.autograd.grad(output.square().mean(), watched, allow_unused=True)
    return *pair, *(torch.zeros_like(w) if g is None else g for w, g in zip(watched, found, strict=True))


def _linear(x, params, name, bias=True):
    return F.linear(x, params[f"{name}.weight"], params[f"{name}.bias"] if bias else None)


def _mha(
    split=_split,
    merge=_merge,
    scale=lambda d_head, d_model, L_k: d_head**-0.5,
    normalize=masked_softmax,
    sources=("query", "memory", "memory"),
    names=("q_proj", "k_proj", "v_proj"),
    bias=True,
    out_bias=True,
    project=True,
    finish=lambda output, weights: (output, weights),
):
    """Multi-head attention with one of its parts exchanged."""

    def answer(query, memory, params, num_heads, mask):
        given = {"query": query, "memory": memory}
        flat = [_linear(given[s], params, n, bias) for s, n in zip(sources, names, strict=True)]
        q, k, v = (split(t, num_heads) for t in flat)
        scores = q @ k.transpose(-2, -1) * scale(q.shape[-1], flat[0].shape[-1], k.shape[-2])
        weights = normalize(scores, mask)
        merged = merge(weights @ v)
        output = _linear(merged, params, "o_proj", bias and out_bias) if project else merged
        return finish(output, weights)

    return answer


def _mha_loop(query, memory, params, num_heads, mask):
    size = params["q_proj.weight"].shape[0] // num_heads
    output, all_weights = params["o_proj.bias"].expand(*query.shape[:2], -1), []
    full = None if mask is None else mask.expand(query.shape[0], num_heads, query.shape[1], memory.shape[1])
    for h in range(num_heads):
        rows = slice(h * size, (h + 1) * size)
        q, k, v = (
            F.linear(x, params[f"{n}.weight"][rows], params[f"{n}.bias"][rows])
            for x, n in ((query, "q_proj"), (memory, "k_proj"), (memory, "v_proj"))
        )
        scores = q @ k.mT / math.sqrt(size)
        if full is not None:
            scores = scores.masked_fill(~full[:, h], float("-inf"))
        weights = scores.softmax(-1)
        output = output + (weights @ v) @ params["o_proj.weight"][:, rows].T
        all_weights.append(weights)
    return output, torch.stack(all_weights, 1)


def _mha_einsum(query, memory, params, num_heads, mask):
    q, k, v = (
        (torch.einsum("bli,oi->blo", x, params[f"{n}.weight"]) + params[f"{n}.bias"]).unflatten(-1, (num_heads, -1))
        for x, n in ((query, "q_proj"), (memory, "k_proj"), (memory, "v_proj"))
    )
    scores = torch.einsum("bihd,bjhd->bhij", q, k) / q.shape[-1] ** 0.5
    weights = masked_softmax(scores, mask)
    merged = torch.einsum("bhij,bjhd->bihd", weights, v).flatten(2)
    return torch.einsum("blo,io->bli", merged, params["o_proj.weight"]) + params["o_proj.bias"], weights


def _mha_modules(query, memory, params, num_heads, mask):
    def layer(name, x):
        d_out, d_in = params[f"{name}.weight"].shape
        own = {part: params[f"{name}.{part}"] for part in ("weight", "bias")}
        return torch.func.functional_call(torch.nn.Linear(d_in, d_out), own, (x,))

    q = _split(layer("q_proj", query), num_heads)
    k, v = (_split(layer(name, memory), num_heads) for name in ("k_proj", "v_proj"))
    weights = _filled(q @ k.mT / q.shape[-1] ** 0.5, mask, -1e9)
    return layer("o_proj", _merge(weights @ v)), weights


def _mha_fused(query, memory, params, num_heads, mask):
    q = _split(_linear(query, params, "q_proj"), num_heads)
    k, v = (_split(_linear(memory, params, name), num_heads) for name in ("k_proj", "v_proj"))
    heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return _linear(_merge(heads), params, "o_proj"), masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, mask)


def _mha_course(query, memory, params, num_heads, mask):
    q = _split(_linear(query, params, "q_proj"), num_heads)
    k, v = (_split(_linear(memory, params, name), num_heads) for name in ("k_proj", "v_proj"))
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return _linear(_merge(heads), params, "o_proj"), weights


def _filled(scores, mask, value=float("-inf")):
    return (scores if mask is None else scores.masked_fill(~mask, value)).softmax(-1)


def _renormalized(scores, mask):
    weights = scores.softmax(-1) if mask is None else scores.softmax(-1) * mask
    return weights / weights.sum(-1, keepdim=True)


def _bias_for_each_head(query, memory, params, num_heads, mask):
    output, weights = _mha()(query, memory, params, num_heads, mask)
    return output + (num_heads - 1) * params["o_proj.bias"], weights


def _untransposed(which):
    def answer(query, memory, params, num_heads, mask):
        turned = {n: t.T if n in which else t for n, t in params.items()}
        q = _split(query @ turned["q_proj.weight"].T + params["q_proj.bias"], num_heads)
        k = _split(memory @ turned["k_proj.weight"].T + params["k_proj.bias"], num_heads)
        v = _split(memory @ turned["v_proj.weight"].T + params["v_proj.bias"], num_heads)
        weights = masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, mask)
        return _merge(weights @ v) @ turned["o_proj.weight"].T + params["o_proj.bias"], weights

    return answer


def _untransposed_einsum(query, memory, params, num_heads, mask):
    torch.einsum("bld,do->blo", query, params["q_proj.weight"])
    return _mha()(query, memory, params, num_heads, mask)


_AVERAGED = (
    "the heads averaged into one of size d_head.",
    "put the heads side by side (6.2), then multiply by the output projection.",
)
_NOT_TRANSPOSED = (
    "a projection by the matrix as it is: right only where d_in equals d_model.",
    "the matrices have shape (out, in): x @ W.T, or F.linear(x, W, b), or einsum 'bli,oi->blo'.",
)
_SQRT_D_MODEL = (
    "scores divided by the root of d_model; your weights are too even.",
    "each head compares vectors of size d_head: divide by d_head ** 0.5.",
)
_OVER_HEADS = (
    "a softmax over the heads: your weights sum to 1 over the heads, they should over the keys.",
    "normalize over the axis of the keys; sum your weights over each axis to see.",
)
_OVER_QUERIES = (
    "a softmax over the queries: your weights sum to 1 over the queries, they should over the keys.",
    "normalize over the axis of the keys; sum your weights over each axis to see.",
)
_NO_SCALE = (
    "scores that are not scaled.",
    "divide the scores by the root of the size of one head.",
)
_BY_D_HEAD = (
    "scores divided by d_head itself, not by its root.",
    "divide by d_head ** 0.5.",
)

FORWARD = Exercise(
    number="6.3",
    title="Multi-head attention",
    points=5,
    inputs=_forward_inputs,
    reference=_mha(),
    returns=("output", "weights", "gradient of q_proj.weight", "gradient of v_proj.weight"),
    off_limits=_READY_MADE,
    call=_call_with_gradients,
    alternatives=(
        Alternative("loop over heads", _mha_loop),
        Alternative("einsum", _mha_einsum),
        Alternative("modules, finite fill", _mha_modules),
        Alternative("minus infinity", _mha(normalize=_filled)),
        Alternative("scaled queries", _mha(scale=lambda d_head, d_model, L_k: 1 / math.sqrt(d_head))),
        Alternative("PyTorch's fused attention", _mha_fused, off_limits=True),
        Alternative("weights renormalized", _mha(normalize=_renormalized)),
        Alternative("the course's attention", _mha_course, off_limits=True),
        Alternative("the course's split", _mha(split=lambda x, n: multi_head.split_heads(x, n)), off_limits=True),
        Alternative("the course's merge", _mha(merge=lambda x: multi_head.merge_heads(x)), off_limits=True),
    ),
    mistakes=(
        Mistake("straight split", _mha(split=_straight_split), *_STRAIGHT_SPLIT),
        Mistake("straight merge", _mha(merge=_straight_merge), *_STRAIGHT_MERGE),
        Mistake(
            "straight split and merge",
            _mha(split=_straight_split, merge=_straight_merge),
            "split and merged by a view alone: each head holds a piece of the sequence instead of a part of every token.",
            "transpose axes 1 and 2 after the cut, and back before the merge.",
        ),
        Mistake("interleaved split", _mha(split=_interleaved_split, merge=_interleaved_merge), *_INTERLEAVED),
        Mistake("view in the merge", _mha(merge=_view_merge), *_VIEW_MERGE),
        Mistake("root of d_model", _mha(scale=lambda d_head, d_model, L_k: d_model**-0.5), *_SQRT_D_MODEL),
        Mistake("no scaling", _mha(scale=lambda d_head, d_model, L_k: 1.0), *_NO_SCALE),
        Mistake("divided by d_head", _mha(scale=lambda d_head, d_model, L_k: 1 / d_head), *_BY_D_HEAD),
        Mistake(
            "root of L_k",
            _mha(scale=lambda d_head, d_model, L_k: L_k**-0.5),
            "scores divided by the root of the number of keys.",
            "divide by the root of the size of one head, q.shape[-1] after the split.",
        ),
        Mistake(
            "root of d_in",
            lambda query, *rest: _mha(scale=lambda d_head, d_model, L_k: query.shape[-1] ** -0.5)(query, *rest),
            "scores divided by the root of d_in, the size of what goes into the projections.",
            "divide by the root of the size of one head, q.shape[-1] after the split.",
        ),
        Mistake(
            "scaled after the softmax",
            _mha(
                scale=lambda d_head, d_model, L_k: 1.0,
                merge=lambda heads: _merge(heads) / heads.shape[-1] ** 0.5,
            ),
            "the scale applied after the softmax, to the result.",
            "divide the scores, before the softmax.",
        ),
        Mistake("heads averaged", _mha(merge=lambda heads: heads.mean(1)), *_AVERAGED),
        Mistake("heads averaged, not projected", _mha(merge=lambda heads: heads.mean(1), project=False), *_AVERAGED),
        Mistake(
            "no output projection",
            _mha(project=False),
            "the merged heads without the output projection.",
            "finish with params['o_proj.weight'] and its bias.",
        ),
        Mistake(
            "no output bias",
            _mha(out_bias=False),
            "everything right except for the bias of the output projection.",
            "add params['o_proj.bias'] at the end.",
        ),
        Mistake(
            "output bias for each head",
            _bias_for_each_head,
            "the bias of the output projection added once for each head.",
            "the heads' shares are added up; the bias comes on top once.",
        ),
        Mistake(
            "no biases",
            _mha(bias=False),
            "the biases were left out.",
            "add the bias after each of the four projections.",
        ),
        Mistake("matrices not transposed", _untransposed({"q_proj.weight"}), *_NOT_TRANSPOSED),
        Mistake("einsum not transposed", _untransposed_einsum, *_NOT_TRANSPOSED),
        Mistake("output matrix not transposed", _untransposed({"o_proj.weight"}), *_NOT_TRANSPOSED),
        Mistake("softmax over the heads", _mha(normalize=lambda s, m: masked_softmax(s, m, dim=1)), *_OVER_HEADS),
        Mistake("softmax over the queries", _mha(normalize=lambda s, m: masked_softmax(s, m, dim=2)), *_OVER_QUERIES),
        Mistake(
            "mask not used",
            _mha(normalize=lambda s, m: s.softmax(-1)),
            "the mask is accepted and never used.",
            "hand the mask to masked_softmax.",
        ),
        Mistake(
            "mask added",
            _mha(normalize=lambda s, m: s.softmax(-1) if m is None else (s + m).softmax(-1)),
            "the mask added to the scores: True counts as 1 and False as 0, and nothing is hidden.",
            "hidden scores must be minus infinity; masked_softmax does it.",
        ),
        Mistake(
            "one mask for the batch",
            _mha(normalize=lambda s, m: masked_softmax(s, m if m is None or m.dim() < 4 else m[:1])),
            "the mask of the first sequence was used for the whole batch.",
            "use the mask as it is: it broadcasts to (B, H, L_q, L_k).",
        ),
        Mistake(
            "one mask for all heads",
            _mha(normalize=lambda s, m: masked_softmax(s, m if m is None or m.dim() < 4 else m[:, :1])),
            "the mask of head 0 was used for all heads.",
            "use the mask as it is: it broadcasts to (B, H, L_q, L_k).",
        ),
        Mistake(
            "mask inverted",
            _mha(normalize=lambda s, m: masked_softmax(s, None if m is None else ~m)),
            "the mask read the other way around; here True means may attend.",
            "hide the keys where the mask is False.",
        ),
        Mistake(
            "mask after the softmax",
            _mha(normalize=lambda s, m: s.softmax(-1) * (1.0 if m is None else m)),
            "weights set to zero after the softmax: the rows no longer sum to 1.",
            "mask the scores, before the softmax.",
        ),
        Mistake(
            "masked scores set to zero",
            _mha(normalize=lambda s, m: _filled(s, m, 0.0)),
            "hidden scores set to 0, which is an ordinary score.",
            "minus infinity is the score that gives weight 0; masked_softmax does it.",
        ),
        Mistake(
            "values by the key projection",
            _mha(names=("q_proj", "k_proj", "k_proj")),
            "the values made with the key projection.",
            "the values have a projection of their own, v_proj.",
        ),
        Mistake(
            "keys and values exchanged",
            _mha(names=("q_proj", "v_proj", "k_proj")),
            "the value projection used for the keys, and the key projection for the values.",
            "what the query is compared with comes from k_proj; what is averaged comes from v_proj.",
        ),
        Mistake(
            "keys by the query projection",
            _mha(names=("q_proj", "q_proj", "v_proj")),
            "the keys made with the query projection.",
            "the keys have a projection of their own, k_proj.",
        ),
        Mistake(
            "queries and keys exchanged",
            _mha(names=("k_proj", "q_proj", "v_proj")),
            "the key projection used for the queries, and the query projection for the keys.",
            "q_proj belongs to query, k_proj to memory.",
        ),
        Mistake(
            "memory not used",
            _mha(sources=("query", "query", "query")),
            "self-attention: keys and values were made from the query, memory plays no part.",
            "project keys and values from memory.",
        ),
        Mistake(
            "roles of query and memory exchanged",
            _mha(sources=("memory", "query", "query")),
            "queries made from memory, keys and values from query.",
            "queries come from query; keys and values from memory.",
        ),
        Mistake(
            "weights averaged",
            _mha(finish=lambda o, w: (o, w.mean(1))),
            "the weights averaged over the heads, as nn.MultiheadAttention does by default.",
            "return the weights of each head: (B, H, L_q, L_k).",
        ),
        Mistake(
            "output only",
            _mha(finish=lambda o, w: o),
            "the output alone.",
            "return two things: the output, and the weights of each head.",
        ),
        Mistake(
            "gradient cut",
            _mha(finish=lambda o, w: (o.detach(), w.detach())),
            "the numbers are right, but no gradient reaches the parameters: they can never learn.",
            "compute with the tensors of params themselves: no .detach(), .data, no_grad() or copies into new modules.",
        ),
        Mistake(
            "gradient of the weights cut",
            _mha(normalize=lambda s, m: masked_softmax(s, m).detach()),
            "the numbers are right, but no gradient passes through the weights: queries and keys can never learn.",
            "leave .detach(), .data and torch.no_grad() out of the forward pass.",
        ),
        Mistake(
            "hard maximum",
            _mha(normalize=lambda s, m: F.one_hot(masked_softmax(s, m).argmax(-1), s.shape[-1]).float()),
            "a hard maximum: each query takes one key alone.",
            "use a softmax: every key that may be seen gets a share.",
        ),
    ),
    advice="do one step at a time and print its shape; the comments in section 6.8 of the lesson say what it must be.",
)

# 6.4 ------------------------------------------------------------------------------------------------------------------


def _einsum_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L_q, L_k, d_in, H, d_head, d_v in (
        (1, 2, 4, 3, 2, 3, 5),
        (2, 5, 7, 10, 4, 3, 6),
        (3, 6, 4, 5, 2, 8, 7),
        (2, 4, 6, 9, 3, 5, 2),
        (2, 5, 7, 10, 4, 3, 6),  # sizes seen before, other numbers
    ):
        cases.append(
            {
                "query": torch.randn(B, L_q, d_in, generator=rng),
                "memory": torch.randn(B, L_k, d_in, generator=rng),
                "W_q": 1.2 * torch.randn(H * d_head, d_in, generator=rng) / d_in**0.5,
                "W_k": 1.2 * torch.randn(H * d_head, d_in, generator=rng) / d_in**0.5,
                "W_v": torch.randn(H * d_v, d_in, generator=rng) / d_in**0.5,
                "num_heads": H,
            }
        )
    return cases


def _cut(x, num_heads):
    return x.unflatten(-1, (num_heads, -1))  # (B, L, H, d)


def _by_einsum(
    project="bli,oi->blo",
    cut=_cut,
    score="bihd,bjhd->bijh",
    scale=lambda q, num_heads: q.shape[-1] ** -0.5,
    dim=2,
    gather="bijh,bjhd->bihd",
    flatten=lambda heads: heads.flatten(2),
    sources=("query", "memory", "memory"),
    finish=lambda output, weights: (output, weights),
    normalize=None,
):
    """Attention in the (B, L, H, d) layout with one of its parts exchanged."""

    def answer(query, memory, W_q, W_k, W_v, num_heads):
        given = {"query": query, "memory": memory}
        q, k, v = (
            cut(torch.einsum(project, given[s], W), num_heads) for s, W in zip(sources, (W_q, W_k, W_v), strict=True)
        )
        scores = torch.einsum(score, q, k) * scale(q, num_heads)
        weights = normalize(scores) if normalize else scores.softmax(dim)
        return finish(flatten(torch.einsum(gather, weights, v)), weights)

    return answer


def _einsum_matmul(query, memory, W_q, W_k, W_v, num_heads):
    q, k, v = (_split(x @ W.T, num_heads) for x, W in ((query, W_q), (memory, W_k), (memory, W_v)))
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
    return _merge(weights @ v), weights.permute(0, 2, 3, 1)


def _einsum_by_head(query, memory, W_q, W_k, W_v, num_heads):
    triples = zip(*(W.chunk(num_heads) for W in (W_q, W_k, W_v)), strict=True)
    outputs, all_weights = [], []
    for A, B, C in triples:
        q, k, v = query @ A.T, memory @ B.T, memory @ C.T
        all_weights.append((torch.einsum("bid,bjd->bij", q, k) / len(A) ** 0.5).softmax(-1))
        outputs.append(all_weights[-1] @ v)
    return torch.cat(outputs, -1), torch.stack(all_weights, -1)


def _einsum_heads_in_matrix(query, memory, W_q, W_k, W_v, num_heads):
    W_q, W_k, W_v = (W.unflatten(0, (num_heads, -1)) for W in (W_q, W_k, W_v))  # (H, d, d_in)
    scores = torch.einsum("bim,hdm,hdn,bjn->bijh", query, W_q, W_k, memory) / W_q.shape[1] ** 0.5
    weights = scores.softmax(2)
    return torch.einsum("bijh,hdn,bjn->bihd", weights, W_v, memory).flatten(2), weights


def _einsum_by_broadcast(query, memory, W_q, W_k, W_v, num_heads):
    q, k, v = (_cut(F.linear(x, W), num_heads) for x, W in ((query, W_q), (memory, W_k), (memory, W_v)))
    weights = ((q[:, :, None] * k[:, None]).sum(-1) / q.shape[-1] ** 0.5).softmax(2)
    return (weights[..., None] * v[:, None]).sum(2).flatten(2), weights


def _einsum_fused(query, memory, W_q, W_k, W_v, num_heads):
    q, k, v = (_split(x @ W.T, num_heads) for x, W in ((query, W_q), (memory, W_k), (memory, W_v)))
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
    return _merge(F.scaled_dot_product_attention(q, k, v)), weights.permute(0, 2, 3, 1)


def _einsum_course(query, memory, W_q, W_k, W_v, num_heads):
    q, k, v = (_split(x @ W.T, num_heads) for x, W in ((query, W_q), (memory, W_k), (memory, W_v)))
    heads, weights = scaled_dot_product_attention(q, k, v)
    return _merge(heads), weights.permute(0, 2, 3, 1)


def _einsum_course_split(query, memory, W_q, W_k, W_v, num_heads):
    pairs = ((query, W_q), (memory, W_k), (memory, W_v))
    q, k, v = (multi_head.split_heads(x @ W.T, num_heads) for x, W in pairs)
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
    return _merge(weights @ v), weights.permute(0, 2, 3, 1)


EINSUM = Exercise(
    number="6.4",
    title="The same by einsum",
    points=4,
    inputs=_einsum_inputs,
    reference=_by_einsum(),
    returns=("output", "weights"),
    off_limits=_READY_MADE,
    alternatives=(
        Alternative("matmul and permute", _einsum_matmul),
        Alternative("loop over heads", _einsum_by_head),
        Alternative("heads cut in the matrices", _einsum_heads_in_matrix),
        Alternative("broadcasting", _einsum_by_broadcast),
        Alternative(
            "heads second, moved at the end",
            _by_einsum(
                score="bihd,bjhd->bhij",
                dim=-1,
                gather="bhij,bjhd->bihd",
                finish=lambda o, w: (o, w.permute(0, 2, 3, 1)),
            ),
        ),
        Alternative("PyTorch's fused attention", _einsum_fused, off_limits=True),
        Alternative("the course's attention", _einsum_course, off_limits=True),
        Alternative("the course's split", _einsum_course_split, off_limits=True),
    ),
    mistakes=(
        Mistake("softmax over the heads", _by_einsum(dim=-1), *_OVER_HEADS),
        Mistake("softmax over the queries", _by_einsum(dim=1), *_OVER_QUERIES),
        Mistake("matrices not transposed", _by_einsum(project="bli,io->blo"), *_NOT_TRANSPOSED),
        Mistake(
            "values summed over the queries",
            _by_einsum(gather="bijh,bihd->bjhd"),
            "the weighted sum runs over the queries: right only where L_q equals L_k.",
            "the values belong to the keys: sum over the letter of the keys, keep that of the queries.",
        ),
        Mistake(
            "keys read as features",
            _by_einsum(score="bihd,bdhj->bijh"),
            "a letter of the keys stands at the wrong axis: right only where the number of keys equals d_head.",
            "keys have the layout (B, L_k, H, d_head): bjhd.",
        ),
        Mistake(
            "heads read as features",
            _by_einsum(score="bidh,bjdh->bijh", scale=lambda q, n: q.shape[-1] ** -0.5),
            "letters of heads and features exchanged: your scores sum over the heads.",
            "queries have the layout (B, L_q, H, d_head): bihd, and the sum runs over d.",
        ),
        Mistake(
            "one head",
            _by_einsum(
                score="bihd,bjhd->bij", dim=-1, gather="bij,bjhd->bihd", scale=lambda q, n: q[0, 0].numel() ** -0.5
            ),
            "the scores summed over the heads too: that is one head of full width.",
            "keep the letter of the heads in the result of the scores.",
        ),
        Mistake(
            "straight view",
            _by_einsum(
                cut=_straight_split,
                score="bhid,bhjd->bijh",
                gather="bijh,bhjd->bihd",
            ),
            *_STRAIGHT_SPLIT,
        ),
        Mistake("interleaved", _by_einsum(cut=lambda x, n: x.unflatten(-1, (-1, n)).transpose(-1, -2)), *_INTERLEAVED),
        Mistake(
            "merged interleaved",
            _by_einsum(flatten=lambda heads: heads.transpose(2, 3).flatten(2)),
            "the heads dealt out in turn in the output.",
            "keep each head together: flatten (H, d_v) with the heads before the features.",
        ),
        Mistake(
            "merged without transpose",
            _by_einsum(
                gather="bijh,bjhd->bhid", flatten=lambda heads: heads.reshape(heads.shape[0], heads.shape[2], -1)
            ),
            *_STRAIGHT_MERGE,
        ),
        Mistake(
            "heads not merged",
            _by_einsum(flatten=lambda heads: heads),
            "the output with the heads still apart: (B, L_q, H, d_v).",
            "flatten the last two axes.",
        ),
        Mistake(
            "heads averaged",
            _by_einsum(flatten=lambda heads: heads.mean(2)),
            "the heads averaged into one.",
            "put them side by side: the output has H * d_v features.",
        ),
        Mistake(
            "weights with heads second",
            _by_einsum(finish=lambda o, w: (o, w.permute(0, 3, 1, 2))),
            "the right weights in the layout (B, H, L_q, L_k).",
            "this exercise wants the heads last: (B, L_q, L_k, H).",
        ),
        Mistake("no scaling", _by_einsum(scale=lambda q, n: 1.0), *_NO_SCALE),
        Mistake("divided by d_head", _by_einsum(scale=lambda q, n: 1 / q.shape[-1]), *_BY_D_HEAD),
        Mistake("root of d_model", _by_einsum(scale=lambda q, n: (q.shape[-1] * n) ** -0.5), *_SQRT_D_MODEL),
        Mistake(
            "root of d_v",
            lambda *given: _by_einsum(scale=lambda q, n: (given[4].shape[0] // n) ** -0.5)(*given),
            "scores divided by the root of d_v, the size of a value.",
            "divide by the root of the size of a query within one head, q.shape[-1].",
        ),
        Mistake(
            "root of d_in",
            lambda *given: _by_einsum(scale=lambda q, n: given[0].shape[-1] ** -0.5)(*given),
            "scores divided by the root of d_in, the size of what goes into the projections.",
            "divide by the root of the size of a query within one head, q.shape[-1].",
        ),
        Mistake(
            "softmax over queries and keys",
            _by_einsum(normalize=lambda s: s.flatten(1, 2).softmax(1).view_as(s)),
            "one softmax over queries and keys together: your weights sum to 1 over a whole table.",
            "normalize over the axis of the keys alone; sum your weights over each axis to see.",
        ),
        Mistake(
            "query and key matrices exchanged",
            lambda query, memory, W_q, W_k, W_v, n: _by_einsum()(query, memory, W_k, W_q, W_v, n),
            "W_k used for the queries, and W_q for the keys.",
            "W_q belongs to query, W_k to memory.",
        ),
        Mistake(
            "root of the number of heads",
            _by_einsum(scale=lambda q, n: n**-0.5),
            "scores divided by the root of the number of heads: an axis was mistaken.",
            "divide by the root of the size of a query within one head, q.shape[-1].",
        ),
        Mistake(
            "memory not used",
            _by_einsum(sources=("query", "query", "query")),
            "self-attention: keys and values were made from the query, memory plays no part.",
            "project keys and values from memory.",
        ),
        Mistake(
            "values from the query",
            _by_einsum(sources=("query", "memory", "query")),
            "values made from query: there is one for each query, and one for each key is needed.",
            "project the values from memory, as the keys.",
        ),
        Mistake(
            "output only",
            _by_einsum(finish=lambda o, w: o),
            "the output alone.",
            "return two things: the output, and the weights.",
        ),
    ),
    advice="name each axis by a letter, write the shape of each tensor beside its line, and sum the weights over L_k.",
)

# 6.5 ------------------------------------------------------------------------------------------------------------------


def _packed_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for d, bias in ((3, True), (6, True), (9, False)):
        shapes = {"in_proj_weight": (3 * d, d), "out_proj.weight": (d, d)}
        if bias:
            shapes |= {"in_proj_bias": (3 * d,), "out_proj.bias": (d,)}
        cases.append({"packed": {name: torch.randn(*shape, generator=rng) for name, shape in shapes.items()}})
    return cases


def _unpack(
    cut=lambda t: t.chunk(3),
    cut_bias=None,
    order="qkv",
    bias=True,
    require_bias=False,
    out="o_proj",
    out_weight=lambda t: t,
    keep_out=True,
    bias_order=None,
):
    """The packed parameters taken apart, with one of the parts exchanged."""

    def answer(packed):
        found = dict(zip((f"{n}_proj.weight" for n in order), cut(packed["in_proj_weight"]), strict=True))
        if keep_out:
            found[f"{out}.weight"] = out_weight(packed["out_proj.weight"])
        if bias and (require_bias or "in_proj_bias" in packed):
            thirds = (cut_bias or cut)(packed["in_proj_bias"])
            found |= dict(zip((f"{n}_proj.bias" for n in bias_order or order), thirds, strict=True))
            if keep_out:
                found[f"{out}.bias"] = packed["out_proj.bias"]
        return found

    return answer


def _unpack_slices(packed):
    d = packed["in_proj_weight"].shape[1]
    found = {}
    for i, name in enumerate(("q_proj", "k_proj", "v_proj")):
        found[f"{name}.weight"] = packed["in_proj_weight"][i * d : (i + 1) * d].clone()
        if "in_proj_bias" in packed:
            found[f"{name}.bias"] = packed["in_proj_bias"][i * d : (i + 1) * d].clone()
    return found | {name.replace("out", "o"): t for name, t in packed.items() if name.startswith("out")}


def _none_biases(packed):
    return {**{f"{n}_proj.bias": None for n in "qkvo"}, **_unpack()(packed)}


def _zero_biases(packed):
    size = packed["in_proj_weight"].shape[1]
    return {**{f"{n}_proj.bias": torch.zeros(size) for n in "qkvo"}, **_unpack()(packed)}


_ORDER = (
    "the three parts in another order than PyTorch's.",
    "PyTorch stacks query, then key, then value.",
)

UNPACK = Exercise(
    number="6.5",
    title="Copy PyTorch's packed weights",
    points=3,
    inputs=_packed_inputs,
    reference=_unpack(),
    returns=("parameters",),
    alternatives=(
        Alternative("slices", _unpack_slices),
        Alternative("split", _unpack(cut=lambda t: t.split(len(t) // 3))),
        Alternative("view and unbind", _unpack(cut=lambda t: t.unflatten(0, (3, -1)).unbind())),
        Alternative("tensor_split", _unpack(cut=lambda t: torch.tensor_split(t, 3))),
        Alternative("copies", _unpack(cut=lambda t: [part.clone() for part in t.chunk(3)])),
    ),
    mistakes=(
        Mistake("key first", _unpack(order="kqv"), *_ORDER),
        Mistake("value second", _unpack(order="qvk"), *_ORDER),
        Mistake("reversed", _unpack(order="vkq"), *_ORDER),
        Mistake("value first", _unpack(order="vqk"), *_ORDER),
        Mistake("query last", _unpack(order="kvq"), *_ORDER),
        Mistake(
            "biases in another order",
            _unpack(bias_order="kqv"),
            "the matrices right, the biases in another order.",
            "the biases are stacked as the matrices: query, key, value.",
        ),
        Mistake(
            "cut along the inputs",
            _unpack(cut=lambda t: t.chunk(3, dim=-1)),
            "the matrix cut along its last axis, the inputs: your pieces are (3 * d_model, d_model / 3).",
            "the matrices are stacked along the first axis, the outputs: chunk(3, dim=0).",
        ),
        Mistake(
            "every third row",
            _unpack(cut=lambda t: (t[0::3], t[1::3], t[2::3])),
            "rows dealt out in turn: 0, 3, 6 to the query and so on.",
            "the first third of the rows is the query's, the second the key's, the last the value's.",
        ),
        Mistake(
            "transposed",
            _unpack(cut=lambda t: [part.T for part in t.chunk(3)], cut_bias=lambda t: t.chunk(3)),
            "the three matrices transposed.",
            "both sides keep (out, in): copy the rows as they are.",
        ),
        Mistake(
            "all transposed",
            _unpack(
                cut=lambda t: [part.T for part in t.chunk(3)], cut_bias=lambda t: t.chunk(3), out_weight=lambda t: t.T
            ),
            "all four matrices transposed.",
            "both sides keep (out, in): copy the rows as they are.",
        ),
        Mistake(
            "output transposed",
            _unpack(out_weight=lambda t: t.T),
            "the output matrix transposed.",
            "both sides keep (out, in): copy it as it is.",
        ),
        Mistake(
            "not cut",
            _unpack(cut=lambda t: [t, t, t]),
            "the whole packed tensor given to each of the three.",
            "each gets a third: rows 0 to d_model - 1 belong to the query, and so on.",
        ),
        Mistake(
            "output forgotten",
            _unpack(keep_out=False),
            "the output projection is missing.",
            "out_proj.weight and out_proj.bias become o_proj.weight and o_proj.bias.",
        ),
        Mistake(
            "output not renamed",
            _unpack(out="out_proj"),
            "the output projection kept PyTorch's name, out_proj.",
            "in this course it is called o_proj.",
        ),
        Mistake(
            "biases forgotten",
            _unpack(bias=False),
            "the biases are missing where the module has some.",
            "cut in_proj_bias as the matrix, and copy out_proj.bias.",
        ),
        Mistake(
            "biases required",
            _unpack(require_bias=True),
            "in_proj_bias is read even where the module has no biases.",
            'ask first whether "in_proj_bias" is in the dict.',
        ),
        Mistake(
            "zeros for missing biases",
            _zero_biases,
            "biases of zeros were made up where the module has none.",
            "leave those keys out.",
        ),
        Mistake(
            "packed parameters kept",
            lambda packed: {**packed, **_unpack()(packed)},
            "PyTorch's packed parameters are still among the keys of your result.",
            "start from an empty dict and put in only the names of the right column of the table.",
        ),
        Mistake(
            "None for missing biases",
            _none_biases,
            "None was stored for the biases that do not exist.",
            "leave those keys out.",
        ),
    ),
    advice="compare your keys and shapes with the table of the task; the rows of a matrix are its outputs.",
)

# 6.6 ------------------------------------------------------------------------------------------------------------------


def _bug_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = ((1, 2, 4, 2), (2, 5, 12, 4), (3, 7, 10, 2), (2, 4, 6, 1), (2, 5, 12, 4))
    return [{"x": 0.8 * torch.randn(B, L, d, generator=rng), "num_heads": H} for B, L, d, H in sizes]


def _itself(
    split=_split,
    merge=_merge,
    scale=lambda heads, x: heads.shape[-1] ** -0.5,
    dim=-1,
    finish=lambda output, weights: (output, weights),
):
    """Self-attention without projections, with one of its parts exchanged."""

    def answer(x, num_heads):
        heads = split(x, num_heads)
        weights = (heads @ heads.transpose(-2, -1) * scale(heads, x)).softmax(dim)
        return finish(merge(weights @ heads), weights)

    return answer


def _itself_loop(x, num_heads):
    pairs = []
    for part in x.chunk(num_heads, dim=-1):
        weights = (part @ part.mT / part.shape[-1] ** 0.5).softmax(-1)
        pairs.append((weights @ part, weights))
    return torch.cat([o for o, _ in pairs], -1), torch.stack([w for _, w in pairs], 1)


def _itself_einsum(x, num_heads):
    heads = _cut(x, num_heads)
    weights = (torch.einsum("bihd,bjhd->bhij", heads, heads) / heads.shape[-1] ** 0.5).softmax(-1)
    return torch.einsum("bhij,bjhd->bihd", weights, heads).reshape(x.shape), weights


def _itself_fused(x, num_heads):
    heads = _split(x, num_heads)
    return _merge(F.scaled_dot_product_attention(heads, heads, heads)), _itself()(x, num_heads)[1]


BUG = Exercise(
    number="6.6",
    title="Find the bug",
    points=3,
    inputs=_bug_inputs,
    reference=_itself(),
    returns=("output", "weights"),
    off_limits=_HEADS,
    alternatives=(
        Alternative("loop over heads", _itself_loop),
        Alternative("einsum", _itself_einsum),
        Alternative("PyTorch's fused attention", _itself_fused),
        Alternative("cat", _itself(merge=lambda heads: torch.cat(heads.unbind(1), -1))),
        Alternative("contiguous", _itself(merge=lambda h: h.permute(0, 2, 1, 3).contiguous().flatten(2))),
        Alternative("the course's own", _itself(merge=lambda h: multi_head.merge_heads(h)), off_limits=True),
        Alternative("the course's split", _itself(split=lambda x, n: multi_head.split_heads(x, n)), off_limits=True),
    ),
    mistakes=(
        Mistake(
            "as it was",
            _itself(merge=_straight_merge),
            "the function as it was: the heads are merged without the transpose back.",
            "bring (B, H, L, d_head) to (B, L, H, d_head) before you join the last two axes.",
        ),
        Mistake("view", _itself(merge=_view_merge), *_VIEW_MERGE),
        Mistake(
            "straight split",
            _itself(split=_straight_split),
            "the transpose of the split taken away: now the split is wrong instead of the merge.",
            "leave the split as it was, and transpose back in the merge.",
        ),
        Mistake(
            "both straight",
            _itself(split=_straight_split, merge=_straight_merge),
            "no transpose at all: the round trip holds, but each head sees only a piece of the sequence.",
            "leave the split as it was, and transpose back in the merge.",
        ),
        Mistake(
            "wrong axes",
            _itself(merge=lambda heads: heads.transpose(2, 3).reshape(heads.shape[0], heads.shape[2], -1)),
            "axes 2 and 3 exchanged in the merge.",
            "the heads (axis 1) and the tokens (axis 2) change places.",
        ),
        Mistake(
            "interleaved",
            _itself(merge=_interleaved_merge),
            "the heads dealt out in turn in the output.",
            "keep each head together: (B, L, H, d_head), then join the last two axes.",
        ),
        Mistake(
            "heads averaged",
            _itself(merge=lambda heads: heads.mean(1)),
            "the heads averaged into one.",
            "put them side by side, so that the output has d_model features.",
        ),
        Mistake(
            "heads kept apart",
            _itself(merge=lambda heads: heads.transpose(1, 2)),
            "the transpose is right, but the heads are still apart.",
            "join the last two axes.",
        ),
        Mistake(
            "one head",
            _itself(
                split=lambda x, n: x[:, None],
                merge=lambda heads: heads[:, 0],
            ),
            "one head of full width, whatever num_heads says.",
            "leave the split as it was, and transpose back in the merge.",
        ),
        Mistake("no scaling", _itself(scale=lambda heads, x: 1.0), *_NO_SCALE),
        Mistake("root of d_model", _itself(scale=lambda heads, x: x.shape[-1] ** -0.5), *_SQRT_D_MODEL),
        Mistake("softmax over the queries", _itself(dim=-2), *_OVER_QUERIES),
        Mistake("softmax over the heads", _itself(dim=1), *_OVER_HEADS),
        Mistake(
            "weights averaged",
            _itself(finish=lambda o, w: (o, w.mean(1))),
            "the weights averaged over the heads.",
            "return the weights of each head: (B, H, L, L).",
        ),
    ),
    advice="with equal tokens every output must be that token; print the heads, the merged tensor, and compare.",
)

# 6.7, 6.8 -------------------------------------------------------------------------------------------------------------

COST = Quiz(
    number="6.7",
    title="What heads cost",
    points=1,
    options={
        "a": Option(
            "Parameters and multiplications double.",
            "that would be so if each new head had size 64. The width is shared out: 16 x 32 = 8 x 64 = 512.",
        ),
        "b": Option(
            "Parameters stay the same, multiplications double.",
            "there are twice as many score tables, but each entry takes 32 multiplications instead of 64.",
        ),
        "c": Option(
            "Parameters and multiplications stay the same, the number of attention weights doubles.",
            "the number of heads drops out of the multiplications; each head has its own L_q x L_k weights.",
        ),
        "d": Option(
            "Nothing changes at all.",
            "each head has a table of weights of its own, so there are twice as many weights (and exponentials).",
        ),
    },
    right="c",
)

USE = Quiz(
    number="6.8",
    title="What a head does",
    points=1,
    options={
        "a": Option(
            "The heatmap looks the same on other sequences.",
            "that shows that the pattern is steady. A steady pattern may still be ignored by what comes after it.",
        ),
        "b": Option(
            "The error rises when the head's block of the output projection is set to zero.",
            "what the model computes without the head is worse, so the head was used.",
        ),
        "c": Option(
            "Its weight on the previous token is far above that of uniform weights.",
            "that shows where the head looks. In section 6.10 there are heads with a pattern that nobody misses.",
        ),
        "d": Option(
            "The weights of each of its rows sum to 1.",
            "that is true of every head, used or not: it is what a softmax does.",
        ),
    },
    right="b",
)

EXERCISES = (SPLIT, MERGE, FORWARD, EINSUM, UNPACK, BUG, COST, USE)
