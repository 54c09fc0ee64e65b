"""The residual stream through all layers: what each sublayer adds to it, measured."""

from collections.abc import Sequence
from typing import Any

from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor, nn

from .dataflow import Block, layers_of
from .drawing import Sheet
from .palette import LABEL, NAME, NUMBER, ROLES, SHAPE, SOFT
from .words import number, part

WIDE, HIGH = 0.62, 1.5


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
    sizes, added, names = _measured(layers)
    sheet, scale = Sheet(), HIGH / max(*sizes, *added)
    shown = part(len(added), 6)
    _stream(sheet, 0.0, sizes[0] * scale, number(sizes[0]), "in")
    for place, n in enumerate(shown):
        x = (2 * place + 1) * WIDE
        if n is None:
            sheet.text(x + WIDE, HIGH / 2, "⋯", NAME, SOFT)
            continue
        role = "weights" if "attention" in names[n] else "value"
        sheet.bar(x + 0.1, 0, WIDE - 0.2, added[n] * scale, role)
        sheet.text(x + WIDE / 2, added[n] * scale + 0.04, f"+{number(added[n])}", NUMBER, ROLES[role], va="bottom")
        _stream(sheet, x + WIDE, sizes[n + 1] * scale, number(sizes[n + 1]), f"after {n + 1}")
    x = -0.05
    for said, role in (("the stream", "plain"), ("added by attention", "weights"), ("added by the network", "value")):
        sheet.bar(x, HIGH + 0.5, 0.16, 0.16, role)
        sheet.text(x + 0.22, HIGH + 0.58, said, LABEL, ha="left")
        x += 0.5 + sheet.width_of(said)
    sheet.text(
        0,
        -0.38,
        f"root mean square over tokens and features; {len(layers)} layers, {len(added)} sublayers",
        SHAPE,
        SOFT,
        ha="left",
    )
    return sheet.done(
        f"The residual stream of {type(model).__name__} through {len(layers)} layers: length {number(sizes[0])} at the start, "
        f"{number(sizes[-1])} at the end. Added: "
        + ", ".join(f"{name} {number(size)}" for name, size in zip(names, added, strict=True))
        + "."
    )


def _stream(sheet: Sheet, x: float, height: float, size: str, said: str) -> None:
    sheet.bar(x, 0, WIDE, height, "plain")
    sheet.text(x + WIDE / 2, height + 0.04, size, NUMBER, va="bottom")
    sheet.text(x + WIDE / 2, -0.06, said, SHAPE, SOFT, va="top")


def _measured(layers: list[Block]) -> tuple[list[float], list[float], list[str]]:
    """The stream's size before the first sum and after each, and what was added, with its name."""
    sizes, added, names = [_size(layers[0].call.given)], [], []
    for block in layers:
        tensors = [block.call.given]
        for step in block.steps:
            stands = step.call.gave if step.adds is None else step.call.gave + tensors[step.adds]
            tensors.append(stands)
            if step.adds is not None:
                added.append(_size(step.call.gave))
                names.append(step.call.name)
                sizes.append(_size(stands))
        if not any(step.adds is not None for step in block.steps[-1:]):
            sizes[-1] = _size(block.call.gave)  # normed after the sum
    return sizes, added, names


def _size(tensor: Float[Tensor, "..."]) -> float:
    return float(tensor.double().square().mean().sqrt())
