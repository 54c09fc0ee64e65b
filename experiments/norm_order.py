"""Deep encoders with the norm before or after the sum, trained alike: ``python -m experiments norm_order``.

The task: reverse eight symbols. Both orders get the same learning rates, one of them with a warm-up too, the same seeds, and
two starts: sublayers as they are (``full``), and with their last matrices divided by the root of the number of sublayers
(``root``), once each with the tokens held apart or made alike by force, and with controls: sublayers as small as those that
hold the tokens apart, sublayers that hold them apart and are as large as ever, and a vector as large as the one that makes
them alike, but with either sign. One more lets the gradient along the direct path fade as it does beside sublayers of full
size. Plain post-norm gets 1,500 steps instead of 300, and so do the tokens made alike, their control, large sublayers that
hold them apart, and the small start at the largest rate. There post-norm gets a third start as well: last matrices divided by
the number of sublayers itself (``share``). The table holds loss, share of symbols right and likeness of the tokens after the
last layer, all on sequences drawn apart from those of the training, one line a measurement.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from course_utils.small_models.norm_order import (
    EVERY,
    STEPS,
    Reverser,
    fade_direct_path,
    keep_apart,
    keep_apart_and_large,
    keep_small,
    make_alike,
    make_opposite,
    measure,
    train,
)
from course_utils.training import seed_everything

from .runs import Run

SEEDS = (0, 1, 2, 3, 4)
LAYERS, RATES, WARMUP = 6, (0.01, 0.003, 0.001), 100
STARTS = {
    "full": lambda num_layers: 1.0,
    "root": lambda num_layers: (2 * num_layers) ** -0.5,
    "share": lambda num_layers: 1 / (2 * num_layers),
}
TOKENS = {
    "": lambda model: None,
    "apart": keep_apart,
    "small": keep_small,
    "large": keep_apart_and_large,
    "alike": make_alike,
    "opposite": make_opposite,
    "faded": fade_direct_path,
}
SLOW = ("full large", "root alike", "root opposite")
LONG = 1500  # steps of plain post-norm, of these, and of the small start at the rate that some of its seeds don't stand
RUN = ("order", "layers", "rate", "warmup", "start", "seed")
FIELDS = (*RUN, "step", "loss", "right", "likeness")


def run(
    order: str, layers: int, rate: float, warmup: int, start: str, seed: int, steps: int = STEPS, every: int = EVERY
) -> Iterator[dict[str, object]]:
    """One model: rows of ``FIELDS``, from before the first step on."""
    seed_everything(seed)
    size, _, tokens = start.partition(" ")
    model = Reverser(layers, order == "pre-norm", STARTS[size](layers))
    TOKENS[tokens](model)
    setting = (order, layers, rate, warmup, start, seed)
    yield dict(zip(FIELDS, (*setting, 0, *(round(v, 4) for v in measure(model))), strict=True))
    for step in train(model, seed, rate, warmup, steps, every):
        yield dict(zip(FIELDS, (*setting, step, *(round(v, 4) for v in measure(model))), strict=True))


def settings() -> Iterator[tuple[tuple[str, int, float, int, str], int]]:
    """Everything that was varied (order, layers, rate, warm-up, start), and the steps."""
    for order in ("pre-norm", "post-norm"):
        yield (order, 1, RATES[0], 1, "full"), STEPS
    rates = [(rate, 1) for rate in reversed(RATES)] + [(RATES[0], WARMUP)]
    for rate, warmup in rates:
        yield ("pre-norm", LAYERS, rate, warmup, "full"), STEPS
        yield ("post-norm", LAYERS, rate, warmup, "full"), LONG
        yield ("post-norm", LAYERS, rate, warmup, "root"), LONG if (rate, warmup) == (RATES[0], 1) else STEPS
    yield ("post-norm", LAYERS, RATES[0], 1, "share"), STEPS
    for start in ("full apart", "full small", "full large", "root alike", "root opposite", "root faded"):
        yield ("post-norm", LAYERS, RATES[1], 1, start), LONG if start in SLOW else STEPS
    yield ("post-norm", LAYERS, RATES[2], 1, "full large"), LONG
    yield ("pre-norm", LAYERS, RATES[1], 1, "root"), STEPS


def runs(_table: Path) -> Iterator[Run]:
    """One run for each setting and seed."""
    for setting, steps in settings():
        for seed in SEEDS:
            yield dict(zip(RUN, (*setting, seed), strict=True)), partial(run, *setting, seed, steps=steps)
