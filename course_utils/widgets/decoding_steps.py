"""The widget of lesson 10: greedy decoding, one step at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

import ipywidgets
import torch
from jaxtyping import Float, Int
from matplotlib.figure import Figure
from torch import Tensor

from course_utils import plotting
from course_utils.decoding import greedy_decode
from course_utils.models import Transformer
from course_utils.recording import AttentionRecord, record_attention
from course_utils.tokenizers import START_ID

from .live_figure import WIDE, LiveFigure


@dataclass(frozen=True)
class DecodingRecord:
    """Everything that greedy decoding of one sequence looked at and wrote.

    Args:
        inputs: What the decoder was given, the start symbol first.
        outputs: What it chose at each step.
        probabilities: Of every symbol at each step.
        weights: Of every attention; its tables have one row for each step, and a batch axis of 1.
    """

    inputs: Int[Tensor, " steps"]
    outputs: Int[Tensor, " steps"]
    probabilities: Float[Tensor, "steps vocab"]
    weights: AttentionRecord


@torch.no_grad()
def record_decoding(model: Transformer, source: Int[Tensor, " L_s"], max_len: int) -> DecodingRecord:
    """Decode one sequence, then run once over what was written: causal, so that each row is what that step saw.

    The model is in eval mode, and says ``max_len`` symbols at most, the end symbol included.
    """
    if source.dim() != 1:
        raise ValueError(f"source has shape {tuple(source.shape)}; expected the ids of one sequence, (L_s,)")
    outputs = greedy_decode(model, source[None], max_len=max_len).tokens[0]  # (steps,)
    inputs = torch.cat((outputs.new_tensor([START_ID]), outputs[:-1]))  # (steps,)
    with record_attention(model) as seen:
        logits = model(source[None], inputs[None])  # (1, steps, vocab)
    return DecodingRecord(inputs, outputs, logits[0].softmax(dim=-1), seen)


def decoding_steps(
    model: Transformer, source: Int[Tensor, " L_s"], symbols: Sequence[str], *, max_len: int
) -> LiveFigure:
    """Step through greedy decoding: what one head looks at, and how probable each next symbol is. For lesson 10.

    ``symbols`` holds a name for every id of source and target. All else is as for ``record_decoding``.
    """
    record = record_decoding(model, source, max_len)
    if len(symbols) != record.probabilities.shape[1]:
        raise ValueError(f"{len(symbols)} symbols for {record.probabilities.shape[1]} ids; give one name for each")
    outputs = [symbols[i] for i in record.outputs.tolist()]
    inputs = [symbols[i] for i in record.inputs.tolist()]
    sources = [symbols[i] for i in source.tolist()]
    kinds = {"source (cross)": "cross_attention", "target so far (self)": "self_attention"}
    tables = {name: record.weights.matching(f"decoder_layers.*.{kind}") for name, kind in kinds.items()}
    num_layers, num_heads = model.config.num_layers, model.config.num_heads
    ids = torch.arange(len(symbols))

    def draw(figure: Figure, step: int, looks_at: str, layer: int, head: int) -> None:
        weights = tables[looks_at][layer][0, head, : step + 1]  # (step + 1, keys)
        keys = sources if looks_at.startswith("source") else inputs[: step + 1]
        weights = weights[:, : len(keys)]
        left, right = figure.add_axes((0.11, 0.2, 0.47, 0.6)), figure.add_axes((0.68, 0.2, 0.3, 0.6))
        rows = [f"{t}: {name}" for t, name in enumerate(inputs[: step + 1])]
        title = f"layer {layer} of {num_layers}, head {head} of {num_heads}"
        plotting.attention_heatmap(weights, rows, keys, ax=left, title=title)
        columns = len(keys) if keys is sources else len(outputs)
        left.set(ylabel="step: given to the decoder", xlabel="source" if keys is sources else "target so far")
        left.set(xlim=(-0.5, columns - 0.5), ylim=(len(outputs) - 0.5, -0.5))  # room for the steps to come
        for number in list(left.texts):  # numbers in the present row only: a hundred more would make the slider slow
            if number.get_position()[1] != step:
                number.remove()
        left.tick_params("x", rotation=0 if max(map(len, keys)) <= 2 else 60)
        chosen = int(record.outputs[step])
        colors = [plotting.COLORS[1] if i == chosen else plotting.COLORS[0] for i in ids.tolist()]
        right.bar(ids.tolist(), record.probabilities[step].tolist(), color=colors)
        right.set(ylim=(0, 1), ylabel="probability", title=f"step {step}: says {outputs[step]}")
        right.set_xticks(ids.tolist(), symbols, rotation=60 if max(map(len, symbols)) > 2 else 0, fontsize=8)
        figure.text(0.01, 0.93, f"source   {' '.join(sources)}     said so far   {' '.join(outputs[: step + 1])}")

    controls = {
        "step": _whole_number_slider("step", len(outputs), len(outputs) - 1),  # all rows in sight
        "looks_at": ipywidgets.Dropdown(options=list(tables), description="attention to", **WIDE),
        "layer": _whole_number_slider("layer", num_layers),
        "head": _whole_number_slider("head", num_heads),
    }
    return LiveFigure("greedy decoding, one step at a time", draw, controls, (9.6, 4.2))


def _whole_number_slider(name: str, count: int, value: int = 0) -> ipywidgets.IntSlider:
    return ipywidgets.IntSlider(value, min=0, max=count - 1, description=name, **WIDE)
