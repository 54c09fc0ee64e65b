"""The widget of lesson 13: heads taken out of a model by a click, what the others do then, and what becomes of its guesses."""

from collections.abc import Iterable, Sequence

import ipywidgets
import torch
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from course_utils import plotting
from course_utils.arguments import require_one_of, require_shape
from course_utils.circuits import Head, replaced_heads
from course_utils.models import DecoderLM
from course_utils.recording import record_attention

from .live_figure import WIDE, LiveFigure

MOST = 64  # positions
LABELS = 40  # positions that can all be named; of more, every second is
NOTHING, MEAN = 0.0, "mean"
CHANGED = plotting.COLORS[1]


def head_remover(
    model: DecoderLM,
    ids: Int[Tensor, " L"],
    names: Sequence[str],
    *,
    removed: Iterable[Head] = (),
    shown: Head | None = None,
    vocabulary: Sequence[str] | None = None,
) -> LiveFigure:
    """A button for each head takes it out; a head's weights, and in the same rows how sure the model is of what comes next.

    Below stands the mean of the bits, over the letters of the second half but its first if the text is written twice, else over
    all. A head that is taken out still looks, but what it hands on is replaced. For lesson 13.

    Args:
        model: A decoder-only model in evaluation mode.
        ids: One text, 2 to 64 positions.
        names: What to write for each position, such as its letter.
        removed: Heads that are out at first, named as in ``circuits``: ``("layers.1.self_attention", 2)``.
        shown: The head whose weights are shown at first; the first of ``removed``, or else the model's first, if None.
        vocabulary: A text for each id, for guesses that do not occur in ``ids``.

    Raises:
        ValueError: ``ids`` or ``names`` has another length, the model is in training mode, or there is no such head.
        TypeError: ``model`` is no ``DecoderLM``.

    Source:
        Olsson et al., "In-context Learning and Induction Heads", 2022 (heads taken out one by one).
    """
    if not isinstance(model, DecoderLM):
        raise TypeError(f"model is a {type(model).__name__}; expected a DecoderLM")
    if model.training:
        raise ValueError("model is in training mode, where dropout changes its guesses: call model.eval() first")
    require_shape("ids", ids, "L", why=": one text, without a batch axis; of a batch, give a row such as ids[0]")
    length = len(ids)
    if not 2 <= length <= MOST:
        raise ValueError(f"ids has {length} positions; expected 2 to {MOST}: give a part of the text")
    if len(names) != length:
        raise ValueError(f"names ({len(names)}) must be one text for each of the {length} positions of ids")
    heads = [
        (f"layers.{layer}.self_attention", head)
        for layer in range(model.config.num_layers)
        for head in range(model.config.num_heads)
    ]
    removed = list(removed)
    for head in removed:
        require_one_of("removed", head, heads)
    shown = shown or (removed or heads)[0]
    require_one_of("shown", shown, heads)

    names = list(map(str, names))
    written = dict(enumerate(vocabulary or ())) | dict(zip(ids.tolist(), names, strict=True))
    whole, _ = read(model, ids, {}, shown[0])
    counted, of_what = counted_guesses(ids)

    def draw(figure: Figure, shown: Head, instead: float | str, **pressed: bool) -> None:
        out = [head for head, is_out in zip(heads, pressed.values(), strict=True) if is_out]
        left, weights = read(model, ids, dict.fromkeys(out, instead), shown[0])
        height = figure.get_size_inches()[1]
        low, tall = 0.95 / height, 1 - 1.4 / height
        maps, guesses = figure.add_axes((0.07, low, 0.5, tall)), figure.add_axes((0.63, low, 0.32, tall))
        replaced = "replaced by 0" if instead == NOTHING else "replaced by its mean"
        title = f"{head_name(shown)}{f', {replaced}' if shown in out else ''}: where it looks"
        plotting.attention_heatmap(weights[shown[1]], ax=maps, title=title)
        maps.set(xlabel="key", ylabel="query")
        label_places(maps, names, below=True)
        label_places(maps, names)
        if not counted.all():
            first, last = counted.nonzero()[[0, -1], 0].tolist()
            guesses.axhspan(first - 0.5, last + 0.5, color="0.93", zorder=0, label="counted")
        guess_bars(whole, left, ids, names, written, ax=guesses)
        figure.text(0.02, 0.18 / height, sentence(out, instead, whole, left, ids, counted, of_what), fontsize=10)

    buttons = {
        control_name(head): ipywidgets.ToggleButton(
            head in removed,
            description=f"head {head[1]}",
            tooltip=f"take out {head_name(head)}",
            layout={"width": "6.5em"},
        )
        for head in heads
    }
    for button in buttons.values():
        button.observe(_mark, "value")
        _mark({"owner": button})
    controls = {
        "shown": ipywidgets.Dropdown(
            options=[(head_name(head), head) for head in heads], value=shown, description="show the weights of", **WIDE
        ),
        "instead": ipywidgets.Dropdown(
            options=[("its mean over the text", MEAN), ("nothing (0)", NOTHING)],
            description="in a head's place",
            **WIDE,
        ),
        **buttons,
    }
    height = min(max(1.4 + 0.15 * length, 3.6), 7.4)  # inches
    widget = LiveFigure("attention viewer, heads taken out by a click", draw, controls, (9.4, height))
    rows = [
        ipywidgets.HBox(
            [
                ipywidgets.Label(f"layer {layer}: take out", layout={"width": "10em"}),
                *list(buttons.values())[layer * model.config.num_heads : (layer + 1) * model.config.num_heads],
            ],
            layout={"flex_flow": "row wrap"},
        )
        for layer in range(model.config.num_layers)
    ]
    widget.children = [*rows, controls["instead"], controls["shown"], widget.problem, widget.image]
    return widget


