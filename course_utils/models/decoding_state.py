"""What one step of decoding leaves to the next.

Shape letters: ``B`` batch, ``H`` heads, ``L_s`` source positions, ``length`` target positions so far.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..kv_cache import KVCache


@dataclass
class DecodingState:
    """What one step of decoding leaves to the next. Made by ``Transformer.start_decoding``.

    Args:
        max_len: Target positions there is room for.
        caches: Keys and values of the target so far, one cache a layer.
        memory_kv: Projected keys and values of the source, a pair a layer, each ``(B, H, L_s, d_head)``.
        memory_mask: Which source positions may be seen, ``(B, 1, 1, L_s)``; None: all.
        rows: Which sequence of the source each row of the batch belongs to, ``(B,)``.
        tokens: What has been fed so far, ``(B, length)``.
        cross_weights: For each step the weights over the source, ``(num_layers, B, H, L_s)``; None: not kept.
    """

    max_len: int
    caches: list[KVCache]
    memory_kv: list[tuple[Tensor, Tensor]]
    memory_mask: Bool[Tensor, "B 1 1 L_s"] | None
    rows: Int[Tensor, " B"]
    tokens: Int[Tensor, "B length"]
    cross_weights: list[Float[Tensor, "num_layers B H L_s"]] | None

    @property
    def length(self) -> int:
        """Target positions so far."""
        return self.tokens.shape[1]

    def reorder(self, indices: Int[Tensor, " B_new"]) -> None:
        """Go on with these rows of the batch: row ``i`` becomes what row ``indices[i]`` was.

        Indices may repeat and may be more or fewer than the rows: beam search copies a row for each way it goes on.

        Args:
            indices: Shape ``(B_new,)``.

        Raises:
            ValueError: ``indices`` does not have one dimension, is empty, or names a row that there is not.
        """
        batch = len(self.tokens)
        if indices.dim() != 1 or len(indices) == 0 or indices.min() < 0 or indices.max() >= batch:
            raise ValueError(f"indices ({indices.tolist()}) must be a list of rows, each from 0 to {batch - 1}")
        for layer, (cache, (k, v)) in enumerate(zip(self.caches, self.memory_kv, strict=True)):
            keys, values = cache.update(k[:, :, :0], v[:, :, :0])  # nothing new: what is there, (B, H, length, d_head)
            heads, d_head = k.shape[1], k.shape[3]
            self.caches[layer] = KVCache(len(indices), heads, self.max_len, d_head, dtype=k.dtype, device=k.device)
            self.caches[layer].update(keys[indices], values[indices])
        rows = self.rows[indices]
        if not torch.equal(rows, self.rows):  # beams of one sentence change places: their memory is the same
            self.memory_kv = [(k[indices], v[indices]) for k, v in self.memory_kv]
            self.memory_mask = None if self.memory_mask is None else self.memory_mask[indices]
        self.rows, self.tokens = rows, self.tokens[indices]
        if self.cross_weights is not None:
            self.cross_weights = [weights[:, indices] for weights in self.cross_weights]
