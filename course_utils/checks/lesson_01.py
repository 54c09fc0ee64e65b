"""Lesson 01, dot-product similarity: what is right, what is wrong, and how it is told."""

import functools

import torch
import torch.nn.functional as F

from course_utils import similarity

from .exercise import Alternative, Exercise, Mistake, Option, Quiz
from .probes.guard import MATRIX_PRODUCTS

# 1.1 ------------------------------------------------------------------------------------------------------------------


def _dot_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    return [
        {"a": torch.tensor([2.0, 3.0]), "b": torch.tensor([1.0, 4.0])},
        {"a": torch.tensor([2.0, 3.0]), "b": torch.tensor([-1.0, -2.0])},
        {"a": torch.randn(7, generator=rng), "b": torch.randn(7, generator=rng)},
        {"a": torch.randn(301, generator=rng), "b": torch.randn(301, generator=rng)},
    ]


def _dot_loop(a, b):
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


DOT = Exercise(
    number="1.1",
    title="The dot product",
    points=2,
    inputs=_dot_inputs,
    reference=similarity.dot_product,
    returns=("the dot product",),
    off_limits=("course_utils.similarity.dot_product",),
    atol=1e-4,
    alternatives=(
        Alternative("loop", _dot_loop),
        Alternative("matmul", lambda a, b: a @ b),
        Alternative("torch.dot", torch.dot),
        Alternative("einsum", lambda a, b: torch.einsum("d,d->", a, b)),
        Alternative("python number", lambda a, b: (a * b).sum().item()),
        Alternative("the course's own", lambda a, b: similarity.dot_product(a, b), off_limits=True),
    ),
    mistakes=(
        Mistake(
            "products not added",
            lambda a, b: a * b,
            "the products a_i b_i, one for each coordinate, not yet added up.",
            "the dot product is one number: add the products with .sum().",
        ),
        Mistake(
            "sum of sums",
            lambda a, b: (a + b).sum(),
            "the sum of all coordinates: a and b were added where they should be multiplied.",
            "multiply coordinate by coordinate first, then add.",
        ),
        Mistake(
            "product of sums",
            lambda a, b: a.sum() * b.sum(),
            "the sum of a times the sum of b: it adds before it multiplies.",
            "multiply coordinate by coordinate first, then add.",
        ),
        Mistake(
            "mean",
            lambda a, b: (a * b).mean(),
            "the mean of the products: it is too small by the factor d, the number of coordinates.",
            "use .sum(), not .mean().",
        ),
        Mistake(
            "absolute values",
            lambda a, b: (a * b).abs().sum(),
            "the sum of the absolute products: the sign, which says same or opposite direction, is lost.",
            "do not take absolute values; [2, 3] times [-1, -2] is -8.",
        ),
        Mistake(
            "cosine",
            similarity.cosine_similarity,
            "the cosine similarity: the dot product divided by both lengths.",
            "leave the lengths in; the cosine is the next exercise.",
        ),
        Mistake(
            "outer product",
            lambda a, b: torch.outer(a, b),
            "the outer product: every coordinate of a times every coordinate of b, a whole matrix.",
            "pair coordinate i of a with coordinate i of b only.",
        ),
    ),
    advice="compute [2, 3] times [1, 4] by hand: 2*1 + 3*4 = 14, and print each step of your code beside it.",
)

# 1.2 ------------------------------------------------------------------------------------------------------------------


def _cosine_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    a, b = 3.0 * torch.randn(5, 7, generator=rng), 0.5 * torch.randn(5, 7, generator=rng)
    with_zeros_a, with_zeros_b = a.clone(), b.clone()
    with_zeros_a[1], with_zeros_b[3], with_zeros_a[4], with_zeros_b[4] = 0.0, 0.0, 0.0, 0.0
    return [
        {"a": torch.tensor([[2.0, 3.0]]), "b": torch.tensor([[1.0, 4.0]])},
        {"a": a, "b": b},
        {  # lengths 0.002 and 2.5: an epsilon of 1e-6 beside their product shows, one of 1e-7 does not
            "a": torch.tensor([[0.0012, 0.0016], [-2.0, 1.5]]),
            "b": torch.tensor([[2.0, 1.5], [0.0012, -0.0016]]),
        },
        {"a": torch.tensor([[0.0, 0.0]]), "b": torch.tensor([[1.0, 2.0]])},
        {"a": with_zeros_a, "b": with_zeros_b},
    ]


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
    length_a, length_b = a.norm(dim=-1), b.norm(dim=-1)
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