@torch.no_grad()
def read(
    model: DecoderLM, ids: Int[Tensor, " L"], outputs: dict[Head, float | str], name: str
) -> tuple[Float[Tensor, "n V"], Float[Tensor, "H L L"]]:
    """Log-probabilities of what comes next, in bits, with some heads replaced, and the weights of one attention then.

    There are ``n = L - 1`` guesses: what comes after the last position is not known.
    """
    with replaced_heads(model, outputs), record_attention(model) as seen:
        logits = model(ids[None])[0, :-1]  # (n, V)
    return logits.log_softmax(dim=-1) / torch.tensor(2.0).log(), seen[name][0]


def counted_guesses(ids: Int[Tensor, " L"]) -> tuple[Tensor, str]:
    """Which of the ``n = L - 1`` guesses are averaged, as booleans, and what they are of.

    Of a text that is written twice those of the second half but its first, which cannot be known; else all.
    """
    half = len(ids) // 2
    counted = torch.ones(len(ids) - 1, dtype=torch.bool)
    if len(ids) < 4 or len(ids) % 2 or not torch.equal(ids[:half], ids[half:]):
        return counted, "the next letter"
    counted[:half] = False
    return counted, "a letter of the second half"


def guess_bars(
    whole: Float[Tensor, "n V"],
    left: Float[Tensor, "n V"],
    ids: Int[Tensor, " L"],
    names: Sequence[str],
    written: dict[int, str],
    *,
    ax: Axes | None = None,
) -> Axes:
    """For each position, in the row of its query, the probability of what really comes next; other guesses are marked.

    Args:
        whole: Log-probabilities in bits of the whole model, drawn as outlines.
        left: Those of what is left of it, drawn filled.
        ids: The text; position ``l`` is asked for ``ids[l + 1]``.
        names: A text for each position.
        written: Id -> text, for the guesses; where one is missing stands no text.
    """
    ax = ax or plotting.new_axes(4.0, 5.0)
    count, right = len(ids) - 1, ids[1:, None]
    before, after = (2 ** bits.gather(1, right)[:, 0] for bits in (whole, left))  # (n,) each
    edges = [place - 0.5 for place in range(count + 1)]
    style = {"orientation": "horizontal", "baseline": 0}
    ax.stairs(after.tolist(), edges, fill=True, color=plotting.COLORS[5], label="what is left", **style)
    ax.stairs(before.tolist(), edges, ec="black", lw=1.1, label="whole model", **style)
    guesses, own = left.argmax(dim=-1), whole.argmax(dim=-1)  # (n,)
    changed = (guesses != own).nonzero()[:, 0].tolist()
    ax.plot([1.05] * len(changed), changed, "<", color=CHANGED, ms=4, clip_on=False, label="another guess")
    for place in changed:
        text = written.get(int(guesses[place]), "")
        ax.text(1.08, place, text, color=CHANGED, fontsize=8, va="center", clip_on=False, parse_math=False)
    ax.set(ylim=(count + 0.5, -0.5), xlim=(0, 1.04), xticks=[0, 0.5, 1])
    ax.set(xlabel="probability of what comes next", ylabel="what comes next")
    label_places(ax, names[1:])
    ax.spines[["top", "right"]].set_visible(False)
    options = {"fontsize": 8, "columnspacing": 1.0, "handlelength": 1.2, "borderaxespad": 0.1}
    ax.legend(loc="lower left", bbox_to_anchor=(-0.12, 1.0), ncols=4, frameon=False, **options)
    return ax


