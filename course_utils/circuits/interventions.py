"""Interventions: take heads out of a model while it runs, put something else in their place, cut the path between two of them.

Weights are not effects: a head with a sharp picture may carry nothing that anything reads. What its removal does to the loss
tells. Shape letters: ``B`` batch, ``L`` positions.

Source:
    Olsson et al., "In-context Learning and Induction Heads", 2022 (heads removed, by zeros and by patterns); Wang et al.,
    "Interpretability in the Wild", 2022, section 3.1 (by means, and single paths between heads).
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..multi_head import MultiHeadAttention
from .matrices import head_rows

Head = tuple[str, int]
_CUT: set[tuple[int, int]] = set()  # projections and rows whose stream is another one at present


@contextlib.contextmanager
def replaced_heads(model: nn.Module, outputs: Mapping[Head, Float[Tensor, "..."] | float | str]) -> Iterator[None]:
    """While the block runs, put something else in the place of what some heads hand on.

    Args:
        model: Any that is built of ``MultiHeadAttention``, with gradients or without.
        outputs: For each head a number (0 removes it), ``"mean"`` (at every position its own mean over batch and positions, so
            that it still adds what it always adds), or a tensor that broadcasts to ``(B, L, d_head)``, such as what the same
            head did with other tokens.

    Raises:
        ValueError: There is no such attention or head, or what is to be put there is none of these.

    Example:
        >>> layer = MultiHeadAttention(8, 2)
        >>> with replaced_heads(nn.Sequential(layer), {("0", 0): 0.0, ("0", 1): 0.0}):
        ...     torch.equal(layer(torch.ones(1, 3, 8)), layer.o_proj.bias.expand(1, 3, 8))
        True
    """
    for what in outputs.values():
        if isinstance(what, str) and what != "mean":
            raise ValueError(f"outputs holds {what!r}; expected a number, a tensor or 'mean'")
    with contextlib.ExitStack() as hooks:
        for (name, head), what in outputs.items():
            attention = attention_of(model, name)
            rows, _ = head_rows(attention, head)
            hooks.callback(attention.o_proj.register_forward_pre_hook(_replacing(rows, what)).remove)
        yield


@contextlib.contextmanager
def cut_path(model: nn.Module, writers: Head | Sequence[Head], reader: Head, into: str) -> Iterator[None]:
    """While the block runs, hide from one input of a head what one or several earlier heads wrote to the stream.

    Everything else still sees it: the reader's other inputs, the other heads, the output. The reader's input is the norm of the
    stream without the writers' parts, so only the *direct* path is cut, not what goes by way of sublayers in between.

    Args:
        model: A pre-norm model; all heads are of self-attentions of the same stack.
        writers: The earlier head, or several that are hidden together.
        reader: The later one.
        into: ``"q"``, ``"k"`` or ``"v"`` of the reader. With grouped heads, all readers of that key/value head are concerned.

    Raises:
        ValueError: There is no such head, the order is wrong, ``into`` is none of the three, a path into the same input is cut
            already, or the model is post-norm, whose norms stand in the stream itself.
    """
    if into not in ("q", "k", "v"):
        raise ValueError(f"into ({into!r}) must be 'q', 'k' or 'v'")
    several = [writers] if isinstance(writers[0], str) else list(writers)
    target = attention_of(model, reader[0])
    layer_name, _, kind = reader[0].rpartition(".")
    layer = model.get_submodule(layer_name)
    written_by = []
    for name, head in several:
        attention = attention_of(model, name)
        written_by.append((attention, head_rows(attention, head)[0]))
        _require_earlier(name, reader[0])
    if kind != "self_attention":
        raise ValueError(f"reader ({reader[0]}) must be a self-attention: one stream runs through all of them")
    if not getattr(layer, "pre_norm", True):
        raise ValueError(
            "the model is post-norm: its norms stand in the stream, so nothing in it is a sum of what heads wrote"
        )
    query_rows, shared_rows = head_rows(target, reader[1])
    rows = query_rows if into == "q" else shared_rows
    projection: nn.Linear = getattr(target, f"{into}_proj")
    if (cut := (id(projection), rows.start)) in _CUT:
        raise ValueError(
            f"a path into {into!r} of {reader} is cut already: hand over all writers at once, cut_path(model, [...], ...)"
        )
    written: list[Tensor] = []
    seen: dict[str, Tensor] = {}

    def keep_written(attention: MultiHeadAttention, of_head: slice):
        weight = attention.o_proj.weight[:, of_head]  # (d_model, d_head)
        return lambda _module, arguments: written.append(arguments[0][..., of_head] @ weight.T)  # (B, L, d_model)

    def keep_stream(_module: nn.Module, arguments: tuple[Tensor]) -> None:
        seen["stream"] = arguments[0] - sum(written)
        written.clear()

    def without(_module: nn.Module, _arguments: tuple[Tensor], output: Tensor) -> Tensor:
        # The norm by its forward, so that its own hook does not take this for the stream.
        alone = nn.functional.linear(
            layer.attention_norm.forward(seen["stream"]),
            projection.weight[rows],
            None if projection.bias is None else projection.bias[rows],
        )
        return torch.cat((output[..., : rows.start], alone, output[..., rows.stop :]), dim=-1)

    with contextlib.ExitStack() as hooks:
        _CUT.add(cut)
        hooks.callback(_CUT.discard, cut)
        for attention, of_head in written_by:
            hooks.callback(attention.o_proj.register_forward_pre_hook(keep_written(attention, of_head)).remove)
        hooks.callback(layer.attention_norm.register_forward_pre_hook(keep_stream).remove)
        hooks.callback(projection.register_forward_hook(without).remove)
        yield


def _require_earlier(writer: str, reader: str) -> None:
    if not writer.endswith(".self_attention"):
        raise ValueError(f"writer ({writer}) must be a self-attention: one stream runs through all of them")
    if _place(writer) >= _place(reader) or _place(writer)[0] != _place(reader)[0]:
        raise ValueError(f"writer ({writer}) must stand in an earlier layer of the same stack than reader ({reader})")


def attention_of(model: nn.Module, name: str) -> MultiHeadAttention:
    """The attention of that name.

    Raises:
        ValueError: There is none; the message names those that there are.
    """
    attentions = {key: module for key, module in model.named_modules() if isinstance(module, MultiHeadAttention)}
    if name not in attentions:
        raise ValueError(f"{name!r} is no attention of this model; there are {', '.join(attentions) or 'none'}")
    return attentions[name]


def _replacing(rows: slice, what: Tensor | float | str):
    def replace(_module: nn.Module, arguments: tuple[Tensor]) -> tuple[Tensor]:
        (merged,) = arguments  # (B, L, H * d_head)
        own = merged[..., rows]
        if isinstance(what, str):
            own = own.mean(dim=(0, 1), keepdim=True).expand_as(own)
        elif isinstance(what, Tensor):
            own = what.to(own).expand_as(own)
        else:
            own = torch.full_like(own, what)
        return (torch.cat((merged[..., : rows.start], own, merged[..., rows.stop :]), dim=-1),)

    return replace


def _place(name: str) -> tuple[str, int]:
    """``"layers.1.self_attention"`` -> ``("layers", 1)``."""
    stack, number, _ = name.rsplit(".", 2)
    return stack, int(number)
