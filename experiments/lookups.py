"""What shared keys and values cost when heads have different things to look up: ``python -m experiments lookups``.

Models with four, two and one head of keys and values are trained alike, from five seeds; then trained multi-head models are
converted and trained further, and a single shared head is made as wide as four. Every model has seen equally many batches at
the same step. The table holds the accuracy on the way, one line a measurement.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path

from jaxtyping import Float
from torch import Tensor

from course_utils.small_models.lookups import D_HEAD, EVERY, NUM_HEADS, Lookups, accuracy, train
from course_utils.training import seed_everything

from .runs import Run

SEEDS = (0, 1, 2, 3, 4)
STEPS = 900  # updates before a conversion
FURTHER = {  # kind of model -> heads of keys and values -> updates after these
    "from random weights": {NUM_HEADS: 180, 2: 180, 1: 180},
    "trained on": {1: 3105},  # the same models as above, of which only what comes later is kept
    "keys and values of 32": {1: 3105},
    "mean of the group": {2: 180, 1: 180},  # converted from a model with four heads
    "first of the group": {2: 180, 1: 180},
}
FINE, COARSE = 1080, 225  # every measurement is kept up to the first number, later one in so many updates
WIDE = {"key_size": NUM_HEADS * D_HEAD, "value_size": NUM_HEADS * D_HEAD}  # one head as wide as four
FIELDS = ("start", "num_kv_heads", "seed", "step", "accuracy")


def mean_of_group(heads: Float[Tensor, "H_kv G d_head d_in"]) -> Float[Tensor, "H_kv d_head d_in"]:
    """The average of the heads of each group (Ainslie et al., "GQA", 2023, section 2.1)."""
    return heads.mean(dim=1)


def first_of_group(heads: Float[Tensor, "H_kv G d_head d_in"]) -> Float[Tensor, "H_kv d_head d_in"]:
    """One head of each group, the others dropped: what the paper compares the mean with."""
    return heads[:, 0]


WAYS = {"mean of the group": mean_of_group, "first of the group": first_of_group}


def converted(model: Lookups, num_kv_heads: int, way: Callable[[Tensor], Tensor]) -> Lookups:
    """A model with fewer heads of keys and values, made from a trained one with ``NUM_HEADS`` of them."""
    state = dict(model.state_dict())
    for name in ("k_proj.weight", "k_proj.bias", "v_proj.weight", "v_proj.bias"):
        whole = state[f"attention.{name}"]
        heads = whole.reshape(num_kv_heads, NUM_HEADS // num_kv_heads, D_HEAD, -1)  # (H_kv, G, d_head, d_in or 1)
        state[f"attention.{name}"] = way(heads).reshape(num_kv_heads * D_HEAD, *whole.shape[1:])
    smaller = Lookups(num_kv_heads)
    smaller.load_state_dict(state)
    return smaller


def kept(start: str, step: int) -> bool:
    """Whether the measurement after ``step`` updates goes into the table."""
    return start != "trained on" if step <= FINE else (step - FINE) % COARSE == 0


def run(start: str, heads: int, seed: int, steps: int = STEPS, every: int = EVERY) -> Iterator[dict[str, object]]:
    """One model, from random weights or converted from a trained one: rows of ``FIELDS``."""
    seed_everything(seed)
    model = Lookups(NUM_HEADS if start in WAYS else heads, **(WIDE if start == "keys and values of 32" else {}))
    found = [(0, accuracy(model)), *train(model, steps, 10 + seed, every)]
    if start in WAYS:
        model = converted(model, heads, WAYS[start])
        found = [(steps, accuracy(model))]
    more = train(model, FURTHER[start][heads], 50 + seed, every)
    for step, right in [*found, *((steps + step, right) for step, right in more)]:
        if kept(start, step):
            yield dict(zip(FIELDS, (start, heads, seed, step, round(right, 4)), strict=True))


def runs(_table: Path) -> Iterator[Run]:
    """One run for each kind of model and each seed."""
    for start, further in FURTHER.items():
        for heads, seed in product(further, SEEDS):
            wanted = {"start": start, "num_kv_heads": heads, "seed": seed}
            yield wanted, partial(run, start, heads, seed)
