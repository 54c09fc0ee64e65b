"""The widget of lesson 12: how temperature, top-k and top-p change what a language model says next."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import ipywidgets
import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from course_utils import plotting
from course_utils.datasets.text_windows import TEXT, decode_text, encode_text
from course_utils.decoding import sampling_distribution
from course_utils.decoding.sampling import draw_token
from course_utils.kv_cache import KVCache
from course_utils.models import DecoderLM

from .live_figure import WIDE, LiveFigure, slider

SHOWN = 12  # bars
NEW = 30  # characters of the continuation
LONGEST_PROMPT = 200
NAMES = {" ": "\u2423", "\n": "\u21b5"}


def sampling_playground(model: DecoderLM, prompts: Sequence[str], *, seed: int = 0) -> LiveFigure:
    """The distribution of the next character, what the settings leave of it, and a continuation. For lesson 12.

    Args:
        model: A trained model of ``text_windows.TEXT``, in evaluation mode.
        prompts: Texts to choose from; another one may be typed.
        seed: Of the draws, the same at every redraw: what changes in the continuation is the settings' doing.
    """
    if not prompts:
        raise ValueError("prompts is empty; expected at least one text to continue")
    if model.config.vocab_size != len(TEXT):
        raise ValueError(
            f"model knows {model.config.vocab_size} symbols; expected the {len(TEXT)} of text_windows.TEXT"
        )
    names = [NAMES.get(symbol, symbol) for symbol in TEXT.symbols]

    @lru_cache(maxsize=8)
    def read(prompt: str) -> tuple[Tensor, list[KVCache]]:
        """The logits after a prompt and the cache that holds it: worked out once for each prompt."""
        ids = encode_text(prompt)[None, -LONGEST_PROMPT:]  # (1, L)
        cache = model.start_cache(1, ids.shape[1] + NEW)
        with torch.no_grad():
            return model(ids, cache=cache)[:, -1], cache  # (1, V)

    def draw(figure: Figure, prompt: str, temperature: float, top_k: int, top_p: float) -> None:
        logits, cache = read(prompt)
        settings = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
        first = logits[0].argsort(descending=True, stable=True)[:SHOWN]  # (SHOWN,); the order does not move
        before = sampling_distribution(logits[0], temperature=temperature)[first]  # (SHOWN,)
        kept = sampling_distribution(logits[0], **settings)  # (V,)
        ax = figure.add_axes((0.08, 0.36, 0.9, 0.55))
        title = f"next character: {int((kept > 0).sum())} of {len(names)} can be drawn"
        next_symbol_bars([names[i] for i in first.tolist()], before, kept[first], ax=ax, title=title)
        text = continuation(model, logits, [layer.reorder(torch.tensor([0])) for layer in cache], settings, seed)
        shown = f"...{prompt[-30:]}[{text}]".replace("\n", NAMES["\n"])
        figure.text(0.02, 0.08, shown, family="monospace", fontsize=10, parse_math=False)
        figure.text(0.02, 0.16, f"the prompt, and in brackets {NEW} characters drawn", fontsize=9)

    controls = {
        "prompt": ipywidgets.Combobox(
            value=prompts[0],
            options=list(prompts),
            description="prompt",
            continuous_update=False,
            **WIDE,
        ),
        "temperature": slider("temperature", 1.0, 0.0, 2.0, 0.05),
        "top_k": ipywidgets.IntSlider(len(names), min=1, max=len(names), description="top-k (characters)", **WIDE),
        "top_p": slider("top-p (probability)", 1.0, 0.0, 1.0, 0.01),
    }
    return LiveFigure("sampling playground", draw, controls, (9.6, 4.4))


def next_symbol_bars(
    names: Sequence[str],
    before: Float[Tensor, " n"],
    after: Float[Tensor, " n"],
    *,
    ax: Axes | None = None,
    title: str = "",
    outlined: str = "before the cut",
) -> Axes:
    """Probabilities of some symbols, before and after a part of them was ruled out.

    ``before`` is with every symbol allowed, drawn as outlines, which the legend calls ``outlined``; ``after`` is with some
    ruled out and the rest renormalized, drawn as filled bars.
    """
    ax = ax or plotting.new_axes(8.0, 2.8)
    places = range(len(names))
    ax.bar(places, after.tolist(), color=plotting.COLORS[0], label="can be drawn")
    ax.bar(places, before.tolist(), fill=False, ec=plotting.COLORS[1], lw=1.2, label=outlined)
    ax.set_xticks(list(places), list(names), family="monospace", parse_math=False)
    ax.set(ylabel="probability", ylim=(0, max(0.05, 1.08 * max(before.max().item(), after.max().item()))), title=title)
    ax.legend(frameon=False, fontsize=9, loc="upper right")
    return ax


@torch.no_grad()
def continuation(
    model: Callable[..., Tensor],
    logits: Float[Tensor, "1 V"],
    cache: list[KVCache],
    settings: dict[str, float | int],
    seed: int,
) -> str:
    """``NEW`` characters drawn after a prompt whose ``logits`` and ``cache`` are there already; the cache is filled."""
    rng = torch.Generator().manual_seed(seed)
    drawn = []
    for _ in range(NEW):
        new = draw_token(logits, generator=rng, **settings)  # (1, 1)
        drawn.append(new)
        if len(drawn) < NEW:
            logits = model(new, cache=cache)[:, -1]  # (1, V)
    return decode_text(torch.cat(drawn, dim=1)[0])
