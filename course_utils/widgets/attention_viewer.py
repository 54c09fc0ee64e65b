"""Every layer and head of a model on one sequence, alive in the browser."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import anywidget
import torch
import traitlets
from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from course_utils import plotting

MODULE = Path(__file__).with_name("modules") / "attention_viewer.js"
MAX_WEIGHTS = 4_000_000
ONE, NOT_A_NUMBER = 65_534, 65_535  # a weight of 1 and NaN, as they are sent


class Attentions(NamedTuple):
    """The weights of one kind of attention in all layers, and the tokens on its two sides.

    Args:
        weights: ``(layers, H, L_q, L_k)``, or without layers, or without both.
        queries: A text for each query.
        keys: A text for each key.
    """

    weights: Float[Tensor, "..."]
    queries: Sequence[str]
    keys: Sequence[str]


class AttentionViewer(anywidget.AnyWidget):
    """The widget. All that it does happens in ``modules/attention_viewer.js``; the kernel only hands over the numbers."""

    _esm = MODULE
    groups = traitlets.List().tag(sync=True)
    weights = traitlets.Bytes().tag(sync=True)

    def __init__(self, picture: Axes, **traits: object) -> None:
        super().__init__(**traits)
        self._picture = picture

    def show_first_state(self, alt: str) -> None:
        """Display the first head as an ordinary picture, for pages that are read without a browser's scripts."""
        plotting.show(self._picture, alt)

    def __repr__(self) -> str:
        return "[interactive: attention of every layer and head. Run this cell to look at them.]"


def attention_viewer(attentions: Mapping[str, Attentions | tuple]) -> AttentionViewer:
    """Choose a layer and a head, point at a token, and see where it looks; several kinds of attention side by side.

    Args:
        attentions: Name, such as ``"encoder"`` or ``"cross"``, -> weights, queries and keys.

    Example:
        >>> weights = torch.full((2, 4, 3, 3), 1 / 3)
        >>> attention_viewer({"self": (weights, ["a", "b", "c"], ["a", "b", "c"])})
        [interactive: attention of every layer and head. Run this cell to look at them.]
    """
    if not attentions:
        raise ValueError("attentions is empty: give at least one kind of attention, by name")
    groups, numbers, offset, first_head = [], [], 0, None
    for name, attention in attentions.items():
        if not isinstance(attention, tuple) or len(attention) != 3:
            raise TypeError(
                f"attentions[{name!r}] ({type(attention).__name__}) must be a tuple of weights, queries and keys"
            )
        weights, queries, keys = attention
        if not isinstance(weights, Tensor):
            raise TypeError(f"the weights of attentions[{name!r}] ({type(weights).__name__}) must be a tensor")
        if weights.dim() not in (2, 3, 4) or not weights.numel():
            raise ValueError(
                f"attentions[{name!r}] has weights of shape {tuple(weights.shape)}; expected (layers, H, L_q, L_k) with no "
                "size 0: of a batch, hand over one sequence, weights[:, 0]"
            )
        layers = weights.detach().float().reshape(*(1,) * (4 - weights.dim()), *weights.shape)  # (layers, H, L_q, L_k)
        if (len(queries), len(keys)) != tuple(layers.shape[2:]):
            raise ValueError(
                f"attentions[{name!r}] has {len(queries)} queries and {len(keys)} keys; its weights, of shape "
                f"{tuple(weights.shape)}, need {layers.shape[2]} and {layers.shape[3]}"
            )
        if bool((layers < 0).any()) or bool((layers > 1.001).any()):
            extent = f"{layers.nan_to_num(0.5).min():.4g} to {layers.nan_to_num(0.5).max():.4g}"
            raise ValueError(
                f"attentions[{name!r}] has weights from {extent}; expected 0 to 1: hand over weights, not scores"
            )
        sizes = {"layers": layers.shape[0], "heads": layers.shape[1], "offset": offset}
        groups.append({"name": str(name), "queries": list(map(str, queries)), "keys": list(map(str, keys))} | sizes)
        whole = (layers.clamp(0, 1) * ONE).round().nan_to_num(NOT_A_NUMBER)
        numbers.append(whole.flatten().int().cpu())
        offset += layers.numel()
        first_head = layers[0, 0] if first_head is None else first_head
    if offset > MAX_WEIGHTS:
        raise ValueError(
            f"{offset:,} weights are too many to look at ({MAX_WEIGHTS:,} at most): hand over fewer tokens or layers"
        )
    first = groups[0]
    ax = plotting.attention_heatmap(
        first_head, first["queries"], first["keys"], title=f"{first['name']}, layer 0, head 0"
    )
    return AttentionViewer(ax, groups=groups, weights=torch.cat(numbers).numpy().astype("<u2").tobytes())
