"""Attention masks. One convention: boolean, **True in row i and column j means query i may attend to key j**.

Every mask broadcasts to ``(B, H, L_q, L_k)``, the shape of the scores. A causal or sliding mask with ``L_q < L_k`` is
aligned bottom-right: the last query stands at the last key, as it does when earlier keys come from a cache.
"""

import functools

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from .arguments import require_same, require_shape


def padding_mask(tokens: Int[Tensor, "B L_k"], pad_id: int) -> Bool[Tensor, "B 1 1 L_k"]:
    """Hide padding: every query may attend to every key whose id in ``tokens`` is not ``pad_id``.

    Example:
        >>> padding_mask(torch.tensor([[5, 7, 0]]), pad_id=0).tolist()
        [[[[True, True, False]]]]
    """
    require_shape("tokens", tokens, "B L_k")
    if tokens.is_floating_point() or tokens.dtype == torch.bool:
        raise TypeError(f"tokens has dtype {tokens.dtype}; expected token ids, whole numbers")
    return (tokens != pad_id)[:, None, None, :]  # (B, 1, 1, L_k)


def causal_mask(
    L_q: int, L_k: int | None = None, *, device: torch.device | str | None = None
) -> Bool[Tensor, "1 1 L_q L_k"]:
    """Hide the future: query ``i`` may attend to key ``j`` if ``j <= i + (L_k - L_q)``.

    The queries are the last ``L_q`` of the ``L_k`` positions, so ``L_k`` is at least ``L_q``; None: as many keys as
    queries.

    Source:
        Vaswani et al., "Attention Is All You Need", 2017, section 3.2.3.

    Example:
        >>> causal_mask(2, 3)[0, 0].tolist()
        [[True, True, False], [True, True, True]]
    """
    return (_distance(L_q, L_k, device) >= 0)[None, None]  # (1, 1, L_q, L_k)


def sliding_window_mask(
    L_q: int, L_k: int | None = None, *, window: int, device: torch.device | str | None = None
) -> Bool[Tensor, "1 1 L_q L_k"]:
    """Causal, and no further back than ``window`` positions, one's own included.

    With ``window=1`` a query sees only itself. ``L_q`` and ``L_k`` are as in ``causal_mask``.

    Source:
        Beltagy et al., "Longformer: The Long-Document Transformer", 2020, section 3.1; causal as in Jiang et al., "Mistral
        7B", 2023, section 2.
    """
    if window < 1:
        raise ValueError(
            f"window ({window}) must be at least 1: a query that sees nothing, not even itself, is of no use"
        )
    distance = _distance(L_q, L_k, device)  # (L_q, L_k)
    return ((distance >= 0) & (distance < window))[None, None]  # (1, 1, L_q, L_k)


def combine_masks(*masks: Bool[Tensor, "..."] | None) -> Bool[Tensor, "..."] | None:
    """What all the masks allow: the logical AND of those that are not None, or None if there is none."""
    present = [mask for mask in masks if mask is not None]
    for mask in present:
        require_boolean(mask)
    try:
        return functools.reduce(torch.logical_and, present) if present else None
    except RuntimeError:
        shapes = ", ".join(str(tuple(mask.shape)) for mask in present)
        raise ValueError(
            f"masks of shapes {shapes} do not broadcast together; expected (B, H, L_q, L_k) or 1s"
        ) from None


class AttentionMask:
    """Which keys each query may attend to, worked out once and handed to every layer of a model as ``mask=``.

    PyTorch's fused kernel wants more than a boolean mask says: whether it is causal and nothing else (then no mask is
    needed at all), and no row in which everything is hidden (what it gives there differs from release to release). Finding
    that out takes longer than the attention itself where sequences are short, so a model does it once, not in every layer.

    Args:
        allowed: Boolean, True = may attend; None: everything may be seen, but for ``is_causal``.
        is_causal: Instead of ``allowed``: the future is hidden, queries and keys being the same positions.
    """

    def __init__(self, allowed: Bool[Tensor, "..."] | None = None, *, is_causal: bool = False) -> None:
        if allowed is not None:
            require_boolean(allowed)
            if is_causal:
                raise ValueError(
                    "allowed and is_causal are both given; combine_masks(allowed, causal_mask(L)) is one mask"
                )
        self.allowed, self.is_causal, self._fused = allowed, is_causal, None

    @classmethod
    def of(cls, mask: "Bool[Tensor, '...'] | AttentionMask | None") -> "AttentionMask":
        """A mask as it comes, worked out already or not."""
        return mask if isinstance(mask, cls) else cls(mask)

    def explicit(self, L_q: int, L_k: int, device: torch.device | str | None = None) -> Bool[Tensor, "..."] | None:
        """As a boolean mask, or None where nothing is hidden."""
        if not self.is_causal:
            return self.allowed
        require_same(L_k, L_q, "is_causal hides the future of {} keys from {} queries; use causal_mask")
        return causal_mask(L_q, L_k, device=device)

    def fused(self) -> tuple[Bool[Tensor, "..."] | None, Bool[Tensor, "..."] | None]:
        """For the kernel: the mask, in which a row that hides everything hides nothing, and which rows were like that.

        Either is None where there is nothing to do. Such rows are to be zeroed afterwards, which zeroes their gradients too.
        """
        if self._fused is None:
            self._fused = (None, None)
            if self.allowed is not None and not self.allowed.all():
                allowed = torch.atleast_2d(self.allowed)
                empty = ~allowed.any(dim=-1, keepdim=True)  # (..., L_q, 1)
                self._fused = (allowed | empty, empty) if empty.any() else (allowed, None)
        return self._fused


def require_boolean(mask: Tensor) -> None:
    """Raise ``TypeError`` if a mask is not boolean, and say how to convert it."""
    if mask.dtype != torch.bool:
        raise TypeError(
            f"mask has dtype {mask.dtype}; expected torch.bool with True = may attend. Convert a 0/1 mask with "
            "mask.bool(), an additive one with mask == 0"
        )


def _distance(L_q: int, L_k: int | None, device: torch.device | str | None) -> Int[Tensor, "L_q L_k"]:
    """How far key j lies behind query i; negative: in the future."""
    L_k = L_q if L_k is None else L_k
    if L_q < 1 or L_k < 1:
        raise ValueError(f"L_q ({L_q}) and L_k ({L_k}) must be at least 1")
    if L_k < L_q:
        raise ValueError(
            f"L_k ({L_k}) is below L_q ({L_q}): the first {L_q - L_k} queries would see nothing. "
            "The keys must hold every position up to that of the last query"
        )
    query_positions = torch.arange(L_k - L_q, L_k, device=device)  # (L_q,)
    return query_positions[:, None] - torch.arange(L_k, device=device)  # (L_q, L_k)
