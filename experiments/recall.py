"""What a layer with a softmax recalls, and one with a state of fixed size: ``python -m experiments recall``.

Every kind of layer is trained on texts of 4 to 64 pairs: with keys that come once, and with keys that come twice, of which the
later counts. First each kind with several learning rates, from seeds that are used for nothing else. The rate of a kind is the
one with the most right answers, as the mean over both tasks, all numbers of pairs and the seeds. (A training that breaks off,
since a decay has become 0, has none.) With it every kind is trained from five other seeds, then with states of other sizes, and
with ten times as many updates.

``part``
    ``choice`` for the runs that choose a rate, ``shown`` for those that a lesson shows.
``4 pairs`` to ``64 pairs``
    Share of right answers by number of pairs.
``first of 64``, ``last of 64``
    The share in texts of 64 pairs, for questions about the first 8 pairs and about the last 8. Empty where keys come twice.
``8 repeated``
    The share in texts of 8 pairs that are written eight times each. For linear attention as ``ALL`` has it, else empty.
``without most``, ``without any``, ``without least``, ``without highest``, ``without lowest``
    The share for 64 pairs, of which 16 others than the one asked for are left out: those whose keys have the largest products
    with its query, whatever the sign, some drawn at random, those with the smallest, those with the highest and with the lowest
    ones, where the product with its own key counts 1. For linear attention and the delta rule as ``ALL`` has them, else empty.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F

from course_utils.results import rows_of
from course_utils.small_models.recall import (
    D_HEAD,
    D_MODEL,
    KINDS,
    PAIRS,
    STEPS,
    SYMBOLS,
    Recaller,
    accuracy,
    make_batch,
    train,
)

from .runs import Run

RATES, CHOICE_SEEDS = (0.003, 0.01, 0.03, 0.1), (10, 11)
SEEDS, SIZE_SEEDS = (0, 1, 2, 3, 4), (0, 1, 2)
TASKS = ("once", "twice")
ALL = [(kind, D_HEAD, D_MODEL, task, STEPS) for task in TASKS for kind in KINDS]
REPEATED = ("linear", D_HEAD, D_MODEL, "once", STEPS)
LEFT_OUT = (REPEATED, ("delta", *REPEATED[1:]))
SIZES = [(kind, d_head, D_MODEL, "once", STEPS) for kind in ("linear", "delta") for d_head in (4, 16, 32)]
WIDE = [("linear", d_head, 2 * D_MODEL, "once", STEPS) for d_head in (D_HEAD // 2, D_HEAD)]
LONGER = [
    *((kind, D_HEAD, D_MODEL, "once", 10 * STEPS) for kind in ("linear", "delta")),
    ("softmax", D_HEAD, D_MODEL, "twice", 10 * STEPS),
    *(("decay", D_HEAD, D_MODEL, task, 10 * STEPS) for task in TASKS),
]
RUN = ("part", "kind", "d_head", "d_model", "task", "updates", "rate", "seed")
SHARES = tuple(f"{pairs} pairs" for pairs in PAIRS)
WITHOUT = ("without most", "without any", "without least", "without highest", "without lowest")
FIELDS = (*RUN, *SHARES, "first of 64", "last of 64", "8 repeated", *WITHOUT)

Setting = tuple[str, int, int, str, int]


@torch.no_grad()
def by_place(model: Recaller) -> list[float]:
    """Shares of right answers for the first 8 of 64 pairs, and for the last 8."""
    keys, values, _ = make_batch(256, 64, torch.Generator().manual_seed(98))
    keys, values = keys[:, :64], values[:, :64]
    asked = torch.cat((keys[:, :8], keys[:, -8:]), dim=1)  # (256, 16)
    right = answers(model, keys, values, asked) == torch.cat((values[:, :8], values[:, -8:]), dim=1)
    return [round(share.float().mean().item(), 4) for share in (right[:, :8], right[:, 8:])]


@torch.no_grad()
def when_repeated(model: Recaller) -> float:
    """The share of right answers for 8 pairs, after seven more writes of each in a random order."""
    rng = torch.Generator().manual_seed(98)
    keys, values, _ = make_batch(256, 8, rng)
    keys, values = keys[:, :8], values[:, :8]
    order = torch.rand(256, 56, generator=rng).argsort(dim=1)
    which = torch.cat((torch.arange(8).expand(256, 8), order % 8), dim=1)  # (256, 64)
    found = answers(model, keys.gather(1, which), values.gather(1, which), keys)
    return round((found == values).float().mean().item(), 4)


@torch.no_grad()
def when_left_out(model: Recaller) -> list[float]:
    """Shares of right answers for 64 pairs without 16 others, in the order of ``WITHOUT``."""
    rng = torch.Generator().manual_seed(98)
    keys, values, right = make_batch(256, 64, rng)
    made = model.key_of.weight
    reads = model.q_proj(made) @ F.normalize(model.k_proj(made), dim=-1).T  # (SYMBOLS, SYMBOLS)
    asked = keys[:, 64:]
    keys, values = (x[:, None, :64].expand(256, asked.shape[1], 64) for x in (keys, values))
    product = (reads / reads.diag()[:, None])[asked[..., None], keys]  # (256, asked, 64), with its own key 1
    shares, overlap = [], product.abs()
    for order in (overlap, torch.rand(overlap.shape, generator=rng), -overlap, product, -product):
        out = order.masked_fill(keys == asked[..., None], -torch.inf).topk(16, dim=-1).indices
        left = values.scatter(2, out, SYMBOLS)  # these write nothing
        found = answers(model, keys.flatten(0, 1), left.flatten(0, 1), asked.flatten()[:, None])
        shares.append(round((found.view_as(right) == right).float().mean().item(), 4))
    return shares


def answers(model: Recaller, keys: torch.Tensor, values: torch.Tensor, asked: torch.Tensor) -> torch.Tensor:
    """What the model answers to ``asked``, (n, questions), after a text, (n, L) each."""
    questions = torch.full_like(asked, SYMBOLS)
    logits = model(torch.cat((keys, asked), dim=1), torch.cat((values, questions), dim=1))
    return logits[:, keys.shape[1] :].argmax(dim=-1)


def run(part: str, setting: Setting, rate: float, seed: int) -> list[dict[str, object]]:
    """One model, tested after its last update: a row of ``FIELDS``."""
    kind, d_head, d_model, task, updates = setting
    twice = task == "twice"
    sizes = {"d_head": d_head, "d_model": d_model, "rate": rate}
    try:
        ((_, model),) = train(kind, seed, twice=twice, steps=updates, every=updates, **sizes)
    except ValueError:  # a decay of exactly 0, where the rate is too large
        empty = [""] * (len(FIELDS) - len(RUN) - len(SHARES))
        return [dict(zip(FIELDS, (part, *setting, rate, seed, *[0.0] * len(SHARES), *empty), strict=True))]
    shares: list[object] = [round(accuracy(model, pairs, twice=twice), 4) for pairs in PAIRS]
    places: list[object] = ["", ""] if twice else by_place(model)
    places.append(when_repeated(model) if (part, setting) == ("shown", REPEATED) else "")
    places += when_left_out(model) if part == "shown" and setting in LEFT_OUT else [""] * len(WITHOUT)
    return [dict(zip(FIELDS, (part, *setting, rate, seed, *shares, *places), strict=True))]


def chosen_rate(kind: str, rows: Sequence[Mapping[str, str]]) -> float:
    """The rate with the most right answers over both tasks, all numbers of pairs and the seeds of the choice."""
    found: dict[float, list[float]] = {}
    for row in rows:
        if row["part"] == "choice" and row["kind"] == kind:
            found.setdefault(float(row["rate"]), []).extend(float(row[name]) for name in SHARES)
    return max(found, key=lambda rate: sum(found[rate]) / len(found[rate]))


def runs(table: Path) -> Iterator[Run]:
    """First the choice of a rate for each kind, then what is shown, the long runs last and from one seed."""
    for setting in ALL:
        for rate in RATES:
            for seed in CHOICE_SEEDS:
                yield one("choice", setting, rate, seed)
    rows = rows_of(table)  # by now with all runs of the choice
    rates = {kind: chosen_rate(kind, rows) for kind in {setting[0] for setting in ALL}}
    for settings, seeds in ((ALL, SEEDS), (WIDE, SEEDS[:2]), (SIZES, SIZE_SEEDS), (LONGER, SEEDS[:1])):
        for seed in seeds:
            for setting in settings:
                yield one("shown", setting, rates[setting[0]], seed)


def one(part: str, setting: Setting, rate: float, seed: int) -> Run:
    """What a run's row holds, and the run."""
    return dict(zip(RUN, (part, *setting, rate, seed), strict=True)), partial(run, part, setting, rate, seed)