COSINE = Exercise(
    number="1.2",
    title="Cosine similarity, zero vectors included",
    points=3,
    inputs=_cosine_inputs,
    reference=similarity.cosine_similarity,
    returns=("cosines",),
    off_limits=(
        "torch.cosine_similarity",
        "torch.nn.functional.cosine_similarity",
        "course_utils.similarity.cosine_similarity",
    ),
    alternatives=(
        Alternative("formula with torch.where", _cosine_formula),
        Alternative("loop", _cosine_loop),
        Alternative(
            "directions from F.normalize", lambda a, b: (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1)
        ),
        Alternative(
            "lengths clamped",
            lambda a, b: (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1)).clamp(min=1e-12),
        ),
        Alternative(
            "small epsilon",
            lambda a, b: (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1) + torch.finfo(torch.float32).eps),
        ),
        Alternative("nan_to_num", lambda a, b: torch.nan_to_num(_cosine_formula(a, b, guard=False))),
        Alternative("PyTorch's own", lambda a, b: F.cosine_similarity(a, b, dim=-1), off_limits=True),
    ),
    mistakes=(
        Mistake(
            "no guard",
            lambda a, b: _cosine_formula(a, b, guard=False),
            "the formula without a guard: a zero vector has length 0, and 0 / 0 is NaN.",
            "where a length is 0, divide by 1 instead (masked_fill), and the result is 0.",
        ),
        Mistake(
            "squared lengths",
            lambda a, b: _cosine_formula(a, b, 2.0, 2.0),
            "the dot product divided by the squared lengths.",
            "the length is the square root of the sum of squares: a.norm(dim=-1).",
        ),
        Mistake(
            "squared lengths, no guard",
            lambda a, b: _cosine_formula(a, b, 2.0, 2.0, guard=False),
            "the dot product divided by the squared lengths.",
            "the length is the square root of the sum of squares: a.norm(dim=-1).",
        ),
        Mistake(
            "only a normalized",
            lambda a, b: _cosine_formula(a, b, 1.0, 0.0),
            "only a was divided by its length; b still counts by its length.",
            "divide by both lengths; every result must then lie between -1 and 1.",
        ),
        Mistake(
            "only a normalized, no guard",
            lambda a, b: _cosine_formula(a, b, 1.0, 0.0, guard=False),
            "only a was divided by its length; b still counts by its length.",
            "divide by both lengths; every result must then lie between -1 and 1.",
        ),
        Mistake(
            "only b normalized",
            lambda a, b: _cosine_formula(a, b, 0.0, 1.0),
            "only b was divided by its length; a still counts by its length.",
            "divide by both lengths; every result must then lie between -1 and 1.",
        ),
        Mistake(
            "no lengths",
            lambda a, b: (a * b).sum(-1),
            "the plain dot product: nothing was divided by a length.",
            "divide by the length of a and by the length of b.",
        ),
        Mistake(
            "one for zero vectors",
            lambda a, b: _cosine_formula(a, b, empty=1.0),
            'right for ordinary vectors, but 1 for a zero vector: that says "same direction".',
            "the zero vector has no direction; return 0 for it.",
        ),
        *(
            Mistake(
                f"epsilon {epsilon:g}",
                functools.partial(_cosine_with_epsilon, epsilon=epsilon),
                "a guard that changes ordinary results: a constant is added to the lengths, and short vectors feel it.",
                "change the length only where it is exactly 0, or add no more than 1e-8.",
            )
            for epsilon in (1e-3, 1e-4, 1e-5, 1e-6)
        ),
        Mistake(
            "lengths clamped at 0.01",
            lambda a, b: (a * b).sum(-1) / (a.norm(dim=-1).clamp(min=0.01) * b.norm(dim=-1).clamp(min=0.01)),
            "a guard that changes ordinary results: a length below 0.01 is taken for 0.01.",
            "change the length only where it is exactly 0, or clamp it from below at 1e-8.",
        ),
        *(
            Mistake(
                f"guard for {which}",
                functools.partial(_cosine_half_guarded, which=which),
                "a guard that is not there for every zero vector: a alone, b alone, or both may be zero.",
                "guard the product of the two lengths: it is 0 as soon as one of them is.",
            )
            for which in ("length of a", "length of b", "zero a", "zero b", "both zero")
        ),
        Mistake(
            "whole matrix",
            lambda a, b: similarity.normalize(a) @ similarity.normalize(b).T,
            "every row of a against every row of b; asked for is row i with row i.",
            "multiply element by element and sum over the last dimension.",
        ),
    ),
    advice="print a.norm(dim=-1): it must be one length for each row, shape (n,).",
)

