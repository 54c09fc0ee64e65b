"""Every diagram at three sizes of input: for the tests, and as a sheet to look at.

``python tests/diagrams/gallery.py FOLDER`` writes each as a PNG and all of them on one page, ``index.html``.
"""

import html
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from matplotlib.axes import Axes

from course_utils import diagrams, layers, masks
from course_utils.models import DecoderConfig, DecoderLM, make_transformer
from course_utils.models.recurrent import RecurrentSeq2Seq
from course_utils.multi_head import MultiHeadAttention
from course_utils.plotting import png

SIZES = ("small", "middle", "large")
WORDS = "the red apple fell down from a tree into the grass".split()
LONG = [*WORDS, "antidisestablishmentarianism", "<b>bold</b>", "línea", "苹果", "", " ", "\n", "$x^2$", *WORDS, *WORDS]


def _random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def _flow(size: str) -> Axes:
    L_q, L_k, d_k, d_v = {"small": (1, 1, 1, 1), "middle": (3, 5, 4, 3), "large": (40, 64, 32, 48)}[size]
    batch = (2, 8) if size == "large" else ()
    q, k, v = (_random(*batch, *shape) for shape in ((L_q, d_k), (L_k, d_k), (L_k, d_v)))
    mask = masks.causal_mask(L_q, L_k)[0, 0] if size != "small" else None
    words = (WORDS[2 : 2 + L_q], WORDS[:L_k]) if size == "middle" else (None, None)
    return diagrams.attention_flow(q, k, v, mask, queries=words[0], keys=words[1])


def _transformer(size: str) -> Axes:
    layers = {"small": 1, "middle": 3, "large": 12}[size]
    model = make_transformer(30, 40, num_layers=layers, d_model=32, d_ff=64, num_heads=4)
    source, target = torch.tensor([[3, 4, 5, 6, 0], [3, 4, 0, 0, 0]]), torch.tensor([[1, 2, 3], [1, 2, 0]])
    return diagrams.architecture(model, (source, target))


def _decoder_lm(size: str) -> DecoderLM:
    layers = {"small": 1, "middle": 3, "large": 16}[size]
    torch.manual_seed(0)
    return DecoderLM(DecoderConfig(30, num_layers=layers, d_model=32, d_ff=64, num_heads=8, num_kv_heads=2, max_len=16))


TOKENS = torch.tensor([[1, 2, 3, 4, 5]])


def _masks(size: str) -> Axes:
    words = {"small": ["a"], "middle": [*WORDS[:5], "<pad>", "<pad>"], "large": LONG[:16]}[size]
    tokens = torch.tensor([[0 if word == "<pad>" else 1 for word in words]])
    padding, causal = masks.padding_mask(tokens, 0), masks.causal_mask(len(words))
    kinds = {"padding": padding, "causal": causal, "window of 3": masks.sliding_window_mask(len(words), window=3)}
    return diagrams.mask_gallery(
        words, kinds if size != "large" else kinds | {"both": masks.combine_masks(padding, causal)}
    )


