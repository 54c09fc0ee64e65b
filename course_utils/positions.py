"""Positions: what tells attention where a token stands. Sinusoidal, learned, rotary (RoPE), linear biases (ALiBi).

The first two are added to the embeddings; RoPE turns queries and keys; ALiBi is added to the scores. Shape letters: ``*B``
leading (batch, head) dimensions, ``L`` positions, ``H`` heads, ``d_model`` and ``d_head`` sizes of a vector, ``d_half`` half
of it.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from .arguments import require_same, require_shape, require_sizes


def rotary_angles(
    positions: Int[Tensor, " L"] | Float[Tensor, " L"], d: int, *, base: float = 10000.0
) -> Float[Tensor, "L d_half"]:
    """The angle of each pair of features at each position, in radians: ``position * base ** (-2 i / d)`` for pair ``i``.

    Sinusoidal positions take sine and cosine of these angles, RoPE turns by them. They come in float64: in float32 the
    angle of position 10,000 is off by up to 5e-4.

    Args:
        positions: They may be negative, or fractions.
        d: Size of the vectors, even: ``d_model`` for sinusoidal positions, ``d_head`` for RoPE.
        base: Pair ``i`` comes round once in ``2 pi base ** (2 i / d)`` positions.

    Source:
        Vaswani et al., "Attention Is All You Need", 2017, section 3.5; Su et al., "RoFormer: Enhanced Transformer with
        Rotary Position Embedding", 2021, section 3.2.2.

    Example:
        >>> rotary_angles(torch.tensor([0, 1, 2]), 4)
        tensor([[0.0000, 0.0000],
                [1.0000, 0.0100],
                [2.0000, 0.0200]], dtype=torch.float64)
    """
    require_shape("positions", positions, "L")
    _require_even("d", d)
    if not base > 0:
        raise ValueError(f"base ({base}) must be positive")
    pair = torch.arange(0, d, 2, dtype=torch.float64, device=positions.device)  # (d / 2,): 0, 2, 4 ...
    return positions[:, None] * base ** (-pair / d)  # (L, d / 2)


class SinusoidalPositions(nn.Module):
    """Adds fixed sines and cosines: in pair ``i``, ``sin(angle)`` in column ``2 i`` and ``cos(angle)`` in ``2 i + 1``.

    ``.table``, shape ``(max_len, d_model)``, holds them; row 0 is position 0. It is not saved with the weights. ``d_model``
    must be even, and there is room for no more than ``max_len`` positions.

    Source:
        Vaswani et al., "Attention Is All You Need", 2017, section 3.5.
    """

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        _require_even("d_model", d_model)
        require_sizes(max_len=max_len)
        angles = rotary_angles(torch.arange(max_len), d_model)  # (max_len, d_model / 2)
        table = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)  # (max_len, d_model)
        self.register_buffer("table", table.to(torch.get_default_dtype()), persistent=False)

    def forward(self, x: Float[Tensor, "B L d_model"], start: int = 0) -> Float[Tensor, "B L d_model"]:
        """Add ``table[start : start + L]``. With a cache, ``start`` is the number of positions that came before."""
        return x + _rows(self.table, x, start)  # (B, L, d_model)


class LearnedPositions(nn.Module):
    """Adds a vector for each position that is learned like any weight: ``.table``, shape ``(max_len, d_model)``.

    There is room for ``max_len`` positions, but one that training never saw has learned nothing.

    Source:
        Gehring et al., "Convolutional Sequence to Sequence Learning", 2017, section 3.1; starting values as in BERT, GPT-2.
    """

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        require_sizes(d_model=d_model, max_len=max_len)
        self.table = nn.Parameter(torch.empty(max_len, d_model).normal_(std=0.02))

    def forward(self, x: Float[Tensor, "B L d_model"], start: int = 0) -> Float[Tensor, "B L d_model"]:
        """Add to each vector what belongs to its position, as ``SinusoidalPositions.forward`` does."""
        return x + _rows(self.table, x, start)  # (B, L, d_model)


def shift_matrix(delta: float, d_model: int) -> Float[Tensor, "d_model d_model"]:
    """The matrix that moves sinusoidal positions by ``delta``: ``p(pos + delta) = M p(pos)``, whatever ``pos`` is.

    Each pair of features is turned by its own angle, so ``M`` is made of 2 x 2 rotations along the diagonal. For rows of a
    table, ``table[pos + delta] = table[pos] @ M.T``. ``delta`` may be negative. ``M`` has the default dtype.

    Source:
        Vaswani et al., "Attention Is All You Need", 2017, section 3.5.
    """
    _require_even("d_model", d_model)
    (angles,) = rotary_angles(torch.tensor([float(delta)]), d_model)  # (d_model / 2,)
    cos, sin = angles.cos(), angles.sin()
    # sin(a + b) = cos(b) sin(a) + sin(b) cos(a);  cos(a + b) = -sin(b) sin(a) + cos(b) cos(a)
    blocks = torch.stack((cos, sin, -sin, cos), dim=-1).view(-1, 2, 2)  # (d_model / 2, 2, 2)
    return torch.block_diag(*blocks).to(torch.get_default_dtype())  # (d_model, d_model)


def apply_rope(
    x: Float[Tensor, "*B L d_head"], cos: Float[Tensor, "L d_half"], sin: Float[Tensor, "L d_half"]
) -> Float[Tensor, "*B L d_head"]:
    """Turn each pair of features ``(i, i + d_head / 2)`` of queries or keys (never values) by the angle of its position.

    The paper pairs neighbors, ``(2 i, 2 i + 1)``; Hugging Face's code and its Llama weights pair the two halves, as here.
    One is the other with the features of queries and keys in another order, which scores do not notice. But weights trained
    with one are wrong under the other.

    ``cos`` and ``sin`` are those of ``rotary_angles(positions, d_head)``. The result has the dtype of ``x``.

    Source:
        Su et al., "RoFormer", 2021, section 3.2.2, equations 14 and 15.

    Example:
        >>> quarter = torch.tensor([[torch.pi / 2]])
        >>> apply_rope(torch.tensor([[1.0, 2.0]]), quarter.cos(), quarter.sin())
        tensor([[-2.0000,  1.0000]])
    """
    _require_even("d_head", x.shape[-1])
    expected = (x.shape[-2], x.shape[-1] // 2)
    require_same(cos.shape, expected, "cos has shape {}; expected (L, d_head / 2) = {}")
    require_same(sin.shape, expected, "sin has shape {}; expected (L, d_head / 2) = {}")
    return _turned(x, *(table.to(x.dtype) for table in _for_both_halves(cos, sin)))  # (*B, L, d_head)


class RotaryPositions(nn.Module):
    """Rotary positions (RoPE): turns queries and keys, so that a score depends on their distance only.

    ``base`` is that of ``rotary_angles``; models for long texts have a larger one. There is room for ``max_len`` positions.

    Source:
        Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021, section 3.2.
    """

    def __init__(self, d_head: int, *, base: float = 10000.0, max_len: int = 2048) -> None:
        super().__init__()
        _require_even("d_head", d_head)
        require_sizes(max_len=max_len)
        self.d_head, self.max_len = d_head, max_len
        angles = rotary_angles(torch.arange(max_len), d_head, base=base)  # (max_len, d_head / 2)
        for name, table in zip(("cos", "sin"), _for_both_halves(angles.cos(), angles.sin()), strict=True):
            self.register_buffer(name, table.to(torch.get_default_dtype()), persistent=False)  # (max_len, d_head)

    def forward(self, x: Float[Tensor, "B H L d_head"], start: int = 0) -> Float[Tensor, "B H L d_head"]:
        """Turn queries or keys to positions ``start`` to ``start + L - 1``."""
        require_shape("x", x, "B H L d_head", d_head=self.d_head)
        rows = _room(start, x.shape[2], self.max_len)
        return _turned(x, self.cos[rows].to(x.dtype), self.sin[rows].to(x.dtype))  # (B, H, L, d_head)


def alibi_slopes(num_heads: int) -> Float[Tensor, " H"]:
    """How fast each head's interest falls with the distance: ``2 ** (-8 h / H)`` for head ``h`` = 1 ... H.

    If H is not a power of two: the slopes of the next lower power, then every second one of the next higher power.

    Source:
        Press et al., "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation", 2022,
        section 3; if H is not a power of two, the code published with it.

    Example:
        >>> alibi_slopes(4)
        tensor([0.2500, 0.0625, 0.0156, 0.0039])
    """
    require_sizes(num_heads=num_heads)
    power = 2 ** (num_heads.bit_length() - 1)  # the largest power of two that is not above num_heads
    slopes = [2 ** (-8 * h / power) for h in range(1, power + 1)]
    between = [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1, 2)]
    return torch.tensor(slopes + between[: num_heads - power])  # (H,)


def alibi_bias(
    num_heads: int, L_q: int, L_k: int | None = None, *, device: torch.device | str | None = None
) -> Float[Tensor, "1 H L_q L_k"]:
    """Linear biases (ALiBi): minus slope times distance, to be added to the scaled scores (``score_bias=``).

    The queries are the last ``L_q`` of the ``L_k`` positions, as in ``causal_mask``. Distances have no sign: keys in the
    future (which a causal mask hides) are pushed down as far as those in the past. ``L_k`` None: as many keys as queries.

    Source:
        Press et al., 2022, section 3.
    """
    L_k = L_q if L_k is None else L_k
    require_sizes(L_q=L_q)
    if L_k < L_q:
        raise ValueError(f"L_k ({L_k}) is below L_q ({L_q}): the keys must hold every position up to the last query's")
    query_positions = torch.arange(L_k - L_q, L_k, device=device)  # (L_q,)
    distance = (query_positions[:, None] - torch.arange(L_k, device=device)).abs()  # (L_q, L_k)
    return -alibi_slopes(num_heads).to(device)[None, :, None, None] * distance  # (1, H, L_q, L_k)


def _for_both_halves(cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    """Tables of half the features -> of all, the sines with the sign that each half needs: each ``(L, d_head)``."""
    return torch.cat((cos, cos), dim=-1), torch.cat((-sin, sin), dim=-1)


def _turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    # (first * cos - second * sin, second * cos + first * sin), with the halves exchanged by a roll: three passes over x
    return torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, dims=-1), sin)  # (*B, L, d_head)


def _rows(table: Tensor, x: Tensor, start: int) -> Tensor:
    require_shape("x", x, "B L d_model", d_model=table.shape[1])
    return table[_room(start, x.shape[1], table.shape[0])]  # (L, d_model)


def _room(start: int, length: int, max_len: int) -> slice:
    if start < 0:
        raise ValueError(f"start ({start}) must not be negative")
    if start + length > max_len:
        raise ValueError(
            f"positions {start} to {start + length - 1} pass max_len ({max_len}): build with max_len={start + length} or more"
        )
    return slice(start, start + length)


def _require_even(name: str, size: int) -> None:
    if size < 2 or size % 2:
        raise ValueError(f"{name} ({size}) must be even and at least 2: features come in pairs, one angle a pair")