# 1.3, 1.5, 1.6 --------------------------------------------------------------------------------------------------------


def _batch_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [
        {"queries": torch.tensor([[[1.0, 2.0]], [[0.0, 1.0]]]), "keys": torch.tensor([[[3.0, 1.0]], [[5.0, 7.0]]])},
    ]
    for batch, length_q, length_k, size in ((2, 5, 7, 3), (4, 3, 2, 6), (3, 3, 3, 3)):
        queries = torch.randn(batch, length_q, size, generator=rng)
        cases.append({"queries": queries, "keys": torch.randn(batch, length_k, size, generator=rng)})
    return cases


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
    Mistake(
        "all axes reversed",
        lambda queries, keys: queries @ _reversed(keys),
        "keys.T on a batch: .T reverses all three axes, so the batch axis moves as well.",
        "swap the last two axes only: keys.transpose(-2, -1).",
    ),
    Mistake(
        "queries and keys swapped",
        lambda queries, keys: keys @ queries.transpose(-2, -1),
        "keys times queries: your rows are keys, your columns queries.",
        "put the queries first: entry [b, i, j] is query i with key j.",
    ),
    Mistake(
        "first item's keys for all",
        lambda queries, keys: queries @ keys[0].T,
        "every batch item was compared with the keys of the first item.",
        "keep the batch axis of the keys: use keys, not keys[0].",
    ),
    Mistake(
        "summed over the batch",
        lambda queries, keys: torch.einsum("bid,bjd->ij", queries, keys),
        "one matrix for the whole batch: the items' products were added up.",
        "the batch index b must appear in the result as well.",
    ),
    Mistake(
        "every item with every item",
        lambda queries, keys: torch.einsum("bid,cjd->bcij", queries, keys),
        "every batch item against every other: the batch index differs in the two factors.",
        "item b of the queries belongs with item b of the keys only.",
    ),
    Mistake(
        "scaled",
        lambda queries, keys: queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5,
        "the scores divided by sqrt(d). That comes in lesson 04; asked for is the plain dot product.",
        "leave the division out.",
    ),
)

ALL_PAIRS = Exercise(
    number="1.3",
    title="All queries against all keys, in a batch",
    points=3,
    inputs=_batch_inputs,
    reference=similarity.similarity_matrix,
    returns=("similarities",),
    off_limits=("course_utils.similarity.similarity_matrix",),
    alternatives=(
        Alternative("three loops", _all_pairs_loop),
        Alternative("bmm", lambda queries, keys: torch.bmm(queries, keys.transpose(1, 2))),
        Alternative("einsum", lambda queries, keys: torch.einsum("bid,bjd->bij", queries, keys)),
        Alternative("mT", lambda queries, keys: queries @ keys.mT),
        Alternative("broadcasting", lambda queries, keys: (queries[:, :, None] * keys[:, None]).sum(-1)),
    ),
    mistakes=_PAIR_MISTAKES,
    advice="write the three index loops first: out[b, i, j] = sum over d of queries[b, i, d] * keys[b, j, d].",
)

EINSUM = Exercise(
    number="1.4",
    title="The same by einsum",
    points=2,
    inputs=_batch_inputs,
    reference=lambda queries, keys: torch.einsum("bid,bjd->bij", queries, keys),
    returns=("similarities",),
    off_limits=(*MATRIX_PRODUCTS, "course_utils.similarity.similarity_matrix"),
    alternatives=(
        Alternative("other letters", lambda queries, keys: torch.einsum("nqe,nke->nqk", queries, keys)),
        Alternative("ellipsis", lambda queries, keys: torch.einsum("...id,...jd->...ij", queries, keys)),
        Alternative("matmul", lambda queries, keys: queries @ keys.transpose(-2, -1), off_limits=True),
        Alternative("bmm", lambda queries, keys: torch.bmm(queries, keys.mT), off_limits=True),
        Alternative(
            "mm, item by item",
            lambda queries, keys: torch.stack([q.mm(k.T) for q, k in zip(queries, keys, strict=True)]),
            off_limits=True,
        ),
        Alternative("F.linear, item by item", lambda q, k: torch.stack(list(map(F.linear, q, k))), off_limits=True),
    ),
    mistakes=(
        *_PAIR_MISTAKES[1:],
        Mistake(
            "nothing summed",
            lambda queries, keys: torch.einsum("bid,bjd->bijd", queries, keys),
            "the products for every d, not added up: d still stands in the result.",
            "an index that is missing on the right of -> is summed over; leave d out there.",
        ),
        Mistake(
            "i and j tied",
            lambda queries, keys: torch.einsum("bid,bid->bi", queries, keys),
            "query i with key i only: the same letter for both positions ties them together.",
            "give the position in the keys a letter of its own.",
        ),
    ),
    advice="name the axes: queries are b i d, keys are b j d, the result is b i j.",
)

