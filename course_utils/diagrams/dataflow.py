"""How a model's parts follow on one another, seen by running one batch: who reads what, which sums lie between, which shapes.

Nothing is known of a model beforehand. Every part is watched while it runs; what it was given is compared with what the
parts before it gave, alone and added to what runs past them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from ..attention import AdditiveAttention
from ..masks import AttentionMask
from ..multi_head import MultiHeadAttention

ATTENTION = (MultiHeadAttention, AdditiveAttention)


@dataclass
class Call:
    """One part of a model at work.

    Args:
        name: Its name inside its parent.
        module: The part.
        input: The first tensor that it was given.
        output: The tensor that it gave.
        options: Tensors and masks that it was given besides.
        times: How often it was called.
    """

    name: str
    module: nn.Module
    input: Tensor
    output: Tensor
    options: dict[str, Any]
    times: int = 1


@dataclass
class Step:
    """One part in a chain.

    Args:
        call: The part at work.
        reads: The index of the tensor of the chain that it reads (0: what the chain was given; n: what stands after step n).
        adds: The index of the tensor that is added to what it gives, the residual path; None: nothing is.
        memory: For attention to another sequence: the place of the block that made it.
    """

    call: Call
    reads: int
    adds: int | None = None
    memory: int | None = None


@dataclass
class Block:
    """A part at the top of a model, or a layer with the chain inside it.

    Args:
        call: The part.
        steps: What is inside a layer, in order; empty for a part that is drawn as one.
        follows: The index of the block whose output it reads; None: it reads the batch.
        indirect: Whether something lies between that is no part (a sum, a join, a function): then it reads the block that ran
            before it in some way.
        repeated: How many layers of the same kind follow one another.
        source: What of the batch it reads: position of the argument.
        memory: For an attention: the place of the block that made its keys.
    """

    call: Call
    steps: list[Step] = field(default_factory=list)
    follows: int | None = None
    indirect: bool = False
    repeated: int = 1
    source: int = 0
    memory: int | None = None


@torch.no_grad()
def trace(model: nn.Module, batch: Sequence[Any], options: Mapping[str, Any] | None = None) -> list[Block]:
    """Run ``model(*batch, **options)`` once, without dropout, and say how its parts follow on one another.

    Layers of the same kind that follow one another become one block, ``repeated``.

    Raises:
        ValueError: No part of the model was called with a tensor.
    """
    return _merge_repeated(_blocks(model, batch, options or {}))


@torch.no_grad()
def layers_of(model: nn.Module, batch: Sequence[Any], options: Mapping[str, Any] | None = None) -> list[Block]:
    """Every layer of the last stack of layers of a model, with the chain inside it, none joined with another.

    Raises:
        ValueError: It has no layer with parts inside.
    """
    blocks = [block for block in _blocks(model, batch, options or {}) if block.steps]
    if not blocks:
        raise ValueError(f"this {type(model).__name__} has no layers with an attention in them")
    stack = blocks[-1].call.name.partition(".")[0]
    return [block for block in blocks if block.call.name.partition(".")[0] == stack]


def _blocks(model: nn.Module, batch: Sequence[Any], options: Mapping[str, Any]) -> list[Block]:
    top = dict(_parts(model))
    inside = {name: dict(_parts(part, name)) for name, part in top.items() if _is_layer(part)}
    calls = _record_calls(model, batch, options, top | {n: p for parts in inside.values() for n, p in parts.items()})
    blocks: list[Block] = []
    for name in top:
        if name in calls:
            block = Block(calls[name])
            block.steps = _chain(block.call, [call for inner, call in calls.items() if inner in inside.get(name, ())])
            blocks.append(block)
    if not blocks:
        raise ValueError(f"no part of this {type(model).__name__} was called with a tensor")
    order = {id(call): place for place, call in enumerate(calls.values())}
    blocks.sort(key=lambda block: min([order[id(block.call)], *(order[id(step.call)] for step in block.steps)]))
    _connect(blocks, [value for value in batch if isinstance(value, Tensor)])
    return blocks


def _is_layer(module: nn.Module) -> bool:
    return not isinstance(module, ATTENTION) and any(isinstance(part, ATTENTION) for part in module.modules())


def _parts(module: nn.Module, prefix: str = "") -> list[tuple[str, nn.Module]]:
    """The parts that a model is drawn with: its children, lists opened; dropout and what does nothing left out."""
    parts = []
    for name, part in module.named_children():
        full = f"{prefix}.{name}" if prefix else name
        if isinstance(part, nn.ModuleList | nn.ModuleDict | nn.Sequential):
            parts += _parts(part, full)
        elif not isinstance(part, nn.Dropout | nn.Identity):
            parts.append((full, part))
    return parts


def _record_calls(
    model: nn.Module, batch: Sequence, options: Mapping, parts: Mapping[str, nn.Module]
) -> dict[str, Call]:
    calls: dict[str, Call] = {}

    def note(name: str):
        def hook(module: nn.Module, arguments: tuple, keywords: dict, output: Any) -> None:
            first_input = next((a for a in (*arguments, *keywords.values()) if isinstance(a, Tensor)), None)
            result = _tensor(output)
            if first_input is None or result is None:
                return
            if name in calls:
                calls[name].times += 1
                return
            others = dict(zip(("", "second", "third", "fourth"), arguments, strict=False)) | keywords
            calls[name] = Call(
                name, module, first_input, result, {k: v for k, v in others.items() if k and v is not None}
            )

        return hook

    with hooked(model, parts, note):
        model(*batch, **options)
    return calls


@contextlib.contextmanager
def hooked(model: nn.Module, parts: Mapping[str, nn.Module], note: Callable[[str], Callable]) -> Iterator[None]:
    """While the block runs, the model doesn't train, and each part calls ``note(name)``, a forward hook with keywords."""
    hooks = [part.register_forward_hook(note(name), with_kwargs=True) for name, part in parts.items()]
    training = model.training
    try:
        model.eval()
        yield
    finally:
        model.train(training)
        for hook in hooks:
            hook.remove()


