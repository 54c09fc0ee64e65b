"""Deep encoders with the norm before or after the sum, trained alike: ``python -m experiments norm_order``.

The task: reverse eight symbols. Both orders get the same learning rates, one of them with a warm-up too, the same seeds and
the same number of steps. The table holds loss, share of symbols right and likeness of the tokens after the last layer, all on
sequences that no model was trained on, one line a measurement.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from course_utils.small_models.norm_order import EVERY, STEPS, Reverser, measure, train
from course_utils.training import seed_everything

from .runs import Run

SEEDS = (0, 1, 2, 3, 4)
RATES, WARMUP = (0.01, 0.003, 0.001), 100
RUN = ("order", "layers", "rate", "warmup", "seed")
FIELDS = (*RUN, "step", "loss", "right", "likeness")


def run(
    order: str, layers: int, rate: float, warmup: int, seed: int, steps: int = STEPS, every: int = EVERY
) -> Iterator[dict[str, object]]:
    """One model: rows of ``FIELDS``, from before the first step on."""
    seed_everything(seed)
    model = Reverser(layers, order == "pre-norm")
    setting = (order, layers, rate, warmup, seed)
    yield dict(zip(FIELDS, (*setting, 0, *(round(v, 4) for v in measure(model))), strict=True))
    for step in train(model, seed, rate, warmup, steps, every):
        yield dict(zip(FIELDS, (*setting, step, *(round(v, 4) for v in measure(model))), strict=True))


def settings() -> Iterator[tuple[str, int, float, int]]:
    """Everything that was varied: order, layers, rate, warm-up."""
    for order in ("pre-norm", "post-norm"):
        yield order, 1, RATES[0], 1
        for rate in RATES:
            yield order, 6, rate, 1
        yield order, 6, RATES[0], WARMUP


def runs(_table: Path) -> Iterator[Run]:
    """One run for each setting and seed."""
    for seed in SEEDS:
        for setting in settings():
            yield dict(zip(RUN, (*setting, seed), strict=True)), partial(run, *setting, seed)