# 1.5 ------------------------------------------------------------------------------------------------------------------


def _nearest_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [
        {
            "query": torch.tensor([2.0, 3.0]),
            "keys": torch.tensor([[1.0, 4.0], [-1.0, -2.0], [40.0, 0.0], [0.4, 0.6]]),
            "k": 2,
        }
    ]
    for count, size, k in ((9, 4, 3), (30, 6, 5), (12, 3, 1)):
        lengths = 10.0 ** (2 * torch.rand(count, 1, generator=rng) - 1)
        keys = lengths * torch.randn(count, size, generator=rng)
        cases.append({"query": torch.randn(size, generator=rng), "keys": keys, "k": k})
    return cases


def _cosines(query, keys):
    return similarity.normalize(keys) @ similarity.normalize(query)


NEAREST = Exercise(
    number="1.5",
    title="Nearest neighbors",
    points=3,
    inputs=_nearest_inputs,
    reference=lambda query, keys, k: similarity.nearest_neighbors(query, keys, k)[1],
    returns=("indices",),
    off_limits=("course_utils.similarity.nearest_neighbors",),
    alternatives=(
        Alternative("topk", lambda query, keys, k: _cosines(query, keys).topk(k).indices),
        Alternative("argsort", lambda query, keys, k: _cosines(query, keys).argsort(descending=True)[:k]),
        Alternative("negative argsort", lambda query, keys, k: (-_cosines(query, keys)).argsort()[:k]),
        Alternative(
            "query's length left in",
            lambda query, keys, k: (similarity.normalize(keys) @ query).topk(k).indices,
        ),
        Alternative(
            "PyTorch's cosine", lambda query, keys, k: F.cosine_similarity(query[None], keys, dim=-1).topk(k).indices
        ),
    ),
    mistakes=(
        Mistake(
            "by dot product",
            lambda query, keys, k: (keys @ query).topk(k).indices,
            "a ranking by the dot product: long keys win, whatever their direction.",
            "divide each key by its length before the product.",
        ),
        Mistake(
            "farthest first",
            lambda query, keys, k: _cosines(query, keys).argsort()[:k],
            "the k least similar keys: argsort puts the smallest first.",
            "sort in descending order.",
        ),
        Mistake(
            "best last",
            lambda query, keys, k: _cosines(query, keys).argsort()[-k:],
            "the right keys in the wrong order: the best stands last.",
            "sort in descending order and take the first k.",
        ),
        Mistake(
            "by distance",
            lambda query, keys, k: (keys - query).norm(dim=-1).argsort()[:k],
            "a ranking by Euclidean distance: it compares where the arrows end, not where they point.",
            "rank by cosine similarity, the dot product of directions.",
        ),
        Mistake(
            "similarities returned",
            lambda query, keys, k: _cosines(query, keys).topk(k).values,
            "the similarities; asked for are the rows at which they stand.",
            "topk gives both: take .indices.",
        ),
        Mistake(
            "both parts of topk",
            lambda query, keys, k: _cosines(query, keys).topk(k),
            "similarities and rows together: topk and sort hand back both.",
            "return the second part alone: .indices.",
        ),
        Mistake(
            "by absolute cosine",
            lambda query, keys, k: _cosines(query, keys).abs().topk(k).indices,
            "a ranking by the size of the cosine: keys that point the opposite way count as near.",
            "keep the sign: -1 is as far as it gets.",
        ),
        Mistake(
            "divided by squared length",
            lambda query, keys, k: (keys @ query / (keys**2).sum(-1)).topk(k).indices,
            "each product was divided by the squared length of the key, so short keys win.",
            "the length is the square root of the sum of squares.",
        ),
        Mistake(
            "one short",
            lambda query, keys, k: _cosines(query, keys).topk(k + 1).indices[1:],
            "the best key was left out. That is right when the query is itself among the keys; here it is not.",
            "start at the first place of the ranking.",
        ),
    ),
    advice="print the cosine of the query with every key, then sort them by hand.",
)