def _shifted(size: str) -> Axes:
    words = {"small": ["a", "b"], "middle": WORDS[:7], "large": LONG[:11]}[size]
    causal = torch.ones(len(words) - 1, len(words) - 1).bool().tril()
    kinds = {"causal": causal, "one too far": causal.roll(-1, 0) | causal}
    return diagrams.shifted_targets(words, kinds if size != "small" else {"causal": causal}, row=(len(words) - 1) // 2)


def _masked(size: str) -> Axes:
    words = {"small": ["a"], "middle": WORDS[:6], "large": LONG[:12]}[size]
    L = len(words)
    kinds = {"causal": masks.causal_mask(L)[0, 0], "open": torch.ones(L, L).bool()}
    weights = {name: _random(L, L).masked_fill(~kind, -torch.inf).softmax(-1) for name, kind in kinds.items()}
    return diagrams.masked_weights(words, weights, kinds)


def _beams(size: str) -> Axes:
    steps, width = {"small": (1, 1), "middle": (4, 3), "large": (5, 9)}[size]
    found, kept = [], [((), 0.0)]
    for step in range(steps):
        chances = _random(len(kept), width).log_softmax(-1)
        candidates = [
            ((*tokens, WORDS[at]), so_far + float(chances[row, at]))
            for row, (tokens, so_far) in enumerate(kept)
            for at in range(width)
        ]
        candidates.sort(key=lambda one: -one[1])
        last = step == steps - 1
        found.append([diagrams.Beam(t, p, n < 3, last and n == 0) for n, (t, p) in enumerate(candidates)])
        kept = candidates[:3]
    return diagrams.beam_tree(found)


def _unrolled(size: str) -> Axes:
    source, target = {"small": ("a", "b"), "middle": ("think", "XYZW"), "large": ("abcdefghij", "klmnopqr")}[size]
    weights = None if size == "large" else (2 * _random(len(target), len(source))).softmax(-1)
    phase = {"small": "look", "middle": "step", "large": "speak"}[size]
    return diagrams.unrolled(list(source), list(target), weights, at=len(target) - 1, phase=phase)


def _recurrent(size: str) -> Axes:
    model = RecurrentSeq2Seq(30, 40, attention=size != "small", d_embed=8, d_hidden=12)
    return diagrams.architecture(
        model, (torch.tensor([[3, 4, 5, 6]]), torch.tensor([[1, 2, 3][: 1 + SIZES.index(size)]]))
    )


def _panels(size: str) -> Axes:
    source, target = {"small": ("a", "b"), "middle": ("think", "XYZW"), "large": ("abcdefghij", "klmnopqr")}[size]
    return diagrams.look_step_speak(
        source, target, (2 * _random(len(target), len(source))).softmax(-1), at={"large": 4}.get(size, 0)
    )


def _decoder_step(size: str) -> Axes:
    width = {"small": 1, "middle": 16, "large": 512}[size]
    model = RecurrentSeq2Seq(30, 40, attention=True, d_embed=width, d_hidden=width)
    return diagrams.decoder_step(
        model, (torch.tensor([[3, 4, 5, 6]]), torch.tensor([[1, 2, 3][: 1 + SIZES.index(size)]]))
    )


def _multi_head(size: str) -> Axes:
    heads, L_q, L_k = {"small": (1, 1, 1), "middle": (2, 3, 5), "large": (4, 6, 6)}[size]
    torch.manual_seed(0)
    layer = MultiHeadAttention(8 * heads, heads)
    names = {"small": (None, None), "middle": (WORDS[:3], WORDS[:5]), "large": (LONG[8:14], LONG[10:16])}[size]
    return diagrams.multi_head(layer, _random(L_q, 8 * heads), _random(L_k, 8 * heads), *names)


def _straight(size: str) -> Axes:
    names = {"small": ["pre"], "middle": ["pre-norm", "post-norm"], "large": ["first", "second", "third"]}[size]
    made = {name: layers.EncoderLayer(8, 2, 16, pre_norm=name.startswith("pre")) for name in names}
    return diagrams.straight_streams(made, _random(1, 3, 8))


def _induction(size: str) -> Axes:
    words = {"small": ["a", "a"], "middle": list("qfwaq"), "large": [*LONG[9:16], LONG[10]]}[size]
    if size == "small":
        return diagrams.induction(words)
    weights = [_random(len(words), len(words)).softmax(-1).tril() for _ in range(2)]
    return diagrams.induction(words, before=weights[0], copying=weights[1], says="antidisestablishmentarianism")


PICTURES: dict[str, Callable[[str], Axes]] = {
    "legend": lambda size: diagrams.legend(),
    "attention_flow": _flow,
    "transformer": _transformer,
    "decoder_only": lambda size: diagrams.architecture(_decoder_lm(size), (TOKENS,)),
    "recurrent": _recurrent,
    "decoder_step": _decoder_step,
    "look_step_speak": _panels,
    "straight_streams": _straight,
    "residual_stream": lambda size: diagrams.residual_stream(_decoder_lm(size), (TOKENS,)),
    "mask_gallery": _masks,
    "shifted_targets": _shifted,
    "masked_weights": _masked,
    "multi_head": _multi_head,
    "beam_tree": _beams,
    "induction": _induction,
    "unrolled": _unrolled,
}


def _add(draw: Callable[..., Axes], small: tuple, middle: tuple, large: tuple) -> None:
    PICTURES[draw.__name__] = lambda size: draw(*{"small": small, "middle": middle, "large": large}[size])


_add(
    diagrams.matmul,
    (_random(1, 1), _random(1, 1)),
    (_random(3, 4), _random(4, 5)),
    (_random(8, 30, 20), _random(8, 20, 40)),
)
_add(
    diagrams.reshape,
    (torch.ones(1), 1, 1),
    (torch.arange(12).view(3, 4), 2, 6),
    (torch.arange(600).view(20, 30), 30, -1),
)
_add(diagrams.split_merge, (_random(1, 1), 1), (_random(3, 8), 2, WORDS[:3]), (_random(28, 96), 12, LONG[:28]))
LOOKED_UP = [torch.tensor(rows) for rows in ([[0]], [[3, 1, 4], [2, 0, 0]], [[29, 1, 5, 9, 2, 6, 5, 3]] * 3)]
_add(
    diagrams.lookup,
    (_random(1, 1), LOOKED_UP[0], ["a"]),
    (_random(5, 4), LOOKED_UP[1], ["<pad>", *WORDS[:4]]),
    (_random(30, 64), LOOKED_UP[2], (LONG * 2)[:30]),
)
_add(diagrams.chunked_forms, (1, 1), (12, 4), (24, 7))
_add(diagrams.window_places, (["a"], [(1, 0)]), (list("the red ap"), [(4, 0), (4, 2)]), (LONG[:10], [(6, 4), (10, 0)]))
_add(
    diagrams.state_write,
    (torch.zeros(1, 1), torch.ones(1), torch.ones(1)),
    (torch.tensor([[4.0, 0, 2], [0, 0, 0]]), torch.ones(2), torch.tensor([6.0, 2, 0]), torch.tensor([1.0, 0.5])),
    (_random(3, 3), _random(3), _random(3), _random(3)),
)
_add(diagrams.recomputed_block, (1, 0, 0), (4, 2, 1), (6, 5, 5))
_add(diagrams.tensor_parallel, (2, 2, 2), (4, 2, 2), (4, 4, 4))
_add(diagrams.road_map, (0,), (4,), (15,))


def _ways(length: int, reach: int) -> tuple[dict, int]:
    """A chain, and layers in which each position reaches so many to each side."""

    def chain(node):
        after = node[1] + node[0]
        return {(1, after)} if after < length else set()

    def layers(node):
        return {(node[0] + 1, i) for i in range(length) if abs(i - node[1]) <= reach}

    steps = -(-(length - 1) // reach)
    return {
        "a chain": (chain, [(0, 0), *((1, i) for i in range(length))]),
        "layers": (layers, [(row, min(row * reach, length - 1)) for row in range(steps + 1)]),
        "a star": (lambda node: {(node[0] + 1, i) for i in range(length)}, [(0, 0), (1, length - 1)]),
    }, length


_add(diagrams.growing_paths, _ways(2, 1), _ways(9, 2), _ways(9, 1))
_add(diagrams.divided, (["a"], 1, 1), (WORDS[:8], 4, 4), (LONG[:14], 7, 7))
_add(diagrams.head_wiring, (1, 1), (8, 2), (96, 8))
_add(diagrams.head_wirings, (1, [1]), (6, [6, 2, 1]), (6, [3, 2, 1]))
_add(
    diagrams.attention_lines,
    (torch.ones(1, 1, 1), ["a"], ["a"]),
    (_random(4, 5, 7).softmax(-1), WORDS[:5], WORDS[:7], ["one", "two", "three", "four"]),
    (_random(8, 20, 18).softmax(-1), LONG[:20], LONG[:18]),
)
_add(
    diagrams.head_maps,
    (torch.ones(1, 1, 1), ["a"], ["a"]),
    (_random(3, 5, 7).softmax(-1), WORDS[:5], WORDS[:7], torch.eye(5, 7, dtype=torch.bool), ["one", "two", "three"]),
    (_random(8, 12, 11).softmax(-1), LONG[8:20], LONG[8:19]),
)
_add(diagrams.cache_strip, (["a", "b"],), (WORDS[:6],), (LONG, 3))
_add(diagrams.cache_strips, (["a", "b"],), (WORDS[:6], 2), (LONG[:7], 2))
PAIR = (torch.tensor([1.0, 0.4]), torch.tensor([0.8, 0.9]))
_add(diagrams.rotation, (*PAIR, [(0, 0)]), (*PAIR, [(2, 1), (9, 8), (6, 0)]), (*PAIR, [(n * n, n) for n in range(10)]))
_add(diagrams.clock_hands, ([0], 2), ([0, 1, 2, 40], 8), (list(range(0, 900, 100)), 512))
_add(
    diagrams.projection,
    (torch.tensor([1.0, 0.0]), torch.tensor([1.0, 0.0])),
    (torch.tensor([-2.0, 1.5]), torch.tensor([1.0, 0.5])),
    (torch.tensor([-300.0, 1000.0]), torch.tensor([0.02, 0.5])),
)
_add(
    diagrams.areas,
    (torch.tensor([1.0, 0.0]), {"b": torch.tensor([1.0, 0.0])}),
    (torch.tensor([2.0, 3.0]), {"b": torch.tensor([1.0, 4.0]), "c": torch.tensor([-1.0, -2.0])}, "happy"),
    (torch.tensor([2.0, 3.0]), {f"other {n}": torch.tensor([n + 1.0, 1.0]) for n in range(4)}),
)
NUMBERED = [f"word {n}" for n in range(40)]
_add(diagrams.word_map, (_random(2, 1), NUMBERED[:2]), (_random(12, 20), NUMBERED[:12]), (_random(40, 300), NUMBERED))


def main(folder: Path) -> None:
    """Write every picture and a page of all."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["<!DOCTYPE html><meta charset='utf-8'><title>Diagrams</title><body style='max-width:960px;margin:auto'>"]
    for name, draw in PICTURES.items():
        lines.append(f"<h2>{name}</h2>")
        for size in SIZES:
            ax = draw(size)
            (folder / f"{name}-{size}.png").write_bytes(png(ax.figure, fitted=True))
            lines.append(
                f"<p><img src='{name}-{size}.png' style='max-width:100%' alt='{html.escape(ax.get_label(), quote=True)}'>"
            )
    (folder / "index.html").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
