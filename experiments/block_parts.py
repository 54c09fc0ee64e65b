"""A small language model with one part of the block exchanged at a time: ``python -m experiments block_parts``.

The same text, windows and number of updates, and nearly as many parameters. Each variant is tried with two rates on seed 0 and
then trained with the better one on four other seeds, so that none is judged at the rate that suits another. The table holds
bits per character on the validation text, one line a run.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.datasets.documentation import documentation_split
from course_utils.datasets.text_windows import TEXT, encode_text, windows
from course_utils.layers import LayerNorm
from course_utils.metrics import text_scores
from course_utils.models import DecoderConfig, DecoderLM, count_parameters
from course_utils.results import rows_of
from course_utils.training import MuonWithAdam, fit, next_symbol_loss, one_cycle_rate, seed_everything

from .runs import Run

SEEDS, RATES = (1, 2, 3, 4), (0.012, 0.024)
STEPS, WINDOW, BATCH = 300, 128, 4
VARIANTS = (
    "today's block",
    "ReLU for SwiGLU",
    "LayerNorm for RMSNorm",
    "learned positions for RoPE",
    "4 kv heads for 2",
)
RUN = ("variant", "rate", "seed")
FIELDS = (*RUN, "parameters", "bits")


class ReluNetwork(nn.Module):
    """Up, ReLU, down, without biases: as many parameters as a gated network of two thirds of the width."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.up_proj = nn.Linear(d_model, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Transform each position."""
        return self.down_proj(F.relu(self.up_proj(x)))


class Placed(nn.Module):
    """An embedding that adds a learned vector of the position."""

    def __init__(self, embedding: nn.Embedding, max_len: int) -> None:
        super().__init__()
        self.weight = embedding.weight
        self.places = nn.Parameter(0.02 * torch.randn(max_len, embedding.embedding_dim))
        self.num_embeddings = embedding.num_embeddings

    def forward(self, tokens: Tensor) -> Tensor:
        """Token plus position."""
        return F.embedding(tokens, self.weight) + self.places[: tokens.shape[1]]


def build(variant: str) -> DecoderLM:
    """Today's block, or the same with one part exchanged; initialized alike."""
    d_model, d_ff = 64, 176
    heads = 4 if variant == "4 kv heads for 2" else 2
    # two more key/value heads have 2 * 32 * 64 numbers: the network gives them up
    width = d_ff - 2 * 32 * d_model // (3 * d_model) if heads == 4 else d_ff
    sizes = {"num_layers": 2, "d_model": d_model, "d_ff": width, "num_heads": 4, "num_kv_heads": heads}
    model = DecoderLM(DecoderConfig(len(TEXT), max_len=WINDOW, **sizes))
    for layer in model.layers:
        if variant == "ReLU for SwiGLU":
            layer.feed_forward = ReluNetwork(d_model, d_ff * 3 // 2)
            nn.init.normal_(layer.feed_forward.up_proj.weight, std=0.02)
            nn.init.normal_(layer.feed_forward.down_proj.weight, std=0.01)
        if variant == "learned positions for RoPE":
            layer.self_attention.rotary = None
        if variant == "LayerNorm for RMSNorm":
            layer.attention_norm, layer.feed_forward_norm = LayerNorm(d_model), LayerNorm(d_model)
    if variant == "LayerNorm for RMSNorm":
        model.norm = LayerNorm(d_model)
    if variant == "learned positions for RoPE":
        model.embedding = Placed(model.embedding, WINDOW)
    return model


def run(variant: str, rate: float, seed: int, steps: int = STEPS) -> Iterable[dict[str, object]]:
    """One model, judged on the validation text in windows of the length that it was trained in."""
    seed_everything(seed)
    model, parts = build(variant), documentation_split()
    batches = windows(encode_text(parts.train), WINDOW, BATCH, seed=seed)[:steps]
    optimizer = MuonWithAdam(model)
    fit(
        model,
        lambda epoch: batches,
        next_symbol_loss,
        epochs=1,
        rate=lambda step: one_cycle_rate(step, steps, rate, rise=0.1),
        optimizer=optimizer,
        progress=False,
    )
    bits = text_scores(model, encode_text(parts.valid), length=WINDOW, stride=WINDOW // 2)["bits"]
    values = (variant, rate, seed, count_parameters(model), round(bits, 4))
    return [dict(zip(FIELDS, values, strict=True))]


def best_rate(table: Path, variant: str) -> float:
    """The rate with the fewest bits on seed 0."""
    tried = {
        row["rate"]: float(row["bits"]) for row in rows_of(table) if (row["variant"], row["seed"]) == (variant, "0")
    }
    return float(min(tried, key=tried.__getitem__))


def runs(table: Path) -> Iterator[Run]:
    """Both rates on seed 0; then, for each other seed and variant, one run with the better rate."""
    for variant in VARIANTS:
        for rate in RATES:
            yield dict(zip(RUN, (variant, rate, 0), strict=True)), partial(run, variant, rate, 0)
    for seed in SEEDS:
        for variant in VARIANTS:
            rate = best_rate(table, variant)
            yield dict(zip(RUN, (variant, rate, seed), strict=True)), partial(run, variant, rate, seed)
