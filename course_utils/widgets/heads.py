"""The widget of lesson 06: attention weights, one head at a time."""

import ipywidgets
import torch
from matplotlib.figure import Figure

from course_utils import plotting

from .live_figure import WIDE, LiveFigure


def head_viewer(weights: torch.Tensor, tokens: list[str]) -> LiveFigure:
    """The weights of one sequence, one head at a time, with three figures that say what the head looks at. For lesson 06.

    ``weights`` has shape ``(H, L, L)``, or ``(layers, H, L, L)``; there is a layer slider only then. ``tokens`` holds a
    label for each position.
    """
    if weights.dim() not in (3, 4) or weights.shape[-1] != weights.shape[-2]:
        raise ValueError(f"weights has shape {tuple(weights.shape)}; expected (H, L, L) or (layers, H, L, L)")
    if len(tokens) != weights.shape[-1]:
        raise ValueError(f"{len(tokens)} tokens for {weights.shape[-1]} positions; give one for each")
    layers = weights.detach() if weights.dim() == 4 else weights.detach()[None]  # (layers, H, L, L)
    num_layers, num_heads = layers.shape[:2]
    labels = [f"{token} ({position})" for position, token in enumerate(tokens)]

    def draw(figure: Figure, head: int, layer: int = 0) -> None:
        shown = layers[layer, head]  # (L, L)
        ax = figure.add_axes((0.09, 0.19, 0.66, 0.72))
        where = f"layer {layer} of {num_layers}, " if num_layers > 1 else ""
        plotting.attention_heatmap(shown, labels, labels, ax=ax, title=f"{where}head {head} of {num_heads}")
        figure.text(0.78, 0.55, "\n".join(describe_head(shown, tokens)), va="center", fontsize=10)

    controls = {"head": _whole_number_slider("head", num_heads)}
    if weights.dim() == 4:
        controls = {"layer": _whole_number_slider("layer", num_layers)} | controls
    return LiveFigure("attention weights, one head at a time", draw, controls, (9.6, 4.2))


def describe_head(weights: torch.Tensor, tokens: list[str]) -> list[str]:
    """What one head looks at, as lines of text; ``weights`` has shape ``(L, L)``."""
    same = torch.tensor([[a == b for b in tokens] for a in tokens])  # (L, L)
    count = torch.special.entr(weights).sum(-1).exp().mean().item()
    shares = {
        "itself": weights.diagonal().mean().item(),
        "the previous token": weights.diagonal(-1).mean().item() if len(tokens) > 1 else 0.0,
        "equal tokens": (weights * same).sum(-1).mean().item(),
    }
    return [
        "mean weight on",
        *(f"  {name}: {share:.2f}" for name, share in shares.items()),
        f"keys that count: {count:.1f}",
    ]


def _whole_number_slider(name: str, count: int) -> ipywidgets.IntSlider:
    return ipywidgets.IntSlider(
        0,
        min=0,
        max=count - 1,
        description=name,
        **WIDE,
    )