def _tensor(output: Any) -> Tensor | None:
    if isinstance(output, Tensor):
        return output
    if isinstance(output, tuple | list):
        return next((tensor for item in output if (tensor := _tensor(item)) is not None), None)
    return None


def _same(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and torch.allclose(a, b, rtol=1e-5, atol=1e-6)


def _chain(layer: Call, calls: list[Call]) -> list[Step]:
    """The parts of a layer in the order in which they run, with the sums between them."""
    tensors, steps = [layer.input], []  # tensors[n]: what stands after n steps
    for place, call in enumerate(calls):
        after = calls[place + 1 :]
        reads = next((n for n in reversed(range(len(tensors))) if _same(tensors[n], call.input)), len(tensors) - 1)
        wanted = [c.input for c in after] + [layer.output]
        adds, stands = None, call.output
        for n in reversed(range(len(tensors))):
            total = call.output + tensors[n] if call.output.shape == tensors[n].shape else None
            if total is not None and any(_same(total, tensor) for tensor in wanted):
                adds, stands = n, total
                break
        tensors.append(stands)
        steps.append(Step(call, reads, adds))
    return steps


def _connect(blocks: list[Block], batch: list[Tensor]) -> None:
    for place, block in enumerate(blocks):
        before = range(place)
        block.follows = next((n for n in reversed(before) if _same(blocks[n].call.output, block.call.input)), None)
        if block.follows is None:
            source = next((n for n, tensor in enumerate(batch) if _same(tensor, block.call.input)), None)
            block.source, block.indirect = source or 0, source is None and place > 0
            block.follows = place - 1 if block.indirect else None
        for reader in (block, *block.steps) if isinstance(block.call.module, ATTENTION) else block.steps:
            key = reader.call.options.get("key", reader.call.options.get("second"))
            if isinstance(key, Tensor) and not _same(key, reader.call.input):
                reader.memory = next((n for n in reversed(before) if _same(blocks[n].call.output, key)), None)


def _merge_repeated(blocks: list[Block]) -> list[Block]:
    """Layers of one kind that follow one another as one block."""
    merged: list[Block] = []
    renamed: dict[int, int] = {}
    for place, block in enumerate(blocks):
        last = next((n for n in range(len(merged)) if renamed.get(block.follows) == n), None)
        if last is not None and block.steps and not block.indirect and _kind(merged[last]) == _kind(block):
            merged[last].repeated += 1
            merged[last].call.output = block.call.output
            renamed[place] = last
            continue
        block.follows, block.memory = renamed.get(block.follows), renamed.get(block.memory)
        for step in block.steps:
            step.memory = renamed.get(step.memory)
        merged.append(block)
        renamed[place] = len(merged) - 1
    return merged


def _kind(block: Block) -> tuple:
    steps = [
        (step.call.name.rpartition(".")[2], _sizes(step.call.module), step.reads, step.adds, visible_keys(step.call))
        for step in block.steps
    ]
    return (type(block.call.module), *steps)


def _sizes(module: nn.Module) -> tuple:
    return (type(module), *(tuple(parameter.shape) for parameter in module.parameters()))


def visible_keys(call: Call) -> str:
    """What an attention may see, in words, from the mask that it was given."""
    mask = next((v for n, v in call.options.items() if "mask" in n or isinstance(v, AttentionMask)), None)
    if isinstance(mask, AttentionMask):
        if mask.is_causal:
            return "itself and the past"
        mask = mask.allowed
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool or mask.dim() < 2 or bool(mask.all()):
        return "everything"
    if mask.shape[-2] == 1:
        return "all but padding"
    past = torch.ones(mask.shape[-2:], dtype=torch.bool).tril(mask.shape[-1] - mask.shape[-2])
    if bool((mask <= past).all()):
        full = mask.reshape(-1, *mask.shape[-2:])
        per_key = full.any(dim=1, keepdim=True)  # (N, 1, L_k)
        if bool((full == (past & per_key)).all()):
            return "itself and the past" if bool(per_key.all()) else "no padding, no future"
        return "a part of the past"
    return "what its mask allows"
