"""What one step of decoding leaves to the next.

Shape letters: ``B`` batch, ``H`` heads, ``L_s`` source positions, ``length`` target positions so far.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ..kv_cache import KVCache


@dataclass
class DecodingState:
    """What one step of decoding leaves to the next. Made by ``Transformer.start_decoding``.

    Args:
        max_len: Target positions there is room for.
        caches: Keys and values of the target so far, one cache a layer.
        memory_kv: Projected keys and values of the source, a pair a layer, each ``(B, H, L_s, d_head)``.
        memory_mask: Which source positions may be seen; None: all.
        rows: Which sequence of the source each row of the batch belongs to.
        tokens: What has been fed so far.
    """

    max_len: int
    caches: list[KVCache]
    memory_kv: list[tuple[Tensor, Tensor]]
    memory_mask: Bool[Tensor, "B 1 1 L_s"] | None
    rows: Int[Tensor, " B"]
    tokens: Int[Tensor, "B length"]

    @property
    def length(self) -> int:
        """Target positions so far."""
        return self.tokens.shape[1]

    def reorder(self, rows: Int[Tensor, " B_new"]) -> "DecodingState":
        """Go on with these rows of the batch: row ``i`` becomes what row ``rows[i]`` was.

        A row may be named several times, and there may be more or fewer rows than before: beam search copies a row for each
        way it goes on. The state itself is changed, and handed back.
        """
        self.caches = [cache.reorder(rows) for cache in self.caches]
        sources = self.rows[rows]
        if not torch.equal(sources, self.rows):  # beams of one source change places: their memory is the same
            self.memory_kv = [(k[rows], v[rows]) for k, v in self.memory_kv]
            self.memory_mask = None if self.memory_mask is None else self.memory_mask[rows]
        self.rows, self.tokens = sources, self.tokens[rows]
        return self
