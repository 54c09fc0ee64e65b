"""Training of the models that come with the course: ``python -m course_utils.train recurrent``.

Every run can be stopped (Ctrl-C, or killed) and started again: it goes on after the last whole epoch. Checkpoints and logs
go to ``build/train``; the finished weights and their card to ``course_utils/pretrained``.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from torch import nn

from . import pretrained
from .datasets.batches import batches_by_length, encode_pairs
from .datasets.pronunciations import split
from .evaluate import GROUPS, write_card
from .pronounce import SOUNDS, SPELLING, error_rates, teacher_forced_loss
from .recurrent import RecurrentSeq2Seq
from .training import History, fit, one_cycle_rate, seed_everything

WORK = Path("build") / "train"


@dataclass(frozen=True)
class Recipe:
    """How a model of pronunciation is trained.

    Args:
        build: Makes the model from ``config``.
        config: Arguments of the model.
        epochs: Passes over the training words.
        symbols_per_batch: Letters and phonemes of a batch together.
        peak_rate: Largest learning rate of the one-cycle schedule.
        smoothing: Of the labels.
        seed: Of the weights, the batches and dropout.
    """

    build: Callable[..., nn.Module]
    config: dict[str, Any]
    epochs: int
    symbols_per_batch: int
    peak_rate: float
    smoothing: float = 0.0
    seed: int = 0


def _recurrent(attention: bool) -> Recipe:
    config = {"src_vocab": len(SPELLING), "tgt_vocab": len(SOUNDS), "attention": attention}
    config |= {"d_embed": 64, "d_hidden": 128, "dropout": 0.1}
    return Recipe(RecurrentSeq2Seq, config, epochs=8, symbols_per_batch=3000, peak_rate=3e-3)


RECIPES = {
    "recurrent_attention": _recurrent(attention=True),
    "recurrent_no_attention": _recurrent(attention=False),
}


def train(name: str, recipe: Recipe, work: Path, *, progress: bool = True) -> History:
    """Train one model, going on where an earlier run stopped, and write its weights when it is finished.

    Args:
        name: Of the model, and of its files.
        recipe: How.
        work: Folder for checkpoints.
        progress: Whether to draw a bar.

    Returns:
        The history; weights are written only if ``stopped`` is ``"finished"``.
    """
    seed_everything(recipe.seed)
    model = recipe.build(**recipe.config)
    pairs = encode_pairs(split("train"), SPELLING, SOUNDS)
    some_valid = dict(list(split("valid").items())[::6])

    def batches(epoch: int) -> list:
        return list(batches_by_length(pairs, recipe.symbols_per_batch, seed=1000 * recipe.seed + epoch))

    num_steps = len(batches(0)) * recipe.epochs
    history = fit(
        model,
        batches,
        partial(teacher_forced_loss, smoothing=recipe.smoothing),
        epochs=recipe.epochs,
        rate=lambda step: one_cycle_rate(step, num_steps, recipe.peak_rate),
        validate=lambda model: error_rates(model, some_valid)["WER"],
        checkpoint=work / f"{name}.pt",
        progress=progress,
    )
    if history.stopped == "finished":
        facts = {"epochs": recipe.epochs, "seed": recipe.seed, "minutes": round(history.seconds[-1] / 60, 1)}
        pretrained.save(name, model, recipe.config, facts)
    return history


def main(arguments: Sequence[str] | None = None) -> int:
    """Train a group of models and write their card."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.train", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=sorted(GROUPS), help="which models to train")
    parser.add_argument(
        "--work", type=Path, default=WORK, help="folder for checkpoints and logs (default: build/train)"
    )
    options = parser.parse_args(arguments)
    for name in GROUPS[options.what]:
        recipe = RECIPES[name]
        print(f"{name}: {recipe}", flush=True)
        history = train(name, recipe, options.work)
        for epoch, (loss, score, seconds) in enumerate(
            zip(history.losses, history.scores, history.seconds, strict=True), start=1
        ):
            print(f"epoch {epoch}: loss {loss:.4f}, valid WER {100 * score:.2f} %, {seconds:.0f} s", flush=True)
        if history.stopped != "finished":
            print(f"{history.stopped}: start the same command again to go on", file=sys.stderr)
            return 1
    print(f"figures written to {write_card(options.what).name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
