"""Kinds of layer beside one another: who sees whom in each, and what each costs. Measurements, not mechanisms."""

from collections.abc import Mapping, Sequence

from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from ..plotting import WEIGHT_COLOR, new_axes, new_panels


def influence_maps(shares: Mapping[str, Float[Tensor, "L_out L_in"]]) -> Axes:
    """Maps side by side on one color scale from 0 to 1; a share that is exactly 0 stays white.

    Args:
        shares: Title of a map -> the share of every input position (column) in every output position (row).
    """
    if not shares:
        raise ValueError("shares is empty; expected at least one map")
    axes = new_panels(2.25 * len(shares), 2.6, len(shares))
    for ax, (name, share) in zip(axes, shares.items(), strict=True):
        seen = share.masked_fill(share == 0, float("nan"))
        image = ax.imshow(seen.tolist(), cmap="viridis", vmin=0, vmax=1)
        ax.set(xlabel="input position", xticks=range(0, share.shape[1], 2), yticks=range(share.shape[0]))
        ax.set_title(name, fontsize=10)
    axes[0].set_ylabel("output position")
    axes[0].figure.colorbar(image, ax=axes, label="share of influence", fraction=0.02)
    lines = [f"{name}, {int((share == 0).sum())} of {share.numel()} cells exactly 0" for name, share in shares.items()]
    axes[0].set_label("Maps of influence, outputs downward, inputs to the right: " + "; ".join(lines) + ".")
    return axes[0]


def cost_lines(lengths: Sequence[int], costs: Mapping[str, Sequence[float]]) -> Axes:
    """Costs for each token against the length of the text: what is level as a gray line with its name, what rises in color.

    Args:
        lengths: Of the texts.
        costs: Name of a layer -> its cost at each length.
    """
    ax = new_axes(6.4, 3.6)
    for name, cost in costs.items():
        if max(cost) > min(cost):
            ax.plot(lengths, cost, "o-", color=WEIGHT_COLOR, label=name, zorder=3)
        else:
            ax.plot(lengths, cost, color="0.45", lw=1)
            ax.text(lengths[-1], cost[-1] + 0.15, name, ha="right", va="bottom", fontsize=9)
    ax.set(xlabel="tokens n", ylabel="multiplications per token / d²", ylim=(0, None))
    ax.legend(frameon=False)
    levels = [f"{name} {cost[0]:g} to {cost[-1]:g}" for name, cost in costs.items()]
    ax.set_label(f"Cost for each token, at {lengths[0]} to {lengths[-1]} tokens: {'; '.join(levels)}.")
    return ax
