"""One causal computation in three forms: a table, tables in chunks with a state between, a state at every position."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_utils.arguments import require_sizes
from course_utils.plotting import COLORS, new_axes

MOST = 24  # positions that can be told apart


def chunked_forms(length: int = 12, chunk_size: int = 4) -> Axes:
    """Which products of a query (row) and a key (column) are made, and what comes by way of the state.

    Args:
        length: Positions, at most 24.
        chunk_size: Positions of a chunk.

    Source:
        Sun et al., "Retentive Network", 2023, figure 3.
    """
    require_sizes(length=length, chunk_size=chunk_size)
    if length > MOST:
        raise ValueError(f"length ({length}) must be at most {MOST}: more positions cannot be told apart")
    ax = new_axes(9.6, 3.5)
    names = "one table", f"chunks of {chunk_size}", "step by step"
    for panel, (name, size) in enumerate(zip(names, (length, chunk_size, 1), strict=True)):
        left, products = panel * (length * 1.15 + 0.2), 0
        for start in range(0, length, size):
            rows = range(start, min(start + size, length))
            if size == 1:  # each position is written to the state before it reads
                ax.add_patch(Rectangle((left, start), start + 1, 1, facecolor="0.88", edgecolor="white"))
                continue
            for row in rows:
                for column in range(start, row + 1):
                    ax.add_patch(Rectangle((left + column, row), 1, 1, facecolor=COLORS[0], edgecolor="white"))
                    products += 1
            if start:
                ax.add_patch(Rectangle((left, start), start, len(rows), facecolor="0.88", edgecolor="white"))
                state = f"read from $S_{{{start}}}$"  # the state after so many positions
                ax.text(left + start / 2, start + len(rows) / 2, state, ha="center", va="center", fontsize=9)
        states = -(-length // size) - 1
        what = f"{states} state{'s' if states > 1 else ''} handed on" if states else "no state"
        title = f"{name}\n{products} products\n{what}"
        ax.text(left + length / 2, -0.02 * length, title, ha="center", va="bottom", fontsize=10)
    ax.set(xlim=(-0.1, 3.5 * length + 0.5), ylim=(length + 0.1, -0.3 * length), aspect="equal", xticks=[], yticks=[])
    ax.set(xlabel="key", ylabel="query")
    ax.spines[:].set_visible(False)
    ax.set_label(
        f"{length} positions in three forms. One table: all products of a query and a key up to it. Chunks of {chunk_size}: "
        "small triangles along the diagonal, all to the left of them is one state. Step by step: no product, all is read from a "
        "state."
    )
    return ax
