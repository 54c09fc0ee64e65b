"""Answers that the first tables of lesson 01 knew, wrong and right, by exercise and name (generated once; see README.md)."""

import functools
import torch
import torch.nn.functional as F
from course_utils import similarity
from . import Answers, Right, Wrong


def _dot_loop(a, b):
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


DOT = Answers(
    number="1.1",
    alternatives=(
        Right("loop", _dot_loop),
        Right("matmul", lambda a, b: a @ b),
        Right("torch.dot", torch.dot),
        Right("einsum", lambda a, b: torch.einsum("d,d->", a, b)),
        Right("python number", lambda a, b: (a * b).sum().item()),
        Right("the course's own", lambda a, b: similarity.dot_product(a, b), off_limits=True),
    ),
    mistakes=(
        Wrong("products not added", lambda a, b: a * b),
        Wrong("sum of sums", lambda a, b: (a + b).sum()),
        Wrong("product of sums", lambda a, b: a.sum() * b.sum()),
        Wrong("mean", lambda a, b: (a * b).mean()),
        Wrong("absolute values", lambda a, b: (a * b).abs().sum()),
        Wrong("cosine", similarity.cosine_similarity),
        Wrong("outer product", lambda a, b: torch.outer(a, b)),
    ),
)


def _cosine_formula(a, b, power_a=1.0, power_b=1.0, guard=True, empty=0.0):
    dot = (a * b).sum(-1)
    lengths = a.norm(dim=-1) ** power_a * b.norm(dim=-1) ** power_b
    if not guard:
        return dot / lengths
    zero = (a.norm(dim=-1) == 0) | (b.norm(dim=-1) == 0)
    return torch.where(zero, torch.full_like(dot, empty), dot / lengths.masked_fill(zero, 1.0))


def _cosine_with_epsilon(a, b, epsilon):
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1) + epsilon)


def _cosine_half_guarded(a, b, which):
    length_a, length_b = (a.norm(dim=-1), b.norm(dim=-1))
    if which == "length of a":
        length_a = length_a.masked_fill(length_a == 0, 1.0)
    if which == "length of b":
        length_b = length_b.masked_fill(length_b == 0, 1.0)
    guarded = {"zero a": length_a == 0, "zero b": length_b == 0, "both zero": (length_a == 0) & (length_b == 0)}
    cosines = (a * b).sum(-1) / (length_a * length_b)
    return cosines.masked_fill(guarded[which], 0.0) if which in guarded else cosines


def _cosine_loop(a, b):
    found = []
    for x, y in zip(a, b, strict=True):
        lengths = (x @ x).sqrt() * (y @ y).sqrt()
        found.append(x @ y / lengths if lengths > 0 else torch.tensor(0.0))
    return torch.stack(found)


COSINE = Answers(
    number="1.2",
    alternatives=(
        Right("formula with torch.where", _cosine_formula),
        Right("loop", _cosine_loop),
        Right("directions from F.normalize", lambda a, b: (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1), off_limits=True),
        Right("lengths clamped", lambda a, b: (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1)).clamp(min=1e-20)),
        Right("nan_to_num", lambda a, b: torch.nan_to_num(_cosine_formula(a, b, guard=False))),
        Right("PyTorch's own", lambda a, b: F.cosine_similarity(a, b, dim=-1), off_limits=True),
    ),
    mistakes=(
        Wrong(
            "small epsilon",
            lambda a, b: (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1) + torch.finfo(torch.float32).eps),
        ),
        Wrong("no guard", lambda a, b: _cosine_formula(a, b, guard=False)),
        Wrong("squared lengths", lambda a, b: _cosine_formula(a, b, 2.0, 2.0)),
        Wrong("squared lengths, no guard", lambda a, b: _cosine_formula(a, b, 2.0, 2.0, guard=False)),
        Wrong("only a normalized", lambda a, b: _cosine_formula(a, b, 1.0, 0.0)),
        Wrong("only a normalized, no guard", lambda a, b: _cosine_formula(a, b, 1.0, 0.0, guard=False)),
        Wrong("only b normalized", lambda a, b: _cosine_formula(a, b, 0.0, 1.0)),
        Wrong("no lengths", lambda a, b: (a * b).sum(-1)),
        Wrong("one for zero vectors", lambda a, b: _cosine_formula(a, b, empty=1.0)),
        *(
            Wrong(f"epsilon {epsilon:g}", functools.partial(_cosine_with_epsilon, epsilon=epsilon))
            for epsilon in (0.001, 0.0001, 1e-05, 1e-06)
        ),
        Wrong(
            "lengths clamped at 0.01",
            lambda a, b: (a * b).sum(-1) / (a.norm(dim=-1).clamp(min=0.01) * b.norm(dim=-1).clamp(min=0.01)),
        ),
        *(
            Wrong(f"guard for {which}", functools.partial(_cosine_half_guarded, which=which))
            for which in ("length of a", "length of b", "zero a", "zero b", "both zero")
        ),
        Wrong("whole matrix", lambda a, b: similarity.normalize(a) @ similarity.normalize(b).T),
    ),
)


def _all_pairs_loop(queries, keys):
    out = torch.zeros(queries.shape[0], queries.shape[1], keys.shape[1])
    for b in range(queries.shape[0]):
        for i in range(queries.shape[1]):
            for j in range(keys.shape[1]):
                out[b, i, j] = (queries[b, i] * keys[b, j]).sum()
    return out


def _reversed(tensor):
    return tensor.permute(*range(tensor.dim())[::-1])


