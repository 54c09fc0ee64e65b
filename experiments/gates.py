"""A small language model with SwiGLU, or with a ReLU network in its place: ``python -m experiments gates``.

The model of lesson 12 that is trained live, with the same text, windows, number of updates and parameters. Each network is tried
with three rates on seed 0 and then trained with the best one on other seeds, so that neither is judged at the rate that suits
the other. Then both are trained for four times as long, since what is behind early need not stay behind. The table holds bits
per character on the validation text, one line a run.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.datasets.documentation import documentation_split
from course_utils.datasets.text_windows import TEXT, encode_text, windows
from course_utils.metrics import text_scores
from course_utils.models import DecoderConfig, DecoderLM, count_parameters
from course_utils.results import rows_of
from course_utils.training import MuonWithAdam, fit, next_symbol_loss, one_cycle_rate, seed_everything

from .runs import Run

NETWORKS, SEEDS, RATES = ("SwiGLU", "ReLU"), (1, 2, 3, 4, 5), (0.006, 0.012, 0.024)
STEPS, LONGER, WINDOW, BATCH = 300, 1200, 128, 8
LONGER_SEEDS = (1,)
RUN = ("network", "steps", "rate", "seed")
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


def build(network: str) -> DecoderLM:
    """Two blocks with one network or the other, initialized alike."""
    sizes = {"num_layers": 2, "d_model": 128, "d_ff": 344, "num_heads": 4, "num_kv_heads": 2}
    model = DecoderLM(DecoderConfig(len(TEXT), max_len=WINDOW, **sizes))
    for layer in model.layers if network == "ReLU" else ():
        layer.feed_forward = ReluNetwork(128, 344 * 3 // 2)
        nn.init.normal_(layer.feed_forward.up_proj.weight, std=0.02)
        nn.init.normal_(layer.feed_forward.down_proj.weight, std=0.01)  # 0.02 / sqrt(2 N)
    return model


def batches(seed: int, steps: int) -> list[Tensor]:
    """Windows of the training text, cut elsewhere in each pass through it: the first ``steps`` of them."""
    ids, passes = encode_text(documentation_split().train), []
    while len(passes) < steps:
        passes += windows(ids, WINDOW, BATCH, seed=seed + 100 * len(passes))
    return passes[:steps]


def run(network: str, steps: int, rate: float, seed: int) -> Iterable[dict[str, object]]:
    """One model, judged on the validation text in windows of the length that it was trained in."""
    seed_everything(seed)
    model, some = build(network), batches(seed, steps)
    fit(
        model,
        lambda epoch: some,
        next_symbol_loss,
        epochs=1,
        rate=lambda step: one_cycle_rate(step, steps, rate, rise=0.1),
        optimizer=MuonWithAdam(model),
        progress=False,
    )
    valid = encode_text(documentation_split().valid)
    bits = text_scores(model, valid, length=WINDOW, stride=WINDOW // 2)["bits"]
    values = (network, steps, rate, seed, count_parameters(model), round(bits, 4))
    return [dict(zip(FIELDS, values, strict=True))]


def best_rate(table: Path, network: str) -> float:
    """The rate with the fewest bits on seed 0."""
    tried = {
        row["rate"]: float(row["bits"]) for row in rows_of(table) if (row["network"], row["seed"]) == (network, "0")
    }
    return float(min(tried, key=tried.__getitem__))


def runs(table: Path) -> Iterator[Run]:
    """All rates on seed 0; then, with the best of them, each network on other seeds, and on some of these for longer."""
    wanted = [(network, STEPS, rate, 0) for network in NETWORKS for rate in RATES]
    for plan in wanted:
        yield dict(zip(RUN, plan, strict=True)), partial(run, *plan)
    later = [(LONGER, seed) for seed in LONGER_SEEDS] + [(STEPS, seed) for seed in SEEDS]
    for steps, seed in later:
        for network in NETWORKS:
            plan = (network, steps, best_rate(table, network), seed)
            yield dict(zip(RUN, plan, strict=True)), partial(run, *plan)
