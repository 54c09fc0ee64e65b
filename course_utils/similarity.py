"""Similarity of vectors: dot product, cosine, one query against all keys, all queries against all keys.

Shape letters: ``*B`` any number of leading (batch) dimensions, ``L_q`` queries, ``L_k`` keys, ``d`` vector size.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def dot_product(a: Float[Tensor, "*B d"], b: Float[Tensor, "*B d"]) -> Float[Tensor, "*B"]:
    """Dot product ``sum_i a_i b_i`` of two vectors, or of two equally long stacks of vectors, pair by pair.

    Example:
        >>> dot_product(torch.tensor([2.0, 3.0]), torch.tensor([1.0, 4.0]))
        tensor(14.)
    """
    _require_pairs(a, b)
    return (a * b).sum(dim=-1)


def cosine_similarity(a: Float[Tensor, "*B d"], b: Float[Tensor, "*B d"]) -> Float[Tensor, "*B"]:
    """Cosine of the angle between two vectors: the dot product of their directions, from -1 to 1.

    The zero vector has no direction; its similarity to anything is 0 here (as in ``F.cosine_similarity``), never NaN.

    Example:
        >>> cosine_similarity(torch.tensor([2.0, 3.0]), torch.tensor([1.0, 4.0]))
        tensor(0.9417)
    """
    _require_pairs(a, b)
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
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError(
            f"queries have d={queries.shape[-1]}, keys have d={keys.shape[-1]}: "
            "the dot product needs vectors of the same size"
        )
    if queries.shape[:-2] != keys.shape[:-2]:
        raise ValueError(
            f"queries have batch dimensions {tuple(queries.shape[:-2])}, keys {tuple(keys.shape[:-2])}; they must agree"
        )
    return queries @ keys.transpose(-2, -1)  # (*B, L_q, L_k)


def nearest_neighbors(
    query: Float[Tensor, " d"], keys: Float[Tensor, "L_k d"], k: int
) -> tuple[Float[Tensor, " k"], Int[Tensor, " k"]]:
    """The ``k`` keys whose cosine similarity to the query is largest, best first: their similarities and their indices.

    Among equal similarities the smaller index comes first.
    """
    if not 1 <= k <= keys.shape[0]:
        raise ValueError(f"k ({k}) must be between 1 and the number of keys ({keys.shape[0]})")
    if query.shape[-1] != keys.shape[-1]:
        raise ValueError(f"query has d={query.shape[-1]}, keys have d={keys.shape[-1]}; they must agree")
    similarities = normalize(keys) @ normalize(query)  # (L_k,)
    ranked = torch.sort(similarities, descending=True, stable=True)
    return ranked.values[:k], ranked.indices[:k]


def _require_pairs(a: Tensor, b: Tensor) -> None:
    if a.shape != b.shape:
        raise ValueError(
            f"a has shape {tuple(a.shape)}, b has shape {tuple(b.shape)}; they must agree. "
            "To compare every row of one with every row of the other, use similarity_matrix"
        )