# 1.6 ------------------------------------------------------------------------------------------------------------------


def _all_cosines(queries, keys):
    return similarity.normalize(queries) @ similarity.normalize(keys).transpose(-2, -1)


BUG = Exercise(
    number="1.6",
    title="Find the bug",
    points=3,
    inputs=lambda seed: _batch_inputs(seed + 1),
    reference=_all_cosines,
    returns=("cosines",),
    alternatives=(
        Alternative(
            "as given, transpose mended",
            lambda queries, keys: F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).transpose(-2, -1),
        ),
        Alternative("mT", lambda queries, keys: F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT),
        Alternative(
            "lengths divided afterwards",
            lambda queries, keys: (
                (queries @ keys.mT) / (queries.norm(dim=-1)[..., :, None] * keys.norm(dim=-1)[..., None, :])
            ),
        ),
        Alternative(
            "PyTorch's cosine", lambda queries, keys: F.cosine_similarity(queries[:, :, None], keys[:, None], dim=-1)
        ),
    ),
    mistakes=(
        Mistake(
            "still reversed",
            lambda queries, keys: F.normalize(queries, dim=-1) @ _reversed(F.normalize(keys, dim=-1)),
            "the bug is still there: all three axes of the keys are reversed.",
            "swap the last two axes only, and try it on sizes that all differ.",
        ),
        Mistake(
            "batch and length swapped",
            lambda queries, keys: F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).transpose(0, 1),
            "another pair of axes was swapped: transpose(0, 1) exchanges batch and length.",
            "swap the last two: transpose(-2, -1).",
        ),
        Mistake(
            "normalized over positions",
            lambda queries, keys: F.normalize(queries, dim=1) @ F.normalize(keys, dim=1).transpose(-2, -1),
            "the transpose is mended, but now lengths are taken over the positions (dim=1), not over the vector's entries.",
            "leave the normalization as it was given, dim=-1.",
        ),
        Mistake(
            "normalization lost",
            lambda queries, keys: queries @ keys.transpose(-2, -1),
            "the transpose is mended, but the vectors are no longer divided by their lengths.",
            "change the transpose only.",
        ),
        Mistake(
            "reshaped",
            lambda queries, keys: (
                F.normalize(queries, dim=-1)
                @ F.normalize(keys, dim=-1).reshape(keys.shape[0], keys.shape[2], keys.shape[1])
            ),
            "a reshape in the place of the transpose: the shape is right, the content scrambled.",
            "reshape reads the numbers in order into a new shape; only a transpose swaps axes.",
        ),
    ),
    advice="run it on queries of shape (2, 5, 3) and keys of shape (2, 7, 3), and print the shape after every step.",
)

# 1.7, 1.8 -------------------------------------------------------------------------------------------------------------

LENGTH = Quiz(
    number="1.7",
    title="What length does",
    points=1,
    right="c",
    options={
        "a": Option(
            "Both the dot product and the cosine double.",
            "the cosine divides by the length of the key, so a factor on the key cancels.",
        ),
        "b": Option(
            "The cosine doubles, the dot product stays.",
            "it is the other way round: the dot product is a sum in which every term holds one entry of the key.",
        ),
        "c": Option(
            "The dot product doubles, the cosine stays.",
            "each product in the sum doubles, and the cosine divides the doubled sum by a doubled length.",
        ),
        "d": Option(
            "Neither changes, since the direction stays the same.",
            "the direction does stay, but the dot product measures direction and length together.",
        ),
    },
)

ZERO = Quiz(
    number="1.8",
    title="What zero means",
    points=1,
    right="b",
    options={
        "a": Option(
            "One of the two is the zero vector.",
            "that is one way to get 0, but [1, 0] and [0, 1] get there too, and neither is zero.",
        ),
        "b": Option(
            "They are at a right angle, or one of them is the zero vector.",
            "the product is |a| |b| cos(angle), and it is 0 when a length is 0 or the cosine is.",
        ),
        "c": Option(
            "They point in opposite directions.",
            "then the cosine is -1 and the dot product negative, as for joyful and sad.",
        ),
        "d": Option(
            "They are equal.",
            "a vector times itself is the square of its length, positive unless the vector is zero.",
        ),
    },
)

EXERCISES = (DOT, COSINE, ALL_PAIRS, EINSUM, NEAREST, BUG, LENGTH, ZERO)
