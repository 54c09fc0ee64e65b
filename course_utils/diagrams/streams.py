"""The residual stream: what the layers of a model add to it, and what stands on it in each order of norm and sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor, nn

from .architecture import role_of
from .dataflow import Block, Call, Step, layers_of, trace
from .drawing import Drawing
from .formatting import number, shown_indices
from .palette import COLORS, INK, LABEL, MAX_SHOWN, NAME, NUMBER, PAGE, SHAPE, SOFT

BAR, BAR_HEIGHT = 0.62, 1.5
KINDS = {  # part of a layer -> what its bar is called, its color
    "self_attention": ("added by self-attention", "weights"),
    "cross_attention": ("by cross-attention", "key"),
    "feed_forward": ("by the network", "value"),
}
WIDE, TALL, STEP, ASIDE, PANEL = 1.3, 0.38, 0.17, 0.95, 3.6


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
    shown = shown_indices(len(added), MAX_SHOWN)
    bar, per_layer = min(BAR, PAGE / (2 * len(shown) + 1)), len(added) // len(layers)
    draw, scale, plus = Drawing(), BAR_HEIGHT / max(*sizes, *added), "+" if bar > 0.45 else ""
    _stream(draw, 0.0, bar, sizes[0] * scale, number(sizes[0]))
    for place, n in enumerate(shown):
        x = (2 * place + 1) * bar
        if n is None:
            draw.text(x + bar, BAR_HEIGHT / 2, "⋯", NAME, SOFT)
            continue
        role = _kind(names[n])[1]
        draw.bar(x + 0.04, 0, bar - 0.08, added[n] * scale, role)
        draw.text(x + bar / 2, added[n] * scale + 0.04, f"{plus}{number(added[n])}", NUMBER, COLORS[role], va="bottom")
        _stream(draw, x + bar, bar, sizes[n + 1] * scale, number(sizes[n + 1]))
        if (n + 1) % per_layer == 0:
            draw.text(x + bar * 1.5, -0.06, f"after layer {(n + 1) // per_layer}", SHAPE, SOFT, va="top")
    draw.text(0, -0.06, "in", SHAPE, SOFT, ha="left", va="top")
    _legend(draw, [("the stream", "plain"), *dict.fromkeys(_kind(name) for name in names)])
    words = f"root mean square over tokens and features; {len(layers)} layers, {len(added)} sublayers"
    draw.text(0, -0.34, words, SHAPE, SOFT, ha="left", va="top")
    return draw.finish(
        f"The residual stream of {type(model).__name__} through {len(layers)} layers: size {number(sizes[0])} at the start, "
        f"{number(sizes[-1])} at the end. Added: "
        + ", ".join(
            f"layer {n // per_layer + 1} {name.rpartition('.')[2].replace('_', ' ')} {number(size)}"
            for n, (name, size) in enumerate(zip(names, added, strict=True))
        )
        + "."
    )


def _kind(name: str) -> tuple[str, str]:
    part = name.rpartition(".")[2]
    return KINDS.get(part, ("added by attention", "weights") if "attention" in part else KINDS["feed_forward"])


def _legend(draw: Drawing, entries: Sequence[tuple[str, str]]) -> None:
    x = -0.05
    for text, role in entries:
        draw.bar(x, BAR_HEIGHT + 0.5, 0.16, 0.16, role)
        draw.text(x + 0.22, BAR_HEIGHT + 0.58, text, LABEL, ha="left")
        x += 0.5 + draw.width_of(text)


def _stream(draw: Drawing, x: float, bar: float, height: float, size: str) -> None:
    draw.bar(x, 0, bar, height, "plain")
    draw.text(x + bar / 2, height + 0.04, size, NUMBER, va="bottom")


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


def straight_streams(layers: Mapping[str, nn.Module], x: Float[Tensor, "B L d_model"]) -> Axes:
    """Layers side by side, each with its stream as one straight line upward; what branches off it stands at its right.

    Args:
        layers: What is written above a layer -> the layer, run once on ``x``.
        x: What goes in.

    Raises:
        ValueError: There is no layer, or one has no part whose output is added to what runs past it.
    """
    if not layers:
        raise ValueError("layers is empty; expected at least one layer")
    draw, sentences = Drawing(), []
    for place, (name, layer) in enumerate(layers.items()):
        (block,) = trace(nn.Sequential(layer), (x,))
        if not any(step.adds is not None for step in block.steps):
            raise ValueError(f"in {name} nothing is added to what runs past it: no stream to draw")
        left = place * PANEL
        top, on_it = _upward(draw, left, block.steps)
        draw.text(left, -0.1, "in", SHAPE, SOFT, va="top")
        draw.text(left + ASIDE / 2, top + 0.3, name, NAME, INK, weight="bold")
        sentences.append(f"{name}: on the stream {', '.join(on_it) if on_it else 'nothing but sums'}")
    return draw.finish("The stream as a straight line from bottom to top. " + "; ".join(sentences) + ".")


def _name(call: Call) -> str:
    kind = type(call.module).__name__
    known = {"FeedForward": "network", "MultiHeadAttention": call.name.rpartition(".")[2].replace("_", "-")}
    return "norm" if "Norm" in kind else known.get(kind, call.name.rpartition(".")[2].replace("_", " "))


def _upward(draw: Drawing, x: float, steps: Sequence[Step]) -> tuple[float, list[str]]:
    """One layer, drawn upward from 0 along the stream at ``x``: where it ends, and what stands on the stream."""
    y, at, on_it = 0.25, 0, []
    while at < len(steps):
        ends = next((n for n in range(at, len(steps)) if steps[n].adds is not None), None)
        if ends is None or steps[ends].adds != at:  # no branch begins here: the part stands on the stream
            draw.box(x - WIDE / 2, y, WIDE, TALL, _name(steps[at].call), role_of(steps[at].call.module))
            on_it.append(steps[at].call.name.rpartition(".")[2].replace("_", " "))
            at, y = at + 1, y + TALL + STEP
            continue
        low, aside = y, x + ASIDE
        for step in steps[at : ends + 1]:
            y += STEP
            draw.box(aside - 0.1, y, WIDE, TALL, _name(step.call), role_of(step.call.module))
            y += TALL
        middle, y = aside - 0.1 + WIDE / 2, y + STEP
        draw.line([(x, low), (middle, low), (middle, y), (x + 0.2, y)], SOFT, 1.4)
        draw.arrow((x + 0.25, y), (x + 0.12, y))
        draw.plus(x, y)
        at, y = ends + 1, y + 0.12 + STEP
    draw.arrow((x, 0), (x, y + 0.15), color=COLORS["plain"], width=4.0)
    return y + 0.15, on_it
