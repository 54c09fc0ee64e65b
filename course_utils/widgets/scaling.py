"""The widget of lesson 04: what the size of the keys and the scale do to the weights and to their gradient."""

import ipywidgets
import torch
from matplotlib.figure import Figure
from torch import Tensor

from course_utils import plotting

from .live_figure import WIDE, LiveFigure

SIZES = [2**i for i in range(11)]  # 1 to 1024
NUM_QUERIES, NUM_KEYS = 200, 16


def scaling() -> LiveFigure:
    """Weights of one query over 16 random keys, and the size of d(weights)/d(scores), by d_k, scaled or not. For lesson 04."""
    rng = torch.Generator().manual_seed(4)
    queries = torch.randn(NUM_QUERIES, SIZES[-1], generator=rng)  # (200, 1024)
    keys = torch.randn(NUM_KEYS, SIZES[-1], generator=rng)  # (16, 1024)
    mean_sizes = {
        label: torch.stack([_jacobian_size(_weights(queries, keys, d_k, scaled)).mean() for d_k in SIZES])  # (11,)
        for label, scaled in (("not scaled", False), ("scaled", True))
    }

    def draw(figure: Figure, d_k: int, scaled: bool) -> None:
        weights = _weights(queries[:1], keys, d_k, scaled)  # (1, 16)
        size = _jacobian_size(weights).item()
        left, right = figure.add_axes((0.08, 0.16, 0.4, 0.7)), figure.add_axes((0.58, 0.16, 0.4, 0.7))
        left.bar(range(NUM_KEYS), weights[0].tolist(), color=plotting.COLORS[1 if scaled else 0])
        left.set(xlabel="key position", ylabel="weight", ylim=(0, 1), xticks=range(0, NUM_KEYS, 3))
        how = "scaled" if scaled else "not scaled"
        left.set_title(f"one query, d_k = {d_k}, {how}: largest weight {weights.max():.2f}", fontsize=10)
        plotting.curves(
            torch.tensor(SIZES, dtype=torch.float32),
            mean_sizes,
            xlabel="d_k (log scale)",
            ylabel="size of d(weights)/d(scores)",
            ax=right,
        )
        right.plot([d_k], [size], "s", color="black", ms=8, label="this query")
        right.set_xscale("log", base=2)
        right.set_ylim(0, 0.75)
        right.legend(frameon=False, fontsize=9)
        right.set_title(f"gradient: this query {size:.3f}; lines: mean of {NUM_QUERIES}", fontsize=10)

    controls = {
        "d_k": ipywidgets.SelectionSlider(options=SIZES, value=64, description="d_k, size of a key", **WIDE),
        "scaled": ipywidgets.Checkbox(False, description="scaled by the root of d_k", **WIDE),
    }
    return LiveFigure("weights and gradient by d_k, scaled or not", draw, controls, (9.0, 3.5))


def _weights(queries: Tensor, keys: Tensor, d_k: int, scaled: bool) -> Tensor:
    """Weights from the first ``d_k`` entries of the vectors, shape (L_q, L_k)."""
    scores = queries[:, :d_k] @ keys[:, :d_k].T  # (L_q, L_k)
    return torch.softmax(scores / d_k**0.5 if scaled else scores, dim=-1)


def _jacobian_size(weights: Tensor) -> Tensor:
    """The Frobenius norm of diag(w) - w w^T for each row of weights, shape (L_q,)."""
    jacobians = torch.diag_embed(weights) - weights[:, :, None] * weights[:, None, :]  # (L_q, L_k, L_k)
    return jacobians.norm(dim=(-2, -1))
