"""How heads learn to continue what is written twice: ``python -m experiments induction``.

The model of lesson 13 from five seeds: as it is; with one layer, for as much time and, once, for ten times as long; with rotary
positions; trained on longer strings; trained on strings of one length. The table holds what was measured while it was trained
and, at the end, with heads taken out and paths cut: ``what`` and its ``value``, in bits for a letter of the second half but for
the two scores, which are weights.
"""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path

import torch

from course_utils.circuits import cut_path, replaced_heads
from course_utils.models import DecoderLM
from course_utils.pretrained import shipped
from course_utils.small_models.induction import (
    LONGEST,
    SHORTEST,
    STEPS,
    head_scores,
    second_half_bits,
    small_model,
    train,
    trained,
    twice,
)
from course_utils.training import seed_everything

from .runs import Run

SEEDS = (0, 1, 2, 3, 4)
TRAINED_LENGTHS = tuple(range(SHORTEST, LONGEST + 1, 3))  # whose mean is told
LENGTHS, COUNT, EVERY = (*TRAINED_LENGTHS, 20, 26), 200, 25
USUAL = (SHORTEST, LONGEST)
SETTINGS = {  # layers, positions, lengths in training, steps
    "two layers": (2, "learned", USUAL, STEPS),
    "one layer": (1, "learned", USUAL, 2 * STEPS),
    "rotary": (2, "rotary", USUAL, STEPS),
    "up to 26": (2, "learned", (SHORTEST, 26), STEPS),
    "only 16": (2, "learned", (LONGEST, LONGEST), STEPS),
    "one layer, longer": (1, "learned", USUAL, 20 * STEPS),
}
SEEDS_OF = {"one layer, longer": SEEDS[:1]}  # elsewhere all
FIELDS = ("setting", "seed", "steps", "what", "value")


def tests() -> dict[int, torch.Tensor]:
    """Strings of each length, the same for all models."""
    return {length: twice(COUNT, length, torch.Generator().manual_seed(10**6 + length)) for length in LENGTHS}


def strongest(model: DecoderLM, ids: torch.Tensor) -> Iterator[tuple[str, float]]:
    """The largest score of any head."""
    for name, scores in head_scores(model, ids).items():
        yield name, scores.max().item()


def taken_apart(model: DecoderLM, ids: torch.Tensor) -> Iterator[tuple[str, float]]:
    """Each head's scores; bits without it, without its whole layer, and with it hidden from one input of the later heads."""
    names = [f"layers.{layer}.self_attention" for layer in range(len(model.layers))]
    heads = range(model.layers[0].self_attention.num_heads)
    for name, scores in head_scores(model, ids).items():
        for layer, of_layer in enumerate(scores.tolist()):
            yield from ((f"{name}, {layer}.{head}", score) for head, score in enumerate(of_layer))
    for layer, name in enumerate(names):
        for head in heads:
            with replaced_heads(model, {(name, head): "mean"}):
                yield f"without {layer}.{head}", second_half_bits(model, ids)
        with replaced_heads(model, {(name, head): "mean" for head in heads}):
            yield f"without layer {layer}", second_half_bits(model, ids)
    for writer in heads if len(names) > 1 else ():
        for into in ("q", "k", "v"):
            with contextlib.ExitStack() as cuts:
                for reader in heads:
                    cuts.enter_context(cut_path(model, (names[0], writer), (names[1], reader), into))
                yield f"0.{writer} hidden from {into}", second_half_bits(model, ids)


def run(setting: str, seed: int) -> Iterator[dict[str, object]]:
    """One run: rows of ``FIELDS``."""
    layers, positions, lengths, steps = SETTINGS[setting]
    seed_everything(seed)
    model, judged = small_model(layers, positions), tests()
    found: list[tuple[int, str, float]] = []

    def measure(step: int) -> None:
        if step % (EVERY if steps <= 2 * STEPS else 20 * EVERY):
            return
        bits = {length: second_half_bits(model, ids) for length, ids in judged.items()}
        mean = sum(bits[length] for length in TRAINED_LENGTHS) / len(TRAINED_LENGTHS)
        found.append((step, f"lengths {SHORTEST} to {LONGEST}", mean))
        found.extend((step, f"length {length}", bits[length]) for length in (10, LONGEST, 20, 26))
        found.extend((step, name, value) for name, value in strongest(model, judged[LONGEST]))

    train(model, seed, steps=steps, lengths=lengths, after=measure)
    found.extend((steps, name, value) for name, value in taken_apart(model, judged[LONGEST]))
    for step, what, value in found:
        yield dict(zip(FIELDS, (setting, seed, step, what, round(value, 4)), strict=True))


def ship() -> None:
    """Train the model that comes with the course, the first run of the table, and write its weights."""
    began = time.monotonic()
    model = trained(progress=True)
    minutes = round((time.monotonic() - began) / 60, 1)
    shipped.save("induction", model, asdict(model.config), {"updates": STEPS, "seed": SEEDS[0], "minutes": minutes})


def runs(_table: Path) -> Iterator[Run]:
    """Each setting from its seeds."""
    for setting in SETTINGS:
        for seed in SEEDS_OF.get(setting, SEEDS):
            yield {"setting": setting, "seed": seed}, partial(run, setting, seed)
