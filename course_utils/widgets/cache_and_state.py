"""The widget of lesson 14: what a cache, a window and a state still hold of each earlier position."""

import ipywidgets
import torch
import torch.nn.functional as F
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from course_utils import plotting
from course_utils.arguments import require_same, require_shape
from course_utils.linear_attention import recurrent_form

from .live_figure import WIDE, LiveFigure, slider

RULES = ("add", "replace (delta rule)")
MOST = 200  # positions
LOWEST = -0.4  # cosine that is drawn


def cache_and_state(keys: Float[Tensor, "L d_k"], values: Float[Tensor, "L d_v"]) -> LiveFigure:
    """By position: how well each earlier value can still be read with its own key, and how many numbers are kept.

    A bar is the cosine of what is read and the value. Above, a cache of everything and one of the latest positions with a few
    of the first, whose values are there (1) or are not (0). Below, a state of ``d_k * d_v`` numbers; beside it the state itself.
    For lesson 14.

    Args:
        keys: A text's keys; they are brought to length 1.
        values: As many values.

    Raises:
        ValueError: Shapes do not fit, or there are fewer than 2 or more than 200 positions.

    Source:
        Katharopoulos et al., "Transformers are RNNs", 2020 (state); Xiao et al., "Efficient Streaming Language Models with
        Attention Sinks", 2023 (window with sinks); Schlag et al., "Linear Transformers Are Secretly Fast Weight Programmers",
        2021 (delta rule).
    """
    require_shape("keys", keys, "L d_k")
    require_shape("values", values, "L d_v")
    require_same(len(keys), len(values), "{} keys but {} values: each key needs exactly one value")
    if not 2 <= len(keys) <= MOST:
        raise ValueError(f"keys has {len(keys)} positions; expected 2 to {MOST}")
    keys = F.normalize(keys, dim=-1)
    each = keys.shape[1] + values.shape[1]  # numbers that a cache keeps of a position
    bound = float(written(keys, values, 1.0, RULES[0])[0].abs().max())  # the same colors at every position

    def draw(figure: Figure, position: int, window: int, sinks: int, decay: float, rule: str) -> None:
        state, fidelity = written(keys[:position], values[:position], decay, rule)
        places = torch.arange(position)
        in_window = ((places >= position - window) | (places < sinks)).float()
        rows = {
            f"cache: {position} positions, {position * each:,} numbers": torch.ones(position),
            f"window: {int(in_window.sum())} positions, {int(in_window.sum()) * each:,} numbers": in_window,
            f"state: {state.numel():,} numbers, {rule}, decay {decay:.2f}": fidelity,
        }
        for i, (title, heights) in enumerate(rows.items()):
            ax = figure.add_axes((0.07, 0.71 - 0.29 * i, 0.58, 0.18))
            ax.bar(range(position), heights.tolist(), width=0.8, color=plotting.COLORS[i])
            ax.set(xlim=(-0.5, len(keys) - 0.5), ylim=(LOWEST, 1.05), yticks=[0, 1])
            ax.set_ylabel("cosine", fontsize=9)
            ax.axhline(0, color="0.6", lw=0.8), ax.axvline(position - 0.5, color="0.3", ls=":", lw=1.2)
            ax.set_title(title, fontsize=10, loc="left")
        ax.set_xlabel("position that is read; dotted: the text so far ends here")
        grid = figure.add_axes((0.72, 0.13, 0.21, 0.76))
        image = grid.imshow(state.numpy(), cmap="RdBu_r", vmin=-bound, vmax=bound, aspect="auto")
        grid.set(xticks=[], yticks=[], xlabel="features of the values", ylabel="features of the keys")
        grid.set_title("numbers of the state", fontsize=10)
        figure.colorbar(image, cax=figure.add_axes((0.945, 0.13, 0.015, 0.76))).ax.tick_params(labelsize=8)

    longest = len(keys)
    controls = {
        "position": _whole("positions so far", longest // 2, 1, longest),
        "window": _whole("window", min(10, longest), 1, longest),
        "sinks": _whole("first positions kept", 0, 0, min(8, longest)),
        "decay": slider("decay", 1.0, 0.8, 1.0, 0.01),
        "rule": ipywidgets.Dropdown(options=RULES, description="writing", **WIDE),
    }
    return LiveFigure("cache, window and state side by side", draw, controls, (9.0, 4.2))


def written(
    keys: Float[Tensor, "n d_k"], values: Float[Tensor, "n d_v"], decay: float, rule: str
) -> tuple[Float[Tensor, "d_k d_v"], Float[Tensor, " n"]]:
    """The state after these positions, and for each the cosine of what its key reads now and its value."""
    count = len(keys)
    _, state = recurrent_form(
        keys, keys, values, decay=torch.full((count,), decay), beta=None if rule == RULES[0] else torch.ones(count)
    )
    return state, F.cosine_similarity(keys @ state, values, dim=-1)


def _whole(description: str, value: int, low: int, high: int) -> ipywidgets.IntSlider:
    return ipywidgets.IntSlider(value, min=low, max=high, description=description, **WIDE)