def sentence(
    out: Sequence[Head],
    instead: float | str,
    whole: Float[Tensor, "n V"],
    left: Float[Tensor, "n V"],
    ids: Int[Tensor, " L"],
    counted: Tensor,
    of_what: str,
) -> str:
    """What the removal costs, in bits: ``without layer 1 head 2: 4.10 bits for ... (whole model: 0.03)``."""
    before, after = (-bits.gather(1, ids[1:, None])[counted, 0].mean().item() for bits in (whole, left))
    if not out:
        return f"whole model: {before:.2f} bits for {of_what}"
    heads = " and ".join(map(head_name, out)) if len(out) < 3 else f"{len(out)} heads"  # the buttons say which
    how = f"without {heads}" if instead == NOTHING else f"with the mean for {heads}"
    return f"{how}: {after:.2f} bits for {of_what} (whole model: {before:.2f})"


def head_name(head: Head) -> str:
    """``("layers.1.self_attention", 2)`` -> ``"layer 1 head 2"``."""
    return f"layer {head[0].split('.')[1]} head {head[1]}"


def control_name(head: Head) -> str:
    """``("layers.1.self_attention", 2)`` -> ``"layer_1_head_2"``, the name of its button among the controls."""
    return head_name(head).replace(" ", "_")


def _mark(change: dict) -> None:
    """A head that is out is seen to be so, not by color alone."""
    button = change["owner"]
    button.icon, button.button_style = ("times", "warning") if button.value else ("", "")


def label_places(ax: Axes, names: Sequence[str], *, below: bool = False) -> None:
    """Names at the rows 0, 1, 2, ... of Axes, or ``below`` its columns; of many, every second.

    They are plain texts: that many ticks take longer to draw than all else.
    """
    axis, transform = (ax.xaxis, ax.get_xaxis_transform()) if below else (ax.yaxis, ax.get_yaxis_transform())
    axis.set_ticks([])
    longest = max(map(len, names))
    axis.labelpad = 14 if below and longest < 3 else 9 + 5 * min(longest, 9)
    style = {"fontsize": 8, "transform": transform, "parse_math": False}
    for place in range(0, len(names), 1 + (len(names) > LABELS)):
        if below:
            ax.text(place, -0.01, names[place], ha="center", va="top", rotation=0 if longest < 3 else 60, **style)
        else:
            ax.text(-0.01, place, names[place], ha="right", va="center", **style)
