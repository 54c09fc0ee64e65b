"""Similarity of vectors: dot product, cosine, one query against all keys, all queries against all keys.

Shape letters: ``*B`` any number of leading (batch) dimensions, ``L_q`` queries, ``L_k`` keys, ``d`` vector size.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .arguments import require_same

PAIRS = (
    "a has shape {}, b has shape {}; they must agree. "
    "To compare every row of one with every row of the other, use similarity_matrix"
)


def dot_product(a: Float[Tensor, "*B d"], b: Float[Tensor, "*B d"]) -> Float[Tensor, "*B"]:
    """Dot product ``sum_i a_i b_i`` of two vectors, or of two equally long stacks of vectors, pair by pair.

    Example:
        >>> dot_product(torch.tensor([2.0, 3.0]), torch.tensor([1.0, 4.0]))
        tensor(14.)
    """
    require_same(a.shape, b.shape, PAIRS)
    return (a * b).sum(dim=-1)


def cosine_similarity(a: Float[Tensor, "*B d"], b: Float[Tensor, "*B d"]) -> Float[Tensor, "*B"]:
    """Cosine of the angle between two vectors: the dot product of their directions, from -1 to 1.

    The zero vector has no direction; its similarity to anything is 0 here (as in ``F.cosine_similarity``), never NaN.

    Example:
        >>> cosine_similarity(torch.tensor([2.0, 3.0]), torch.tensor([1.0, 4.0]))
        tensor(0.9417)
    """
    require_same(a.shape, b.shape, PAIRS)
    return (normalize(a) * normalize(b)).sum(dim=-1)


def normalize(vectors: Float[Tensor, "*B d"]) -> Float[Tensor, "*B d"]:
    """Each vector divided by its length; a zero vector stays zero."""
    length = vectors.norm(dim=-1, keepdim=True)  # (*B, 1)
    return vectors / length.masked_fill(length == 0, 1.0)


def similarity_matrix(
    queries: Float[Tensor, "*B L_q d"], keys: Float[Tensor, "*B L_k d"]
) -> Float[Tensor, "*B L_q L_k"]:
    """Dot product of every query with every key, ``Q K^T``: entry ``[..., i, j]`` is query ``i`` times key ``j``."""
    if queries.dim() < 2 or keys.dim() < 2:
        raise ValueError(
            f"queries {tuple(queries.shape)} and keys {tuple(keys.shape)} each need at least two dimensions, (L, d); "
            "one vector becomes a stack of one with vector[None]"
        )
    sizes = queries.shape[-1], keys.shape[-1]
    require_same(*sizes, "queries have d={}, keys have d={}: the dot product needs vectors of the same size")
    require_same(queries.shape[:-2], keys.shape[:-2], "queries have batch dimensions {}, keys {}; they must agree")
    return queries @ keys.transpose(-2, -1)  # (*B, L_q, L_k)


def nearest_neighbors(
    query: Float[Tensor, " d"], keys: Float[Tensor, "L_k d"], k: int
) -> tuple[Float[Tensor, " k"], Int[Tensor, " k"]]:
    """The ``k`` keys whose cosine similarity to the query is largest, best first: their similarities and their indices.

    Among equal similarities the smaller index comes first.
    """
    if not 1 <= k <= keys.shape[0]:
        raise ValueError(f"k ({k}) must be between 1 and the number of keys ({keys.shape[0]})")
    require_same(query.shape[-1], keys.shape[-1], "query has d={}, keys have d={}; they must agree")
    similarities = normalize(keys) @ normalize(query)  # (L_k,)
    ranked = torch.sort(similarities, descending=True, stable=True)
    return ranked.values[:k], ranked.indices[:k]
