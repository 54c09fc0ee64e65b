"""What shared keys and values cost when heads have different things to look up: ``python -m course_utils.zoo lookups``.

A task of four lookups at once for a layer of four query heads. Models with four, two and one head of keys and values are
trained alike, from five seeds; then trained multi-head models are converted and trained further. Every model has seen equally
many batches at the same step. ``course_utils/zoo/data/lookups.csv`` holds the accuracy on the way, one line a measurement; a
run that is there is not made again.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..multi_head import MultiHeadAttention
from ..training import seed_everything
from . import shipped
from .runs import make_missing

TABLE = shipped.FOLDER / "lookups.csv"
KINDS, ITEMS, NUM_HEADS, D_HEAD = 4, 6, 4, 8
SEEDS = (0, 1, 2, 3, 4)
STEPS, FURTHER, EVERY, RATE = 900, 180, 45, 1e-2  # updates; updates after a conversion; how often it is measured
FIELDS = ("start", "num_kv_heads", "seed", "step", "accuracy")

Batch = tuple[Float[Tensor, "n 1 d_question"], Float[Tensor, "n items d_item"], Int[Tensor, "n kinds"]]


class Lookups(nn.Module):
    """One attention layer that answers four questions at once.

    Args:
        num_kv_heads: Heads of keys and values, for the four query heads.
    """

    def __init__(self, num_kv_heads: int) -> None:
        super().__init__()
        d_model = NUM_HEADS * D_HEAD
        self.read_question = nn.Linear(KINDS * ITEMS, d_model)
        self.read_item = nn.Linear(2 * KINDS * ITEMS, d_model)
        self.attention = MultiHeadAttention(d_model, NUM_HEADS, num_kv_heads=num_kv_heads)
        self.answer = nn.Linear(d_model, KINDS * ITEMS)

    def forward(self, question: Tensor, items: Tensor) -> Float[Tensor, "n kinds items"]:
        """Logits of the contents, for each kind of name."""
        items = self.read_item(items)  # (n, items, d_model)
        output = self.attention(self.read_question(question), items, items)  # (n, 1, d_model)
        return self.answer(output).view(-1, KINDS, ITEMS)


def make_batch(n: int, rng: torch.Generator) -> Batch:
    """Questions, items and answers of ``n`` indexes.

    An index has 6 items; each has a name and a content of each of four kinds, numbers from 0 to 5. No two items share a name
    of the same kind. A question gives one name of each kind and wants the four contents.
    """
    names = torch.rand(n, KINDS, ITEMS, generator=rng).argsort(-1)  # (n, kinds, items): each row 0 to 5 in some order
    contents = torch.randint(0, ITEMS, (n, KINDS, ITEMS), generator=rng)  # (n, kinds, items)
    item = torch.randint(0, ITEMS, (n, KINDS, 1), generator=rng)  # which item is asked for, by kind
    asked, target = names.gather(2, item)[..., 0], contents.gather(2, item)[..., 0]  # (n, kinds)
    one_hot = [F.one_hot(t.mT, ITEMS).flatten(2).float() for t in (names, contents)]  # each (n, items, kinds * items)
    question = F.one_hot(asked, ITEMS).flatten(1)[:, None].float()  # (n, 1, kinds * items)
    return question, torch.cat(one_hot, dim=-1), target


def accuracy(model: nn.Module) -> float:
    """Share of right contents among 8,000 questions that no model was trained on."""
    question, items, target = make_batch(2000, torch.Generator().manual_seed(99))
    with torch.no_grad():
        return (model(question, items).argmax(-1) == target).float().mean().item()


def train(model: nn.Module, steps: int, seed: int, every: int = EVERY) -> Iterator[tuple[int, float]]:
    """Train on fresh batches of 128; yields the number of steps done and the accuracy, every ``every`` steps."""
    rng, optimizer = torch.Generator().manual_seed(seed), torch.optim.Adam(model.parameters(), lr=RATE)
    for step in range(1, steps + 1):
        question, items, target = make_batch(128, rng)
        loss = F.cross_entropy(model(question, items).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % every == 0:
            yield step, accuracy(model)


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


def run(seed: int, steps: int = STEPS, further: int = FURTHER, every: int = EVERY) -> Iterator[dict[str, object]]:
    """All models of one seed: rows of ``FIELDS``."""

    def row(start: str, heads: int, step: int, right: float) -> dict[str, object]:
        return dict(zip(FIELDS, (start, heads, seed, step, round(right, 4)), strict=True))

    for heads in (NUM_HEADS, 2, 1):
        seed_everything(seed)
        model = Lookups(heads)
        yield row("from random weights", heads, 0, accuracy(model))
        for step, right in train(model, steps, 10 + seed, every):
            yield row("from random weights", heads, step, right)
        fewer = [(way, few, converted(model, few, WAYS[way])) for way in WAYS for few in (2, 1) if heads == NUM_HEADS]
        for step, right in train(model, further, 50 + seed, every):
            yield row("from random weights", heads, steps + step, right)
        for way, few, smaller in fewer:
            yield row(way, few, steps, accuracy(smaller))
            for step, right in train(smaller, further, 50 + seed, every):
                yield row(way, few, steps + step, right)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs that are missing."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.zoo lookups", description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path, default=TABLE, help=f"file of the numbers (default: {TABLE.name})")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"updates before a conversion (default: {STEPS})")
    options = parser.parse_args(arguments)
    for seed in SEEDS:
        make_missing(options.table, FIELDS, {"seed": seed}, partial(run, seed, options.steps))
    return 0
