"""A head as two matrices: QK says where it looks, OV what it carries over.

The heads of an attention share nothing but their input and the sum that they add to, so each can be written by itself:
a score is a bilinear form of two vectors of the stream, and what a key hands over is a linear map of one. Both matrices are
``d_model x d_model`` and have a rank of at most ``d_head``.

Source:
    Elhage et al., "A Mathematical Framework for Transformer Circuits", 2021 (QK and OV circuits, eigenvalues of OV, composition).
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..multi_head import MultiHeadAttention
from ..positions import RotaryPositions


class Linear(NamedTuple):
    """``matrix @ x + bias``: what one position hands over to another that looks at it with all its weight."""

    matrix: Float[Tensor, "d_model d_model"]
    bias: Float[Tensor, " d_model"]


class Bilinear(NamedTuple):
    """A score: ``query @ matrix @ key + by_query @ query + by_key @ key + constant``.

    What does not depend on the key, ``by_query`` and ``constant``, softmax does not notice.
    """

    matrix: Float[Tensor, "d_model d_model"]
    by_query: Float[Tensor, " d_model"]
    by_key: Float[Tensor, " d_model"]
    constant: Float[Tensor, ""]


def qk_circuit(attention: MultiHeadAttention, head: int, *, distance: int | None = None) -> Bilinear:
    """The score of one head as a function of the vectors that enter the attention, divided by ``sqrt(d_head)``.

    Args:
        attention: With or without biases, grouped heads, rotary positions.
        head: Number of a query head.
        distance: Position of the query minus that of the key. Rotary positions make the matrix depend on it, and then it has to
            be given; without them it makes no difference.

    Raises:
        ValueError: There is no such head, or ``distance`` is missing.
    """
    rows, shared = head_rows(attention, head)
    q, b_q = _rows_of(attention.q_proj, rows)  # (d_head, d_model), (d_head,)
    k, b_k = _rows_of(attention.k_proj, shared)
    if attention.rotary is not None:
        if distance is None:
            raise ValueError(
                "distance is missing: this attention has rotary positions, so how well a query fits a key depends on how far "
                "apart they are"
            )
        turn = _turn(attention.rotary, distance, q)  # (d_head, d_head)
        q, b_q = turn @ q, turn @ b_q
    scale = 1 / math.sqrt(attention.d_head)
    return Bilinear(q.T @ k * scale, q.T @ b_k * scale, k.T @ b_q * scale, b_q @ b_k * scale)


def ov_circuit(attention: MultiHeadAttention, head: int) -> Linear:
    """What one head adds to a position that looks at another with all its weight, as a function of that other's vector.

    The bias of ``o_proj`` belongs to no head and is left out.

    Raises:
        ValueError: There is no such head.
    """
    rows, shared = head_rows(attention, head)
    v, b_v = _rows_of(attention.v_proj, shared)  # (d_head, d_model), (d_head,)
    o = attention.o_proj.weight[:, rows]  # (d_model, d_head)
    return Linear(o @ v, o @ b_v)


def token_table(
    matrix: Float[Tensor, "d_model d_model"],
    embedding: Float[Tensor, "V_in d_model"],
    output: Float[Tensor, "V_out d_model"],
) -> Float[Tensor, "V_in V_out"]:
    """A matrix between vectors as a table between tokens: row ``i`` holds what seeing token ``i`` adds to each logit.

    Norms are not in it: fold their weights into ``embedding`` and ``output`` (multiply the columns), and read the table up to
    a factor for each row.
    """
    return embedding @ matrix.T @ output.T


def copying_score(table: Float[Tensor, "V V"]) -> float:
    """How much a table from tokens to the same tokens raises each one's own logit: 1 copies, -1 forbids, 0 does neither.

    The sum of the eigenvalues divided by the sum of their sizes. A random table is near 0.
    """
    values = torch.linalg.eigvals(table.double())
    return (values.sum().real / values.abs().sum()).item()


def composition_score(reader: Float[Tensor, "n d_model"], writer: Float[Tensor, "d_model m"]) -> float:
    """How much of what one head writes another one reads: ``|reader @ writer| / (|reader| |writer|)``, Frobenius norms.

    The writer is an OV matrix. The reader is the QK matrix of a later head for its queries (``qk.matrix.T``) or its keys
    (``qk.matrix``), or its OV matrix. Matrices that have nothing to do with one another score above 0: compare with random
    ones of the same rank.
    """
    return (torch.linalg.norm(reader @ writer) / (torch.linalg.norm(reader) * torch.linalg.norm(writer))).item()


def head_rows(attention: MultiHeadAttention, head: int) -> tuple[slice, slice]:
    """Where the features of a query head lie, and those of the key/value head that it shares."""
    if not 0 <= head < attention.num_heads:
        raise ValueError(f"head ({head}) must be 0 to {attention.num_heads - 1}")
    shared, size = head // (attention.num_heads // attention.num_kv_heads), attention.d_head
    return slice(head * size, (head + 1) * size), slice(shared * size, (shared + 1) * size)


def _rows_of(projection: nn.Linear, rows: slice) -> tuple[Tensor, Tensor]:
    weight = projection.weight[rows]
    return weight, weight.new_zeros(len(weight)) if projection.bias is None else projection.bias[rows]


def _turn(rotary: RotaryPositions, distance: int, like: Tensor) -> Tensor:
    """The matrix that turns a query as seen from a key that many positions before it."""
    units = torch.eye(rotary.d_head, dtype=like.dtype)[None, :, None]  # (1, d_head, 1, d_head): a head for each feature
    turned = rotary(units, abs(distance))[0, :, 0]  # (d_head, d_head), a row for each feature
    return turned.T if distance >= 0 else turned
