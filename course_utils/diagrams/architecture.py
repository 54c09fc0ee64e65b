"""A model drawn from the code that runs: its blocks with shapes and masks, and what its layers add to the residual stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor, nn

from ..attention import AdditiveAttention
from ..multi_head import MultiHeadAttention
from .dataflow import Block, Call, layers_of, trace, visible_keys
from .drawing import Drawing
from .formatting import number, shown_indices
from .palette import COLORS, LABEL, NAME, NUMBER, OPERATION, SHAPE, SOFT

WIDE, TALL, GAP, APART = 2.3, 0.44, 0.36, 1.65
BAR, BAR_HEIGHT = 0.62, 1.5


def architecture(model: nn.Module, batch: Sequence[Any], **options: Any) -> Axes:
    """The parts of a model from below to above, as figure 1 of the paper draws them, read off one run.

    Sums of residual paths are circles; a frame with ``× N`` holds the layers of one kind; beside each arrow stands the
    shape that went along it; an attention says how many heads it has and what its mask lets it see.

    Args:
        model: Any model; it is run once without dropout.
        batch: Its positional arguments.
        options: Its keyword arguments.
    """
    blocks = trace(model, batch, options)
    columns: list[list[int]] = []
    for place, block in enumerate(blocks):
        home = next((column for column in columns if block.follows is not None and column[-1] == block.follows), None)
        columns.append([place]) if home is None else home.append(place)
    draw, tops, lines, sentences = Drawing(), {}, [], []
    for at, column in enumerate(columns):
        x, y = at * (WIDE + APART), 0.0
        first = blocks[column[0]]
        start = "" if first.follows is not None else f"input {first.source + 1}" if len(columns) > 1 else "input"
        draw.text(x + WIDE / 2, y - 0.06, f"{start} {_shape(first.call.input)}".strip(), SHAPE, SOFT, va="top")
        if first.follows is not None:
            lines.append((first.follows, (x, y + GAP / 2), None))
        for place in column:
            block = blocks[place]
            y = _up(draw, x, y, dashed=block.indirect)
            if block.steps:
                y = _layer(draw, block, x, y, lines)
            else:
                draw.box(x, y, WIDE, TALL, _words(block.call), _role(block.call.module), size=LABEL)
                if block.memory is not None:
                    lines.append((block.memory, (x, y + TALL / 2), "k, v"))
                y += TALL
            tops[place] = (x + WIDE / 2, y)
            if place != column[-1]:
                draw.text(x + WIDE / 2 + 0.1, y + GAP / 2, _shape(block.call.output), NUMBER, SOFT, ha="left")
            sentences.append(_sentence(block))
        _up(draw, x, y)
        draw.text(x + WIDE / 2, y + GAP + 0.04, _shape(blocks[column[-1]].call.output), SHAPE, SOFT, va="bottom")
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
        draw.box(x, y, WIDE, TALL, _words(step.call), _role(step.call.module), size=NUMBER + 0.5)
        if step.memory is not None:
            lines.append((step.memory, (x, y + TALL / 2), "k, v"))
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
        return f"{name}, {heads}\nsees {visible_keys(call)}{times}"
    if isinstance(module, AdditiveAttention):
        return f"{name}, additive{times}"
    kind = type(module).__name__
    return f"{name}: {kind}{times}" if len(name) + len(kind) < 28 else f"{name}\n{kind}{times}"


def _role(module: nn.Module) -> str:
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


def residual_stream(model: nn.Module, batch: Sequence[Any], **options: Any) -> Axes:
    """From left to right: how long the stream's vectors are, and how long what each sublayer adds to them is.

    Lengths are root mean squares over all tokens and features. In a model that norms after each sum the stream is made
    short again at each step.

    Args:
        model: A model with residual layers; it is run once without dropout. Of several stacks the last is drawn.
        batch: Its positional arguments.
        options: Its keyword arguments.
    """
    layers = layers_of(model, batch, options)
    if not any(step.adds is not None for block in layers for step in block.steps):
        raise ValueError(
            f"this {type(model).__name__} has no layer in which a part's output is added to what runs past it"
        )
    sizes, added, names = _measure(layers)
    draw, scale = Drawing(), BAR_HEIGHT / max(*sizes, *added)
    shown = shown_indices(len(added), 6)
    _stream(draw, 0.0, sizes[0] * scale, number(sizes[0]), "in")
    for place, n in enumerate(shown):
        x = (2 * place + 1) * BAR
        if n is None:
            draw.text(x + BAR, BAR_HEIGHT / 2, "⋯", NAME, SOFT)
            continue
        role = "weights" if "attention" in names[n] else "value"
        draw.bar(x + 0.1, 0, BAR - 0.2, added[n] * scale, role)
        draw.text(x + BAR / 2, added[n] * scale + 0.04, f"+{number(added[n])}", NUMBER, COLORS[role], va="bottom")
        _stream(draw, x + BAR, sizes[n + 1] * scale, number(sizes[n + 1]), f"after {n + 1}")
    x = -0.05
    for text, role in (("the stream", "plain"), ("added by attention", "weights"), ("added by the network", "value")):
        draw.bar(x, BAR_HEIGHT + 0.5, 0.16, 0.16, role)
        draw.text(x + 0.22, BAR_HEIGHT + 0.58, text, LABEL, ha="left")
        x += 0.5 + draw.width_of(text)
    draw.text(
        0,
        -0.38,
        f"root mean square over tokens and features; {len(layers)} layers, {len(added)} sublayers",
        SHAPE,
        SOFT,
        ha="left",
    )
    return draw.finish(
        f"The residual stream of {type(model).__name__} through {len(layers)} layers: length {number(sizes[0])} at the start, "
        f"{number(sizes[-1])} at the end. Added: "
        + ", ".join(f"{name} {number(size)}" for name, size in zip(names, added, strict=True))
        + "."
    )


def _stream(draw: Drawing, x: float, height: float, size: str, text: str) -> None:
    draw.bar(x, 0, BAR, height, "plain")
    draw.text(x + BAR / 2, height + 0.04, size, NUMBER, va="bottom")
    draw.text(x + BAR / 2, -0.06, text, SHAPE, SOFT, va="top")


def _measure(layers: list[Block]) -> tuple[list[float], list[float], list[str]]:
    """The stream's size before the first sum and after each, and what was added, with its name."""
    sizes, added, names = [_size(layers[0].call.input)], [], []
    for block in layers:
        tensors = [block.call.input]
        for step in block.steps:
            stands = step.call.output if step.adds is None else step.call.output + tensors[step.adds]
            tensors.append(stands)
            if step.adds is not None:
                added.append(_size(step.call.output))
                names.append(step.call.name)
                sizes.append(_size(stands))
        if not any(step.adds is not None for step in block.steps[-1:]):
            sizes[-1] = _size(block.call.output)  # normed after the sum
    return sizes, added, names


def _size(tensor: Float[Tensor, ...]) -> float:
    return float(tensor.double().square().mean().sqrt())
