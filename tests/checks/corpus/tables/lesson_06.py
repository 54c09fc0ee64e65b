"""Answers that the first tables of lesson 06 knew, wrong and right, by exercise and name (generated once; see README.md)."""

import math

import torch
import torch.nn.functional as F

from course_utils import multi_head
from course_utils.attention import masked_softmax, scaled_dot_product_attention

from . import Answers, Right, Wrong


def _split(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def _straight_split(x, num_heads):
    return x.reshape(x.shape[0], num_heads, x.shape[1], -1)


def _split_loop(x, num_heads):
    size = x.shape[-1] // num_heads
    out = torch.zeros(x.shape[0], num_heads, x.shape[1], size, dtype=x.dtype)
    for h in range(num_heads):
        for i in range(size):
            out[:, h, :, i] = x[:, :, h * size + i]
    return out


def _interleaved_split(x, num_heads):
    return x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)


def _overlapping_split(x, num_heads):
    return torch.stack([x[..., h : h + x.shape[-1] // num_heads] for h in range(num_heads)], dim=1)


SPLIT = Answers(
    number="6.1",
    alternatives=(
        Right("view and transpose", lambda x, n: x.view(*x.shape[:2], n, x.shape[-1] // n).transpose(1, 2)),
        Right("reshape and permute", lambda x, n: x.reshape(*x.shape[:2], n, -1).permute(0, 2, 1, 3)),
        Right("contiguous", lambda x, n: _split(x, n).contiguous()),
        Right("chunk and stack", lambda x, n: torch.stack(x.chunk(n, dim=-1), dim=1)),
        Right("einsum", lambda x, n: torch.einsum("blhd->bhld", x.unflatten(-1, (n, -1)))),
        Right("loop", _split_loop),
        Right("features first", lambda x, n: x.transpose(1, 2).reshape(x.shape[0], n, -1, x.shape[1]).transpose(2, 3)),
        Right("the course's own", lambda x, n: multi_head.split_heads(x, n), off_limits=True),
    ),
    mistakes=(
        Wrong("straight view", _straight_split),
        Wrong("no transpose", lambda x, n: x.unflatten(-1, (n, -1))),
        Wrong("interleaved", _interleaved_split),
        Wrong("heads and features exchanged", lambda x, n: x.unflatten(-1, (-1, n)).transpose(1, 2)),
        Wrong("features before tokens", lambda x, n: _split(x, n).transpose(2, 3)),
        Wrong("heads first", lambda x, n: _split(x, n).transpose(0, 1)),
        Wrong("transpose before the cut", lambda x, n: x.transpose(1, 2).reshape(x.shape[0], n, x.shape[1], -1)),
        Wrong("a list of heads", lambda x, n: list(x.chunk(n, dim=-1))),
        Wrong("overlapping slices", _overlapping_split),
        Wrong("heads last", lambda x, n: torch.stack(x.chunk(n, dim=-1), dim=-1)),
        Wrong("nothing cut", lambda x, n: x.unsqueeze(1).expand(-1, n, -1, -1)),
    ),
)


def _merge(x):
    return x.transpose(1, 2).flatten(2)


def _straight_merge(x):
    return x.reshape(x.shape[0], x.shape[2], -1)


def _interleaved_merge(x):
    return x.permute(0, 2, 3, 1).flatten(2)


def _view_merge(x):
    return x.transpose(1, 2).view(x.shape[0], x.shape[2], -1)


MERGE = Answers(
    number="6.2",
    alternatives=(
        Right("contiguous view", lambda x: x.transpose(1, 2).contiguous().view(x.shape[0], x.shape[2], -1)),
        Right("permute and reshape", lambda x: x.permute(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)),
        Right("cat of heads", lambda x: torch.cat(x.unbind(1), dim=-1)),
        Right("loop", lambda x: torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)),
        Right("einsum", lambda x: torch.einsum("bhld->blhd", x).flatten(2)),
        Right("the course's own", lambda x: multi_head.merge_heads(x), off_limits=True),
    ),
    mistakes=(
        Wrong("no transpose", _straight_merge),
        Wrong("view", _view_merge),
        Wrong("interleaved", _interleaved_merge),
        Wrong("heads averaged", lambda x: x.mean(1)),
        Wrong("heads added", lambda x: x.sum(1)),
        Wrong("not joined", lambda x: x.transpose(1, 2)),
        Wrong("stacked on a new axis", lambda x: torch.stack(x.unbind(1), dim=-1)),
        Wrong("along the sequence", lambda x: x.flatten(1, 2)),
        Wrong("wrong axes exchanged", lambda x: x.transpose(2, 3).reshape(x.shape[0], x.shape[2], -1)),
        Wrong("head 0 only", lambda x: x[:, 0]),
    ),
)


def _linear(x, params, name, bias=True):
    return F.linear(x, params[f"{name}.weight"], params[f"{name}.bias"] if bias else None)


def _mha(
    split=_split,
    merge=_merge,
    scale=lambda d_head, d_model, L_k: d_head ** (-0.5),
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
    output, all_weights = (params["o_proj.bias"].expand(*query.shape[:2], -1), [])
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
        output = output + weights @ v @ params["o_proj.weight"][:, rows].T
        all_weights.append(weights)
    return (output, torch.stack(all_weights, 1))


def _mha_einsum(query, memory, params, num_heads, mask):
    q, k, v = (
        (torch.einsum("bli,oi->blo", x, params[f"{n}.weight"]) + params[f"{n}.bias"]).unflatten(-1, (num_heads, -1))
        for x, n in ((query, "q_proj"), (memory, "k_proj"), (memory, "v_proj"))
    )
    scores = torch.einsum("bihd,bjhd->bhij", q, k) / q.shape[-1] ** 0.5
    weights = masked_softmax(scores, mask)
    merged = torch.einsum("bhij,bjhd->bihd", weights, v).flatten(2)
    return (torch.einsum("blo,io->bli", merged, params["o_proj.weight"]) + params["o_proj.bias"], weights)


def _mha_modules(query, memory, params, num_heads, mask):

    def layer(name, x):
        d_out, d_in = params[f"{name}.weight"].shape
        own = {part: params[f"{name}.{part}"] for part in ("weight", "bias")}
        return torch.func.functional_call(torch.nn.Linear(d_in, d_out), own, (x,))

    q = _split(layer("q_proj", query), num_heads)
    k, v = (_split(layer(name, memory), num_heads) for name in ("k_proj", "v_proj"))
    weights = _filled(q @ k.mT / q.shape[-1] ** 0.5, mask, -1000000000.0)
    return (layer("o_proj", _merge(weights @ v)), weights)


def _mha_fused(query, memory, params, num_heads, mask):
    q = _split(_linear(query, params, "q_proj"), num_heads)
    k, v = (_split(_linear(memory, params, name), num_heads) for name in ("k_proj", "v_proj"))
    heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return (_linear(_merge(heads), params, "o_proj"), masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, mask))


def _mha_course(query, memory, params, num_heads, mask):
    q = _split(_linear(query, params, "q_proj"), num_heads)
    k, v = (_split(_linear(memory, params, name), num_heads) for name in ("k_proj", "v_proj"))
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return (_linear(_merge(heads), params, "o_proj"), weights)


def _filled(scores, mask, value=float("-inf")):
    return (scores if mask is None else scores.masked_fill(~mask, value)).softmax(-1)


def _renormalized(scores, mask):
    weights = scores.softmax(-1) if mask is None else scores.softmax(-1) * mask
    return weights / weights.sum(-1, keepdim=True)


def _bias_for_each_head(query, memory, params, num_heads, mask):
    output, weights = _mha()(query, memory, params, num_heads, mask)
    return (output + (num_heads - 1) * params["o_proj.bias"], weights)


def _untransposed(which):

    def answer(query, memory, params, num_heads, mask):
        turned = {n: t.T if n in which else t for n, t in params.items()}
        q = _split(query @ turned["q_proj.weight"].T + params["q_proj.bias"], num_heads)
        k = _split(memory @ turned["k_proj.weight"].T + params["k_proj.bias"], num_heads)
        v = _split(memory @ turned["v_proj.weight"].T + params["v_proj.bias"], num_heads)
        weights = masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, mask)
        return (_merge(weights @ v) @ turned["o_proj.weight"].T + params["o_proj.bias"], weights)

    return answer


def _untransposed_einsum(query, memory, params, num_heads, mask):
    torch.einsum("bld,do->blo", query, params["q_proj.weight"])
    return _mha()(query, memory, params, num_heads, mask)


FORWARD = Answers(
    number="6.3",
    alternatives=(
        Right("loop over heads", _mha_loop),
        Right("einsum", _mha_einsum),
        Right("modules, finite fill", _mha_modules),
        Right("minus infinity", _mha(normalize=_filled)),
        Right("scaled queries", _mha(scale=lambda d_head, d_model, L_k: 1 / math.sqrt(d_head))),
        Right("PyTorch's fused attention", _mha_fused, off_limits=True),
        Right("weights renormalized", _mha(normalize=_renormalized)),
        Right("the course's attention", _mha_course, off_limits=True),
        Right("the course's split", _mha(split=lambda x, n: multi_head.split_heads(x, n)), off_limits=True),
        Right("the course's merge", _mha(merge=lambda x: multi_head.merge_heads(x)), off_limits=True),
    ),
    mistakes=(
        Wrong("straight split", _mha(split=_straight_split)),
        Wrong("straight merge", _mha(merge=_straight_merge)),
        Wrong("straight split and merge", _mha(split=_straight_split, merge=_straight_merge)),
        Wrong("interleaved split", _mha(split=_interleaved_split, merge=_interleaved_merge)),
        Wrong("view in the merge", _mha(merge=_view_merge)),
        Wrong("root of d_model", _mha(scale=lambda d_head, d_model, L_k: d_model ** (-0.5))),
        Wrong("no scaling", _mha(scale=lambda d_head, d_model, L_k: 1.0)),
        Wrong("divided by d_head", _mha(scale=lambda d_head, d_model, L_k: 1 / d_head)),
        Wrong("root of L_k", _mha(scale=lambda d_head, d_model, L_k: L_k ** (-0.5))),
        Wrong(
            "root of d_in",
            lambda query, *rest: _mha(scale=lambda d_head, d_model, L_k: query.shape[-1] ** (-0.5))(query, *rest),
        ),
        Wrong(
            "scaled after the softmax",
            _mha(scale=lambda d_head, d_model, L_k: 1.0, merge=lambda heads: _merge(heads) / heads.shape[-1] ** 0.5),
        ),
        Wrong("heads averaged", _mha(merge=lambda heads: heads.mean(1))),
        Wrong("heads averaged, not projected", _mha(merge=lambda heads: heads.mean(1), project=False)),
        Wrong("no output projection", _mha(project=False)),
        Wrong("no output bias", _mha(out_bias=False)),
        Wrong("output bias for each head", _bias_for_each_head),
        Wrong("no biases", _mha(bias=False)),
        Wrong("matrices not transposed", _untransposed({"q_proj.weight"})),
        Wrong("einsum not transposed", _untransposed_einsum),
        Wrong("output matrix not transposed", _untransposed({"o_proj.weight"})),
        Wrong("softmax over the heads", _mha(normalize=lambda s, m: masked_softmax(s, m, dim=1))),
        Wrong("softmax over the queries", _mha(normalize=lambda s, m: masked_softmax(s, m, dim=2))),
        Wrong("mask not used", _mha(normalize=lambda s, m: s.softmax(-1))),
        Wrong("mask added", _mha(normalize=lambda s, m: s.softmax(-1) if m is None else (s + m).softmax(-1))),
        Wrong(
            "one mask for the batch",
            _mha(normalize=lambda s, m: masked_softmax(s, m if m is None or m.dim() < 4 else m[:1])),
        ),
        Wrong(
            "one mask for all heads",
            _mha(normalize=lambda s, m: masked_softmax(s, m if m is None or m.dim() < 4 else m[:, :1])),
        ),
        Wrong("mask inverted", _mha(normalize=lambda s, m: masked_softmax(s, None if m is None else ~m))),
        Wrong("mask after the softmax", _mha(normalize=lambda s, m: s.softmax(-1) * (1.0 if m is None else m))),
        Wrong("masked scores set to zero", _mha(normalize=lambda s, m: _filled(s, m, 0.0))),
        Wrong("values by the key projection", _mha(names=("q_proj", "k_proj", "k_proj"))),
        Wrong("keys and values exchanged", _mha(names=("q_proj", "v_proj", "k_proj"))),
        Wrong("keys by the query projection", _mha(names=("q_proj", "q_proj", "v_proj"))),
        Wrong("queries and keys exchanged", _mha(names=("k_proj", "q_proj", "v_proj"))),
        Wrong("memory not used", _mha(sources=("query", "query", "query"))),
        Wrong("roles of query and memory exchanged", _mha(sources=("memory", "query", "query"))),
        Wrong("weights averaged", _mha(finish=lambda o, w: (o, w.mean(1)))),
        Wrong("output only", _mha(finish=lambda o, w: o)),
        Wrong("gradient cut", _mha(finish=lambda o, w: (o.detach(), w.detach()))),
        Wrong("gradient of the weights cut", _mha(normalize=lambda s, m: masked_softmax(s, m).detach())),
        Wrong(
            "hard maximum", _mha(normalize=lambda s, m: F.one_hot(masked_softmax(s, m).argmax(-1), s.shape[-1]).to(s.dtype))
        ),
    ),
)


def _cut(x, num_heads):
    return x.unflatten(-1, (num_heads, -1))


def _by_einsum(
    project="bli,oi->blo",
    cut=_cut,
    score="bihd,bjhd->bijh",
    scale=lambda q, num_heads: q.shape[-1] ** (-0.5),
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
    return (_merge(weights @ v), weights.permute(0, 2, 3, 1))


def _einsum_by_head(query, memory, W_q, W_k, W_v, num_heads):
    triples = zip(*(W.chunk(num_heads) for W in (W_q, W_k, W_v)), strict=True)
    outputs, all_weights = ([], [])
    for A, B, C in triples:
        q, k, v = (query @ A.T, memory @ B.T, memory @ C.T)
        all_weights.append((torch.einsum("bid,bjd->bij", q, k) / len(A) ** 0.5).softmax(-1))
        outputs.append(all_weights[-1] @ v)
    return (torch.cat(outputs, -1), torch.stack(all_weights, -1))


def _einsum_heads_in_matrix(query, memory, W_q, W_k, W_v, num_heads):
    W_q, W_k, W_v = (W.unflatten(0, (num_heads, -1)) for W in (W_q, W_k, W_v))
    scores = torch.einsum("bim,hdm,hdn,bjn->bijh", query, W_q, W_k, memory) / W_q.shape[1] ** 0.5
    weights = scores.softmax(2)
    return (torch.einsum("bijh,hdn,bjn->bihd", weights, W_v, memory).flatten(2), weights)


def _einsum_by_broadcast(query, memory, W_q, W_k, W_v, num_heads):
    q, k, v = (_cut(F.linear(x, W), num_heads) for x, W in ((query, W_q), (memory, W_k), (memory, W_v)))
    weights = ((q[:, :, None] * k[:, None]).sum(-1) / q.shape[-1] ** 0.5).softmax(2)
    return ((weights[..., None] * v[:, None]).sum(2).flatten(2), weights)


def _einsum_fused(query, memory, W_q, W_k, W_v, num_heads):
    q, k, v = (_split(x @ W.T, num_heads) for x, W in ((query, W_q), (memory, W_k), (memory, W_v)))
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
    return (_merge(F.scaled_dot_product_attention(q, k, v)), weights.permute(0, 2, 3, 1))


def _einsum_course(query, memory, W_q, W_k, W_v, num_heads):
    q, k, v = (_split(x @ W.T, num_heads) for x, W in ((query, W_q), (memory, W_k), (memory, W_v)))
    heads, weights = scaled_dot_product_attention(q, k, v)
    return (_merge(heads), weights.permute(0, 2, 3, 1))


def _einsum_course_split(query, memory, W_q, W_k, W_v, num_heads):
    pairs = ((query, W_q), (memory, W_k), (memory, W_v))
    q, k, v = (multi_head.split_heads(x @ W.T, num_heads) for x, W in pairs)
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
    return (_merge(weights @ v), weights.permute(0, 2, 3, 1))


EINSUM = Answers(
    number="6.4",
    alternatives=(
        Right("matmul and permute", _einsum_matmul),
        Right("loop over heads", _einsum_by_head),
        Right("heads cut in the matrices", _einsum_heads_in_matrix),
        Right("broadcasting", _einsum_by_broadcast),
        Right(
            "heads second, moved at the end",
            _by_einsum(
                score="bihd,bjhd->bhij",
                dim=-1,
                gather="bhij,bjhd->bihd",
                finish=lambda o, w: (o, w.permute(0, 2, 3, 1)),
            ),
        ),
        Right("PyTorch's fused attention", _einsum_fused, off_limits=True),
        Right("the course's attention", _einsum_course, off_limits=True),
        Right("the course's split", _einsum_course_split, off_limits=True),
    ),
    mistakes=(
        Wrong("softmax over the heads", _by_einsum(dim=-1)),
        Wrong("softmax over the queries", _by_einsum(dim=1)),
        Wrong("matrices not transposed", _by_einsum(project="bli,io->blo")),
        Wrong("values summed over the queries", _by_einsum(gather="bijh,bihd->bjhd")),
        Wrong("keys read as features", _by_einsum(score="bihd,bdhj->bijh")),
        Wrong("heads read as features", _by_einsum(score="bidh,bjdh->bijh", scale=lambda q, n: q.shape[-1] ** (-0.5))),
        Wrong(
            "one head",
            _by_einsum(
                score="bihd,bjhd->bij", dim=-1, gather="bij,bjhd->bihd", scale=lambda q, n: q[0, 0].numel() ** (-0.5)
            ),
        ),
        Wrong("straight view", _by_einsum(cut=_straight_split, score="bhid,bhjd->bijh", gather="bijh,bhjd->bihd")),
        Wrong("interleaved", _by_einsum(cut=lambda x, n: x.unflatten(-1, (-1, n)).transpose(-1, -2))),
        Wrong("merged interleaved", _by_einsum(flatten=lambda heads: heads.transpose(2, 3).flatten(2))),
        Wrong(
            "merged without transpose",
            _by_einsum(
                gather="bijh,bjhd->bhid", flatten=lambda heads: heads.reshape(heads.shape[0], heads.shape[2], -1)
            ),
        ),
        Wrong("heads not merged", _by_einsum(flatten=lambda heads: heads)),
        Wrong("heads averaged", _by_einsum(flatten=lambda heads: heads.mean(2))),
        Wrong("weights with heads second", _by_einsum(finish=lambda o, w: (o, w.permute(0, 3, 1, 2)))),
        Wrong("no scaling", _by_einsum(scale=lambda q, n: 1.0)),
        Wrong("divided by d_head", _by_einsum(scale=lambda q, n: 1 / q.shape[-1])),
        Wrong("root of d_model", _by_einsum(scale=lambda q, n: (q.shape[-1] * n) ** (-0.5))),
        Wrong("root of d_v", lambda *given: _by_einsum(scale=lambda q, n: (given[4].shape[0] // n) ** (-0.5))(*given)),
        Wrong("root of d_in", lambda *given: _by_einsum(scale=lambda q, n: given[0].shape[-1] ** (-0.5))(*given)),
        Wrong("softmax over queries and keys", _by_einsum(normalize=lambda s: s.flatten(1, 2).softmax(1).view_as(s))),
        Wrong(
            "query and key matrices exchanged",
            lambda query, memory, W_q, W_k, W_v, n: _by_einsum()(query, memory, W_k, W_q, W_v, n),
        ),
        Wrong("root of the number of heads", _by_einsum(scale=lambda q, n: n ** (-0.5))),
        Wrong("memory not used", _by_einsum(sources=("query", "query", "query"))),
        Wrong("values from the query", _by_einsum(sources=("query", "memory", "query"))),
        Wrong("output only", _by_einsum(finish=lambda o, w: o)),
    ),
)


EXERCISES = (
    SPLIT,
    MERGE,
    FORWARD,
    EINSUM,
)
