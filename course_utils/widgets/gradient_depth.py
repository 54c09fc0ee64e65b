"""The widget of lesson 09: what the place of the norm does to gradients, layer by layer, before any training."""

import ipywidgets
import torch
import torch.nn.functional as F
from matplotlib.figure import Figure
from torch import Tensor, nn

from course_utils import plotting
from course_utils.layers import EncoderLayer, LayerNorm

from .live_figure import WIDE, LiveFigure

DEPTHS = (1, 2, 4, 6, 8, 12, 16, 24)
SEEDS = range(3)
D_MODEL, NUM_HEADS, BATCH, LENGTH, NUM_CLASSES = 64, 4, 8, 10, 20
MATRICES = {
    "attention: q_proj": (1, (1e-7, 1.0)),
    "attention: k_proj": (2, (1e-7, 1.0)),
    "feed-forward: down_proj": (0, (0.1, 10.0)),
}
STARTS = {"full size": lambda num_layers: 1.0, "times 1/sqrt(2N)": lambda num_layers: (2 * num_layers) ** -0.5}
ORDERS = {"pre-norm": True, "post-norm": False}


def gradient_by_depth() -> LiveFigure:
    """The gradient of one matrix in each layer of a fresh encoder, and how alike its tokens are, by order. For lesson 09."""
    measured = {
        (depth, start, name): torch.stack([measure(depth, pre_norm, seed, factor(depth)) for seed in SEEDS]).mean(dim=0)
        for depth in DEPTHS
        for start, factor in STARTS.items()
        for name, pre_norm in ORDERS.items()
    }  # (4, depth) each

    def draw(figure: Figure, num_layers: int, matrix: str, start: str) -> None:
        row, limits = MATRICES[matrix]
        layer = torch.arange(1.0, num_layers + 1)  # (num_layers,)
        left, right = figure.add_axes((0.09, 0.16, 0.38, 0.72)), figure.add_axes((0.59, 0.16, 0.38, 0.72))
        for ax, index, ylabel in ((left, row, "gradient (log scale)"), (right, 3, "mean cosine of two tokens")):
            values = {name: measured[num_layers, start, name][index] for name in ORDERS}
            plotting.curves(layer, values, xlabel="layer, counted from the input", ylabel=ylabel, ax=ax)
            for line in ax.lines:
                line.set_marker("o")
                line.set_markersize(4)
            ax.set_xlim(0, max(num_layers, 2) + 1)
            ax.xaxis.get_major_locator().set_params(integer=True)
        left.set_yscale("log")
        left.set_ylim(*limits)
        right.set_ylim(0, 1.05)
        left.set_title(f"{num_layers} layer{'s' * (num_layers > 1)}, {matrix}", fontsize=10)
        right.set_title("how alike the tokens have become", fontsize=10)

    controls = {
        "num_layers": ipywidgets.SelectionSlider(options=DEPTHS, value=24, description="layers", **WIDE),
        "matrix": ipywidgets.Dropdown(options=list(MATRICES), description="gradient of", **WIDE),
        "start": ipywidgets.Dropdown(options=list(STARTS), description="sublayers start", **WIDE),
    }
    return LiveFigure("gradient by depth, pre-norm and post-norm", draw, controls, (9.4, 3.5))


def measure(num_layers: int, pre_norm: bool, seed: int, factor: float = 1.0) -> Tensor:
    """Four numbers for each layer of a fresh encoder: three gradients, and how alike the tokens are after it.

    The rows of the result, shape ``(4, num_layers)``, are the norms of the gradients of ``down_proj``, ``q_proj`` and
    ``k_proj``, and the mean cosine of two tokens of a sequence. ``seed`` is for parameters, inputs and targets; the last
    matrix of each sublayer is multiplied by ``factor`` first.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = nn.ModuleList(
            EncoderLayer(D_MODEL, NUM_HEADS, 4 * D_MODEL, dropout=0.0, pre_norm=pre_norm) for _ in range(num_layers)
        )
        norm, classify = LayerNorm(D_MODEL) if pre_norm else nn.Identity(), nn.Linear(D_MODEL, NUM_CLASSES)
        for part in (*layers.modules(), classify):
            if isinstance(part, nn.Linear):
                nn.init.xavier_uniform_(part.weight)
                nn.init.zeros_(part.bias)
        x = torch.randn(BATCH, LENGTH, D_MODEL)  # (B, L, d_model)
        target = torch.randint(0, NUM_CLASSES, (BATCH, LENGTH))  # (B, L)
    for layer in layers:
        for last in (layer.self_attention.o_proj, layer.feed_forward.down_proj):
            last.weight.data.mul_(factor)
    alike = []
    for layer in layers:
        x = layer(x)
        alike.append(mean_cosine(x.detach()))
    F.cross_entropy(classify(norm(x)).flatten(0, 1), target.flatten()).backward()
    network = [layer.feed_forward.down_proj.weight.grad.norm().item() for layer in layers]
    queries = [layer.self_attention.q_proj.weight.grad.norm().item() for layer in layers]
    keys = [layer.self_attention.k_proj.weight.grad.norm().item() for layer in layers]
    return torch.tensor([network, queries, keys, alike])


def mean_cosine(x: Tensor) -> float:
    """The mean cosine of two different tokens of one sequence; ``x`` has shape ``(B, L, d_model)``."""
    unit = F.normalize(x, dim=-1)
    cosines = unit @ unit.mT  # (B, L, L)
    others = ~torch.eye(x.shape[1], dtype=torch.bool)
    return cosines[:, others].mean().item()
