"""A model drawn from the code that runs: its blocks with shapes and masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from torch import Tensor, nn

from ..attention import AdditiveAttention
from ..layers import InputEmbedding
from ..multi_head import MultiHeadAttention
from .dataflow import Block, Call, trace, visible_keys
from .drawing import Drawing
from .palette import COLORS, LABEL, NUMBER, OPERATION, SHAPE, SOFT

WIDE, TALL, GAP, APART = 2.3, 0.44, 0.36, 1.65


def architecture(
    model: nn.Module, batch: Sequence[Any], *, inputs: Sequence[str] | None = None, **options: Any
) -> Axes:
    """The parts of a model from below to above, as figure 1 of the paper draws them, read off one run.

    Sums of residual paths are circles; a frame with ``× N`` holds the layers of one kind; beside each arrow stands the
    shape that went along it; an attention says how many heads it has and what its mask lets it see.

    Args:
        model: Any model; it is run once without dropout.
        batch: Its positional arguments.
        inputs: What each of them is, in a few words, to be written below the picture; else they are numbered.
        options: Its keyword arguments.
    """
    blocks = trace(model, batch, options)
    columns: list[list[int]] = []
    for place, block in enumerate(blocks):
        home = next((column for column in columns if block.follows is not None and column[-1] == block.follows), None)
        columns.append([place]) if home is None else home.append(place)
    remembered = {step.memory for block in blocks for step in (block, *block.steps)}
    draw, tops, lines, sentences = Drawing(), {}, [], []
    for at, column in enumerate(columns):
        x, y = at * (WIDE + APART), 0.0
        first = blocks[column[0]]
        start = "" if first.follows is not None else _input(first.source, inputs, len(columns))
        draw.text(x + WIDE / 2, y - 0.06, f"{start} {_shape(first.call.input)}".strip(), SHAPE, SOFT, va="top")
        if first.follows is not None:
            lines.append((first.follows, (x, y + GAP / 2), None))
        for place in column:
            block = blocks[place]
            y = _up(draw, x, y, dashed=block.indirect)
            if block.steps:
                y = _layer(draw, block, x, y, lines)
            else:
                draw.box(x, y, WIDE, TALL, _words(block.call), role_of(block.call.module), size=LABEL)
                if block.memory is not None:
                    lines.append((block.memory, (x, y + TALL / 2), "k, v"))
                y += TALL
            tops[place] = (x + WIDE / 2, y)
            if place != column[-1]:
                draw.text(x + WIDE / 2 + 0.1, y + GAP / 2, _shape(block.call.output), NUMBER, SOFT, ha="left")
            sentences.append(_sentence(block))
        _up(draw, x, y)
        end = _shape(blocks[column[-1]].call.output)
        end = f"memory {end}" if column[-1] in remembered else end
        draw.text(x + WIDE / 2, y + GAP + 0.04, end, SHAPE, SOFT, va="bottom")
    for source, (x, y), label in lines:
        from_x, from_y = tops[source]
        bend = x - 0.62
        points = [(from_x, from_y + 0.07), (bend, from_y + 0.07), (bend, y)]
        draw.line(points, COLORS["key"])
        draw.arrow((bend, y), (x, y), color=COLORS["key"])
        if label:
            draw.text(bend + 0.04, y + 0.07, label, NUMBER, COLORS["key"], ha="left", va="bottom")
    count = sum(parameter.numel() for parameter in model.parameters())
    if any(block.indirect for block in blocks):
        draw.text(0, -0.42, "dashed: joined, split or changed on the way", SHAPE, SOFT, ha="left", va="top")
    return draw.finish(
        f"{type(model).__name__}, {count:,} parameters, drawn from one run. " + " Then ".join(sentences) + "."
    )


def _input(source: int, names: Sequence[str] | None, columns: int) -> str:
    """What a column is given."""
    if names is not None:
        return names[source]
    return f"input {source + 1}" if columns > 1 else "input"


def _up(draw: Drawing, x: float, y: float, gap: float = GAP, *, dashed: bool = False) -> float:
    draw.arrow((x + WIDE / 2, y), (x + WIDE / 2, y + gap), style="--" if dashed else "-")
    return y + gap


def _layer(draw: Drawing, block: Block, x: float, y: float, lines: list) -> float:
    """The chain inside a layer, in a frame."""
    bottom, middle = y, x + WIDE / 2
    y += 0.12
    levels = [y]  # where the tensor after n steps can be tapped
    for step in block.steps:
        y = _up(draw, x, y, 0.3)
        draw.box(x, y, WIDE, TALL, _words(step.call), role_of(step.call.module), size=NUMBER + 0.5)
        if step.memory is not None:
            lines.append((step.memory, (x, y + TALL / 2), "k, v"))
            draw.text(middle + 0.1, y - 0.16, "q", NUMBER, COLORS["query"], ha="left")
        if step.reads != len(levels) - 1:  # it does not read what stands right below it
            _around(draw, x, levels[step.reads], y - 0.12, -1)
        y += TALL
        if step.adds is not None:
            draw.line([(middle, y), (middle, y + 0.2)])
            y += 0.2
            draw.plus(middle, y + 0.12)
            _around(draw, x, levels[step.adds], y + 0.12, 1)
            y += 0.24
        levels.append(y + 0.02)
        draw.line([(middle, y), (middle, y + 0.12)])
        y += 0.12
    y += 0.08
    draw.frame(x - 0.2, bottom, WIDE + 0.72, y - bottom)
    name = block.call.name.partition(".")[0]
    repeats = f"× {block.repeated}" if block.repeated > 1 else ""
    draw.text(x + WIDE + 0.58, (bottom + y) / 2 + 0.1, repeats, OPERATION + 3, ha="left", weight="bold")
    draw.text(x + WIDE + 0.58, (bottom + y) / 2 - 0.14, name.replace("_", "\n"), SHAPE, SOFT, ha="left", va="top")
    return y


def _around(draw: Drawing, x: float, low: float, high: float, side: int) -> None:
    """A path past a part: leaves the stream at ``low`` and joins it again at ``high``."""
    middle, edge = x + WIDE / 2, x + WIDE + 0.22 if side > 0 else x - 0.1
    draw.line([(middle, low), (edge, low), (edge, high)], SOFT, 1.6)
    draw.arrow((edge, high), (middle + 0.12 * side, high), color=SOFT)


def _words(call: Call) -> str:
    name, module = call.name.rpartition(".")[2].replace("_", " "), call.module
    times = f"  ({call.times} times)" if call.times > 1 else ""
    if isinstance(module, MultiHeadAttention):
        heads = (
            f"H = {module.num_heads}"
            if module.num_kv_heads == module.num_heads
            else f"H = {module.num_heads}, H_kv = {module.num_kv_heads}"
        )
        turned = ", rotary" if module.rotary is not None and module.num_kv_heads == module.num_heads else ""
        return f"{name}, {heads}{turned}\nsees {visible_keys(call)}{times}"
    if isinstance(module, AdditiveAttention):
        return f"{name}, additive{times}"
    kind = type(module).__name__
    if isinstance(module, InputEmbedding):
        return f"{name}{times}" if module.positions is None else f"{name}{times}\nplus positions"
    if kind.lower() == name.replace(" ", ""):  # its name says it already
        return f"{name}{times}"
    return f"{name}: {kind}{times}" if len(name) + len(kind) < 28 else f"{name}\n{kind}{times}"


def role_of(module: nn.Module) -> str:
    """The role whose color the box of a part has."""
    if isinstance(module, MultiHeadAttention | AdditiveAttention):
        return "weights"
    kind = type(module).__name__
    if "Norm" in kind:
        return "mask"
    return "position" if "Embedding" in kind else "output" if isinstance(module, nn.Linear) else "value"


def _shape(tensor: Tensor) -> str:
    return str(tuple(tensor.shape))


def _sentence(block: Block) -> str:
    if not block.steps:
        keys = ", keys from another part," if block.memory is not None else ""
        return f"{_words(block.call)}{keys} to {_shape(block.call.output)}".replace("\n", " ")
    inner = []
    for step in block.steps:
        residual = " plus what ran past it" if step.adds is not None else ""
        inner.append(_words(step.call).replace("\n", ", ") + residual)
    return f"{block.repeated} × {type(block.call.module).__name__} ({'; '.join(inner)})"
