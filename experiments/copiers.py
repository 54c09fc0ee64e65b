"""Copiers of several lengths, whole and with one attention missing: ``python -m experiments copiers``.

Lesson 10's second copier, trained on sequences of 3 to 10 symbols from five seeds: as it is, and without one of its three kinds
of attention from the first update on. The table holds, for sequences of each length up to 12, the share of 1,000 that are
copied without a mistake.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.datasets.tasks import copy_task
from course_utils.decoding import greedy_decode
from course_utils.models import Transformer
from course_utils.tokenizers import END_ID, PAD_ID, START_ID
from course_utils.training import label_smoothing_loss, one_cycle_rate, seed_everything

from .runs import Run
from .warmups import LENGTH, PEAK, VOCAB, small_model

SEEDS = (0, 1, 2, 3, 4)
STEPS, LENGTHS, MAX_LEN = 400, tuple(range(3, 13)), 16
PARTS = {  # what is missing: the stack, and the part of each of its layers
    "nothing": None,
    "encoder": ("encoder_layers", "self_attention"),
    "decoder": ("decoder_layers", "self_attention"),
    "cross-attention": ("decoder_layers", "cross_attention"),
}
FIELDS = ("without", "seed", "length", "copied")


def without(model: Transformer, missing: str) -> Transformer:
    """Make one kind of attention add nothing, in all layers and for good."""
    if PARTS[missing] is not None:
        stack, part = PARTS[missing]
        for layer in getattr(model, stack):
            for parameter in getattr(layer, part).o_proj.parameters():
                nn.init.zeros_(parameter).requires_grad_(False)
    return model


def three_to_ten(number: int, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Pairs of 3 to 10 symbols, padded: ``(B, L_s)`` and ``(B, L_t + 1)``."""
    length = torch.randint(3, LENGTH + 1, (number, 1), generator=rng)  # (B, 1)
    source, _ = copy_task(number, LENGTH, VOCAB, rng)  # (B, L_s)
    source = source.masked_fill(torch.arange(LENGTH) >= length, PAD_ID)
    target = F.pad(source, (1, 1))  # (B, L_t + 1)
    target[:, 0] = START_ID
    return source, target.scatter(1, length + 1, END_ID)


def train(model: nn.Module, seed: int, steps: int) -> nn.Module:
    """Train on fresh batches of 64."""
    rng = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    for step in range(1, steps + 1):
        source, target = three_to_ten(64, rng)
        loss = label_smoothing_loss(model(source, target[:, :-1]), target[:, 1:], smoothing=0.1)
        for group in optimizer.param_groups:
            group["lr"] = one_cycle_rate(step, steps, PEAK)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


def copied(model: Transformer, length: int) -> float:
    """Share of 1,000 sequences, the same for all models and in no training, that are copied without a mistake."""
    source, target = copy_task(1000, length, VOCAB, torch.Generator().manual_seed(10**6))
    said = greedy_decode(model.eval(), source, max_len=MAX_LEN).tokens  # (1000, L_out)
    said = F.pad(said, (0, MAX_LEN - said.shape[1]))  # (1000, 16)
    wanted = F.pad(target[:, 1:], (0, MAX_LEN - 1 - length))  # (1000, 16)
    return (said == wanted).all(dim=1).float().mean().item()


def run(missing: str, seed: int, steps: int = STEPS) -> Iterator[dict[str, object]]:
    """One run: rows of ``FIELDS``."""
    seed_everything(seed)
    model = train(without(small_model(), missing).train(), seed, steps)
    for length in LENGTHS:
        yield dict(zip(FIELDS, (missing, seed, length, round(copied(model, length), 3)), strict=True))


def runs(_table: Path) -> Iterator[Run]:
    """One run for each seed and part that is missing."""
    for seed in SEEDS:
        for missing in PARTS:
            yield {"without": missing, "seed": seed}, partial(run, missing, seed)
