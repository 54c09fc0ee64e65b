"""The recurrent model with attention as one drawing: what runs once, and one step of the decoder, with its recurrence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from matplotlib.axes import Axes
from torch import Tensor

from ..models.recurrent import RecurrentSeq2Seq
from .dataflow import hooked
from .drawing import Drawing
from .palette import COLORS, LABEL, NUMBER, SHAPE, SOFT

TALL = 0.44  # inches: a box


def decoder_step(model: RecurrentSeq2Seq, batch: Sequence[Tensor]) -> Axes:
    """The parts of a recurrent model with attention, with the shapes of one run, and what each step of the decoder reads.

    That the state before the step is the query is seen in the run: what the attention was asked with is compared with the
    state that the cell was given.

    Args:
        model: With attention; it is run once, without dropout.
        batch: Source and target.

    Raises:
        ValueError: The model has no attention, or asks with another vector than the state before the step.
    """
    if model.attention is None:
        raise ValueError("this model has no attention")
    parts = {
        name: getattr(model, name) for name in ("encoder", "first_state", "attention", "embedding", "cell", "output")
    }
    seen: dict[str, list] = {name: [] for name in parts}

    def note(name: str) -> Callable:
        return lambda _, given, keywords, result: seen[name].append((given, result))

    with torch.no_grad(), hooked(model, parts, note):
        model(*batch)
    for (asked, _), (read, _) in zip(seen["attention"], seen["cell"], strict=True):
        if not torch.equal(asked[0][:, 0], read[1]):
            raise ValueError("the query is not the state before the step; this drawing would be wrong")
    return _draw({name: calls[0] for name, calls in seen.items()}, len(seen["cell"]))


def _draw(seen: dict, steps: int) -> Axes:
    def shape(tensor: Tensor) -> str:
        return str(tuple(tensor.shape))

    encoded, (cell_in, hidden) = seen["encoder"][1], (seen["cell"][0][0], seen["cell"][1])
    context, embedded = seen["attention"][1][0][:, 0], seen["embedding"][1][:, 0]
    features, logits = seen["output"][0][0], seen["output"][1]
    draw, query, value = Drawing(), COLORS["query"], COLORS["output"]
    draw.frame(2.55, 1.05, 6.05, 3.35)
    draw.text(2.7, 4.2, f"step t, run {steps} times, one after another", LABEL, ha="left")
    # Runs once: the encoder, the first state, the embeddings.
    draw.box(0, 0, 1.9, TALL, "encoder: GRU, both ways", "key", size=NUMBER)
    draw.text(0.95, -0.3, f"letters {shape(seen['encoder'][0][0])}", SHAPE, SOFT, va="top")
    draw.arrow((0.95, -0.27), (0.95, 0))
    draw.box(0, 2.3, 1.9, TALL, "first state: Linear, tanh", "query", size=NUMBER)
    draw.arrow((0.6, TALL), (0.6, 2.3), color=COLORS["key"])
    draw.text(0.7, 1.4, f"summary\n{shape(encoded.summary)}", NUMBER, SOFT, ha="left")
    draw.arrow((1.9, 2.52), (2.8, 2.52), color=query)
    draw.text(2.2, 2.6, "s₀", LABEL, query, va="bottom")
    draw.text(2.2, 2.45, "t = 1\nonly", NUMBER, SOFT, va="top")
    # The step: the state asks, the context and the previous sound make the new state.
    draw.box(2.8, 2.3, 1.0, TALL, "state s₍ₜ₋₁₎", "query", fill=0.3, size=NUMBER)
    draw.text(3.3, 2.78, shape(hidden), NUMBER, SOFT, va="bottom", ha="right")
    draw.box(3.9, 1.3, 1.35, TALL, "attention", "weights", size=LABEL)
    draw.line([(3.3, 2.3), (3.3, 1.52)], query)
    draw.arrow((3.3, 1.52), (3.9, 1.52), color=query)
    draw.text(3.36, 1.9, "query", NUMBER, query, ha="left")
    draw.line([(1.9, 0.22), (4.57, 0.22)], COLORS["key"])
    draw.arrow((4.57, 0.22), (4.57, 1.3), color=COLORS["key"])
    draw.text(2.05, 0.3, f"keys and values: all states {shape(encoded.states)}", NUMBER, SOFT, ha="left", va="bottom")
    draw.box(6.05, 2.3, 1.2, TALL, "cell: GRUCell", "value", size=NUMBER)
    draw.arrow((3.8, 2.62), (6.05, 2.62), color=query)
    draw.line([(5.25, 1.52), (5.75, 1.52), (5.75, 3.7)], value)
    draw.arrow((5.75, 2.42), (6.05, 2.42), color=value)
    draw.dot(5.75, 2.42, value)
    draw.text(5.32, 1.44, f"context cₜ\n{shape(context)}", NUMBER, SOFT, ha="left", va="top")
    draw.box(6.7, 0, 1.9, TALL, "embedding", "position", size=LABEL)
    draw.text(7.65, -0.3, f"sounds before {shape(seen['embedding'][0][0])}", SHAPE, SOFT, va="top")
    draw.arrow((7.65, -0.27), (7.65, 0))
    draw.line([(7.65, TALL), (7.65, 3.7)], COLORS["position"])
    draw.text(7.72, 1.4, f"E(yₜ₋₁)\n{shape(embedded)}", NUMBER, SOFT, ha="left")
    draw.arrow((7.65, 2.52), (7.25, 2.52), color=COLORS["position"])
    draw.dot(7.65, 2.52, COLORS["position"])
    draw.text(6.65, 2.24, f"reads {shape(cell_in)}", NUMBER, SOFT, va="top")
    draw.box(6.25, 3.02, 0.8, 0.34, "sₜ", "query", fill=0.3, size=LABEL)
    draw.arrow((6.65, 2.3 + TALL), (6.65, 3.02), color=query)
    draw.line([(6.25, 3.19), (3.5, 3.19)], query, style="--")
    draw.arrow((3.5, 3.19), (3.5, 2.3 + TALL), color=query, style="--")
    draw.text(4.4, 3.24, f"next step   {shape(hidden)}", NUMBER, query, va="bottom")
    draw.arrow((6.65, 3.36), (6.65, 3.7), color=query)
    draw.box(5.55, 3.7, 2.3, 0.36, f"put side by side {shape(features[:, 0])}", "plain", fill=0.05, size=NUMBER)
    draw.arrow((6.65, 4.06), (6.65, 4.75))
    draw.text(6.75, 4.55, f"all steps {shape(features)}", NUMBER, SOFT, ha="left")
    draw.box(5.7, 4.75, 1.9, TALL, "output: Linear", "output", size=LABEL)
    draw.arrow((6.65, 4.75 + TALL), (6.65, 5.45))
    draw.text(6.65, 5.48, f"logits {shape(logits)}", SHAPE, SOFT, va="bottom")
    return draw.finish(
        f"The recurrent model with attention, drawn from one run. Once: the encoder gives all states {shape(encoded.states)} and "
        f"the summary {shape(encoded.summary)}, from which the first state is made. Then {steps} steps: the state before the "
        f"step is the query, the encoder's states are keys and values, and the context {shape(context)}, the embedding of the "
        f"sound before {shape(embedded)} and the old state make the new state {shape(hidden)}, which goes on to the next step. "
        f"New state, context and embedding make the logits."
    )
