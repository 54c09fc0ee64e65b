"""The key/value cache: what earlier steps of generation have computed, kept so that no step computes it again.

``KVCache`` keeps all, ``WindowCache`` the latest positions and, if wanted, the first ones. Shape letters: ``B`` batch, ``H_kv``
key/value heads, ``L_new`` new positions, ``L_k`` those that are handed back, ``d_head`` size of a head.
"""

import copy

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .arguments import require_same, require_sizes


class KVCache:
    """Keys and values of one attention layer, written once, read at every later step.

    Room for ``max_len`` positions is set aside at once: a step writes its own positions and copies nothing. In
    grouped-query attention ``num_kv_heads`` is smaller than the number of query heads. ``dtype`` None: the default dtype.

    Source:
        Shazeer, "Fast Transformer Decoding: One Write-Head is All You Need", 2019, section 2.4: incremental decoding.
    """

    def __init__(
        self,
        batch_size: int,
        num_kv_heads: int,
        max_len: int,
        d_head: int,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        require_sizes(batch_size=batch_size, num_kv_heads=num_kv_heads, max_len=max_len, d_head=d_head)
        shape = (batch_size, num_kv_heads, max_len, d_head)
        self._keys = torch.zeros(shape, dtype=dtype, device=device)
        self._values = torch.zeros(shape, dtype=dtype, device=device)
        self.length = 0

    @property
    def max_len(self) -> int:
        """Positions there is room for."""
        return self._keys.shape[2]

    @property
    def num_bytes(self) -> int:
        """Memory set aside: 2 (keys and values) x B x H_kv x max_len x d_head x bytes per number."""
        return 2 * self._keys.numel() * self._keys.element_size()

    def update(
        self, key: Float[Tensor, "B H_kv L_new d_head"], value: Float[Tensor, "B H_kv L_new d_head"]
    ) -> tuple[Float[Tensor, "B H_kv L_k d_head"], Float[Tensor, "B H_kv L_k d_head"]]:
        """Append the keys and values of new positions; hand back all so far, as views, and nothing of the unwritten rest.

        Raises:
            ValueError: There is no room left; shape, dtype or device differ from the cache's; or gradients would be lost.
        """
        self._require_fitting(key, value)
        room = self.max_len
        end = self.length + key.shape[2]
        if end > room:
            raise ValueError(
                f"cache overflow: {self.length} of {room} positions are written and {key.shape[2]} more do not fit; "
                f"build the cache with max_len={end} or more"
            )
        self._keys[:, :, self.length : end] = key
        self._values[:, :, self.length : end] = value
        self.length = end
        return self._keys[:, :, :end], self._values[:, :, :end]

    def _require_fitting(self, key: Tensor, value: Tensor) -> None:
        batch, heads, _, size = self._keys.shape
        for name, tensor in (("key", key), ("value", value)):
            if tensor.dim() != 4 or (*tensor.shape[:2], tensor.shape[3]) != (batch, heads, size):
                raise ValueError(
                    f"{name} has shape {tuple(tensor.shape)}; this cache takes ({batch}, {heads}, L_new, {size})"
                )
            if (tensor.dtype, tensor.device) != (self._keys.dtype, self._keys.device):
                raise ValueError(
                    f"{name} is {tensor.dtype} on {tensor.device}; this cache holds {self._keys.dtype} on "
                    f"{self._keys.device}: build it with that dtype= and device="
                )
            if tensor.requires_grad:
                raise ValueError(
                    f"{name} requires grad, and a cache keeps no gradients: generate under torch.no_grad()"
                )
        require_same(key.shape, value.shape, "key has shape {}, value {}; they must agree")

    def reorder(self, rows: Int[Tensor, " B_new"]) -> "KVCache":
        """A cache that holds the sequences ``rows`` of this one, in that order; one may be taken several times.

        Beam search goes on with the best of them.
        """
        batch, heads, room, size = self._keys.shape
        if rows.dim() != 1 or len(rows) == 0 or rows.min() < 0 or rows.max() >= batch:
            raise ValueError(f"rows ({rows.tolist()}) must be a list of sequences, each from 0 to {batch - 1}")
        chosen = copy.copy(self)
        chosen._keys, chosen._values = self._keys[rows], self._values[rows]
        return chosen


class WindowCache(KVCache):
    """Keys and values of the latest ``window`` positions, and of the first ``sinks``, however long the text gets.

    Keys are kept as they were projected: with rotary positions the attention turns each to its place *among those that are
    kept*, at every reading. So no distance is larger than the cache, and the sinks always stand just before the window. (Without
    sinks, and with positions that only say a distance, this is attention under ``sliding_window_mask``.)

    Source:
        Jiang et al., "Mistral 7B", 2023, section 2 (a cache of fixed size); Xiao et al., "Efficient Streaming Language Models
        with Attention Sinks", 2023, section 3.2 (sinks, and positions within the cache).
    """

    def __init__(
        self, batch_size: int, num_kv_heads: int, window: int, d_head: int, *, sinks: int = 0, **options: object
    ) -> None:
        require_sizes(window=window)
        if sinks < 0:
            raise ValueError(f"sinks ({sinks}) must be at least 0")
        super().__init__(batch_size, num_kv_heads, sinks + window, d_head, **options)
        self.sinks = sinks

    def update(
        self, key: Float[Tensor, "B H_kv L_new d_head"], value: Float[Tensor, "B H_kv L_new d_head"]
    ) -> tuple[Float[Tensor, "B H_kv L_k d_head"], Float[Tensor, "B H_kv L_k d_head"]]:
        """Append new positions; where there is no room the oldest of the window goes. Hand back all that are kept.

        Raises:
            ValueError: As for ``KVCache``; or several positions come at once and would push others out, which each of them
                would have to see differently.
        """
        self._require_fitting(key, value)
        new = key.shape[2]
        if self.length + new > self.max_len and new > 1:
            raise ValueError(
                f"{new} positions at once do not fit beside {self.length} in a cache of {self.max_len}: feed those that are "
                "over one at a time, since each sees another window"
            )
        if self.length == self.max_len:
            for kept in (self._keys, self._values):
                kept[:, :, self.sinks : -1] = kept[:, :, self.sinks + 1 :].clone()
            self.length -= 1
        return super().update(key, value)
