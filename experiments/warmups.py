"""The order of the norms against the warm-up: ``python -m experiments warmups``.

Lesson 10's copier, trained in four ways from five seeds: the norm before each part or after each sum, with and without a
warm-up. The table holds the loss on the way, one line for ten updates, and in the last line of a run the share of 1,000 unseen
sequences that are copied without a mistake.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch
from torch import nn

from course_utils.datasets.tasks import copy_task
from course_utils.decoding import greedy_decode
from course_utils.models import Transformer, TransformerConfig
from course_utils.training import label_smoothing_loss, one_cycle_rate, seed_everything

from .runs import Run

LENGTH, VOCAB = 10, 11
SEEDS = (0, 1, 2, 3, 4)
STEPS, EVERY, PEAK = 240, 10, 4e-3  # updates; how many of them a line stands for; the largest learning rate
# Warm-up: the share of the updates in which the rate rises; 1e-4 is over before the first.
RISE = {"yes": 0.3, "no": 1e-4}
FIELDS = ("norm", "warmup", "seed", "step", "loss", "copied")


def small_model(norm: str = "before") -> Transformer:
    """Two layers on each side; ``norm`` is ``"before"`` each part (pre-norm) or ``"after"`` each sum (post-norm).

    After the last sum, post-norm has a norm already: there is no final one.
    """
    first = {"before": True, "after": False}[norm]
    sizes = {"num_layers": 2, "d_model": 64, "d_ff": 128, "num_heads": 4, "dropout": 0.0, "max_len": 16}
    return Transformer(TransformerConfig(VOCAB, VOCAB, **sizes, pre_norm=first, final_norm=first))


def train(model: nn.Module, seed: int, rise: float, steps: int = STEPS) -> Iterator[tuple[int, float]]:
    """Train on fresh batches of 64; yields the number of updates done and the loss of the last one."""
    rng = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    for step in range(1, steps + 1):
        source, target = copy_task(64, LENGTH, VOCAB, rng)  # (B, L_s), (B, L_t + 1)
        loss = label_smoothing_loss(model(source, target[:, :-1]), target[:, 1:], smoothing=0.1)
        for group in optimizer.param_groups:
            group["lr"] = one_cycle_rate(step, steps, PEAK, rise=rise)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        yield step, loss.item()


def copied(model: Transformer) -> float:
    """Share of 1,000 sequences, the same for all models and in no training, that are copied without a mistake."""
    source, target = copy_task(1000, LENGTH, VOCAB, torch.Generator().manual_seed(10**6))
    output = greedy_decode(model.eval(), source, max_len=LENGTH + 1).tokens  # (1000, L_out)
    right = (output == target[:, 1:]).all(dim=1) if output.shape == target[:, 1:].shape else torch.zeros(1000)
    return right.float().mean().item()


def run(norm: str, warmup: str, seed: int, steps: int = STEPS) -> Iterator[dict[str, object]]:
    """One run: rows of ``FIELDS``."""
    seed_everything(seed)
    model, losses = small_model(norm), []
    for step, loss in train(model.train(), seed, RISE[warmup], steps):
        losses.append(loss)
        if step % EVERY == 0:
            right = round(copied(model), 3) if step == steps else ""
            yield dict(zip(FIELDS, (norm, warmup, seed, step, round(sum(losses) / EVERY, 4), right), strict=True))
            losses = []


def runs(_table: Path) -> Iterator[Run]:
    """One run for each way and seed."""
    for seed in SEEDS:
        for norm in ("before", "after"):
            for warmup in RISE:
                yield {"norm": norm, "warmup": warmup, "seed": seed}, partial(run, norm, warmup, seed)