_PAIR_MISTAKES = (
    Wrong("all axes reversed", lambda queries, keys: queries @ _reversed(keys)),
    Wrong("queries and keys swapped", lambda queries, keys: keys @ queries.transpose(-2, -1)),
    Wrong("first item's keys for all", lambda queries, keys: queries @ keys[0].T),
    Wrong("summed over the batch", lambda queries, keys: torch.einsum("bid,bjd->ij", queries, keys)),
    Wrong("every item with every item", lambda queries, keys: torch.einsum("bid,cjd->bcij", queries, keys)),
    Wrong("scaled", lambda queries, keys: queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5),
)

ALL_PAIRS = Answers(
    number="1.3",
    alternatives=(
        Right("three loops", _all_pairs_loop),
        Right("bmm", lambda queries, keys: torch.bmm(queries, keys.transpose(1, 2))),
        Right("einsum", lambda queries, keys: torch.einsum("bid,bjd->bij", queries, keys)),
        Right("mT", lambda queries, keys: queries @ keys.mT),
        Right("broadcasting", lambda queries, keys: (queries[:, :, None] * keys[:, None]).sum(-1)),
    ),
    mistakes=_PAIR_MISTAKES,
)

EINSUM = Answers(
    number="1.4",
    alternatives=(
        Right("other letters", lambda queries, keys: torch.einsum("nqe,nke->nqk", queries, keys)),
        Right("ellipsis", lambda queries, keys: torch.einsum("...id,...jd->...ij", queries, keys)),
        Right("matmul", lambda queries, keys: queries @ keys.transpose(-2, -1), off_limits=True),
        Right("bmm", lambda queries, keys: torch.bmm(queries, keys.mT), off_limits=True),
        Right(
            "mm, item by item",
            lambda queries, keys: torch.stack([q.mm(k.T) for q, k in zip(queries, keys, strict=True)]),
            off_limits=True,
        ),
        Right("F.linear, item by item", lambda q, k: torch.stack(list(map(F.linear, q, k))), off_limits=True),
    ),
    mistakes=(
        *_PAIR_MISTAKES[1:],
        Wrong("nothing summed", lambda queries, keys: torch.einsum("bid,bjd->bijd", queries, keys)),
        Wrong("i and j tied", lambda queries, keys: torch.einsum("bid,bid->bi", queries, keys)),
    ),
)


def _cosines(query, keys):
    return similarity.normalize(keys) @ similarity.normalize(query)


NEAREST = Answers(
    number="1.5",
    alternatives=(
        Right("topk", lambda query, keys, k: _cosines(query, keys).topk(k).indices),
        Right("argsort", lambda query, keys, k: _cosines(query, keys).argsort(descending=True)[:k]),
        Right("negative argsort", lambda query, keys, k: (-_cosines(query, keys)).argsort()[:k]),
        Right("query's length left in", lambda query, keys, k: (similarity.normalize(keys) @ query).topk(k).indices),
        Right(
            "PyTorch's cosine", lambda query, keys, k: F.cosine_similarity(query[None], keys, dim=-1).topk(k).indices,
            off_limits=True,
        ),
    ),
    mistakes=(
        Wrong("by dot product", lambda query, keys, k: (keys @ query).topk(k).indices),
        Wrong("farthest first", lambda query, keys, k: _cosines(query, keys).argsort()[:k]),
        Wrong("best last", lambda query, keys, k: _cosines(query, keys).argsort()[-k:]),
        Wrong("by distance", lambda query, keys, k: (keys - query).norm(dim=-1).argsort()[:k]),
        Wrong("similarities returned", lambda query, keys, k: _cosines(query, keys).topk(k).values),
        Wrong("both parts of topk", lambda query, keys, k: _cosines(query, keys).topk(k)),
        Wrong("by absolute cosine", lambda query, keys, k: _cosines(query, keys).abs().topk(k).indices),
        Wrong("divided by squared length", lambda query, keys, k: (keys @ query / (keys**2).sum(-1)).topk(k).indices),
        Wrong("one short", lambda query, keys, k: _cosines(query, keys).topk(k + 1).indices[1:]),
    ),
)

BUG = Answers(
    number="1.6",
    alternatives=(
        Right(
            "as given, transpose mended",
            lambda queries, keys: F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).transpose(-2, -1),
        ),
        Right("mT", lambda queries, keys: F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT),
        Right(
            "lengths divided afterwards",
            lambda queries, keys: (
                queries @ keys.mT / (queries.norm(dim=-1)[..., :, None] * keys.norm(dim=-1)[..., None, :])
            ),
        ),
        Right(
            "PyTorch's cosine", lambda queries, keys: F.cosine_similarity(queries[:, :, None], keys[:, None], dim=-1),
            off_limits=True,
        ),
    ),
    mistakes=(
        Wrong(
            "still reversed", lambda queries, keys: F.normalize(queries, dim=-1) @ _reversed(F.normalize(keys, dim=-1))
        ),
        Wrong(
            "batch and length swapped",
            lambda queries, keys: F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).transpose(0, 1),
        ),
        Wrong(
            "normalized over positions",
            lambda queries, keys: F.normalize(queries, dim=1) @ F.normalize(keys, dim=1).transpose(-2, -1),
        ),
        Wrong("normalization lost", lambda queries, keys: queries @ keys.transpose(-2, -1)),
        Wrong(
            "reshaped",
            lambda queries, keys: (
                F.normalize(queries, dim=-1)
                @ F.normalize(keys, dim=-1).reshape(keys.shape[0], keys.shape[2], keys.shape[1])
            ),
        ),
    ),
)

EXERCISES = (
    DOT,
    COSINE,
    ALL_PAIRS,
    EINSUM,
    NEAREST,
    BUG,
)
