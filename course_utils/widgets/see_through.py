"""See-through attention: the cards of ``diagrams.attention_flow``, alive in the browser."""

import math
from collections.abc import Sequence
from pathlib import Path

import anywidget
import torch
import traitlets
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from torch import Tensor

from course_utils import diagrams, plotting

MODULES = Path(__file__).with_name("modules")
MAX_SIZE, MAX_HEADS = 64, 48  # tokens or features; heads


class SeeThrough(anywidget.AnyWidget):
    """The widget. All that it does happens in ``modules/see_through.js``; the kernel only hands over the numbers."""

    _esm = MODULES / "see_through.js"
    data = traitlets.Dict().tag(sync=True)

    def __init__(self, picture: Axes, **traits: object) -> None:
        super().__init__(**traits)
        self._picture = picture

    def show_first_state(self) -> None:
        """Display the same cards as an ordinary picture, for pages that are read without a browser's scripts."""
        plotting.show(self._picture)

    def __repr__(self) -> str:
        return "[interactive: see-through attention. Run this cell to point at its cells.]"


def see_through(
    query: Float[Tensor, "... L_q d_k"],
    key: Float[Tensor, "... L_k d_k"],
    value: Float[Tensor, "... L_k d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    *,
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    scaling: bool = True,
) -> SeeThrough:
    """Point at any cell of an attention and read where it comes from; drag a query and watch what follows.

    Args:
        query: Of one sequence, with an axis of heads before it if there are several (at most 48); at most 64 tokens and features.
        key: The same.
        value: The same.
        mask: True where a query may look; broadcasts to ``(H, L_q, L_k)``. A batch axis of size 1 before it is left out.
        queries: A text for each query.
        keys: A text for each key.
        scaling: Whether the scores are at first divided by the root of ``d_k``; its switch changes that.
    """
    tensors = {"query": query, "key": key, "value": value}
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
            kind = tensor.dtype if isinstance(tensor, Tensor) else type(tensor).__name__
            raise TypeError(f"{name} ({kind}) must be a tensor of floating-point numbers, such as {name}.float()")
        if tensor.dim() not in (2, 3) or not tensor.numel():
            raise ValueError(
                f"{name} has shape {tuple(tensor.shape)}; expected (L, d) or (H, L, d), with no size 0: of a batch, "
                f"hand over one sequence, {name}[0]"
            )
    q, k, v = (tensor.detach().float().reshape(-1, *tensor.shape[-2:]) for tensor in tensors.values())
    if not (len(q) == len(k) == len(v) and q.shape[2] == k.shape[2] and k.shape[1] == v.shape[1]):
        shapes = ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in tensors.items())
        raise ValueError(f"heads, features of query and key, and rows of key and value must agree: {shapes}")
    if max(q.shape[1:] + v.shape[1:]) > MAX_SIZE or len(q) > MAX_HEADS:
        raise ValueError(
            f"query has shape {tuple(query.shape)}, value {tuple(value.shape)}; at most {MAX_HEADS} heads of {MAX_SIZE} tokens "
            f"and {MAX_SIZE} features can be looked at: hand over a part"
        )
    allowed = None if mask is None else _allowed(mask, (len(q), q.shape[1], k.shape[1]))
    names = [_texts(texts, len(rows[0]), name) for texts, rows, name in ((queries, q, "queries"), (keys, k, "keys"))]
    data = {"q": _numbers(q), "k": _numbers(k), "v": _numbers(v), "mask": None if allowed is None else allowed.tolist()}
    if not scaling:
        data["scaling"] = False
    shown = {"queries": names[0], "keys": names[1], "scale": None if scaling else 1.0}
    picture = diagrams.attention_flow(q[0], k[0], v[0], None if allowed is None else allowed[0], **shown)
    return SeeThrough(picture, data=data | {"queries": names[0], "keys": names[1]})


def _allowed(mask: Tensor, shape: tuple[int, int, int]) -> Tensor:
    """(H, L_q, L_k), or (1, L_q, L_k) if it is the same for all heads."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(f"mask has dtype {kind}; expected torch.bool, True where attention is allowed")
    inner = mask[0] if mask.dim() == 4 and len(mask) == 1 else mask
    heads, *matrix = (1,) * (3 - inner.dim()) + tuple(inner.shape)
    if (
        inner.dim() > 3
        or heads not in (1, shape[0])
        or any(n not in (1, m) for n, m in zip(matrix, shape[1:], strict=True))
    ):
        raise ValueError(f"mask has shape {tuple(mask.shape)}; it must broadcast to (H, L_q, L_k) = {shape}")
    return inner.expand(heads, *shape[1:])


def _texts(texts: Sequence[str] | None, count: int, name: str) -> list[str]:
    if texts is None:
        return [str(place) for place in range(count)]
    if len(texts) != count:
        raise ValueError(f"{name} has {len(texts)} texts; expected one for each of the {count} tokens")
    return [str(text) for text in texts]


def _numbers(tensor: Tensor) -> list:
    """Nested lists; what JSON cannot say becomes a text."""

    def in_json(part: list | float) -> list | float | str:
        if isinstance(part, list):
            return [in_json(inner) for inner in part]
        return part if math.isfinite(part) else "NaN" if math.isnan(part) else "Infinity" if part > 0 else "-Infinity"

    return in_json(tensor.tolist())
