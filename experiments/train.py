"""Training of the models that come with the course: ``python -m experiments train pronounce``.

Every run can be stopped (Ctrl-C, or killed) and started again: it goes on after the last whole epoch. Checkpoints go to
``build/train``; the finished weights, with the log of every epoch in their header, and their card to
``course_utils/pretrained/data``.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn

from course_utils.pretrained import shipped
from course_utils.pretrained.evaluate import GROUPS, write_card
from course_utils.training import History, fit, one_cycle_rate, seed_everything
from course_utils.training.optimizers import MuonWithAdam

from . import induction
from .recipes import RECIPES, Recipe, in_bfloat16

WORK = Path("build") / "train"


def fit_by(
    recipe: Recipe, *, judged: bool = True, checkpoint: Path | None = None, progress: bool = True
) -> tuple[nn.Module, History]:
    """Build and train one model by a recipe.

    With ``judged``, its score is taken after each epoch, and the best epoch's weights are kept. ``checkpoint`` and
    ``progress`` are as for ``fit``.
    """
    seed_everything(recipe.seed)
    model = recipe.build(**recipe.config)
    learner = recipe.in_training(model)
    batches, loss, score = recipe.prepare()
    num_steps = len(batches(0)) * recipe.epochs
    history = fit(
        learner,
        batches,
        (lambda model, batch: loss(in_bfloat16(model), batch)) if recipe.bfloat16 else loss,
        epochs=recipe.epochs,
        rate=lambda step: one_cycle_rate(step, num_steps, recipe.peak_rate, rise=recipe.rise),
        optimizer=MuonWithAdam(learner, weight_decay=recipe.weight_decay) if recipe.muon else None,
        validate=score if judged else None,
        checkpoint=checkpoint,
        progress=progress,
    )
    return model, history


def train(name: str, recipe: Recipe, work: Path, *, progress: bool = True) -> History:
    """Train one model, going on where an earlier run stopped; when it is finished, write its weights.

    ``work`` is the folder for checkpoints. Weights are written only if the history's ``stopped`` is ``"finished"``.
    """
    model, history = fit_by(recipe, checkpoint=work / f"{name}.pt", progress=progress)
    if history.stopped == "finished":
        facts = {"epochs": recipe.epochs, "seed": recipe.seed, "minutes": round(history.seconds[-1] / 60, 1)}
        facts |= {name: [round(x, 4) for x in getattr(history, name)] for name in ("losses", "scores", "seconds")}
        shipped.save(name, model, recipe.config, facts)
    return history


def main(arguments: Sequence[str] | None = None) -> int:
    """Train a group of models and write their card."""
    parser = argparse.ArgumentParser(prog="python -m experiments train", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=sorted(GROUPS), help="which models to train")
    parser.add_argument("--work", type=Path, default=WORK, help="folder for checkpoints (default: build/train)")
    parser.add_argument("--threads", type=int, help="CPU threads (default: PyTorch's choice)")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    by_recipe = GROUPS[options.what]
    if options.what == "induction":  # seconds of training: nothing to take up again
        by_recipe = ()
        induction.ship()
    for name in by_recipe:
        recipe = RECIPES[name]
        print(f"{name}: {recipe}", flush=True)
        history = train(name, recipe, options.work)
        for epoch, (loss, score, seconds) in enumerate(
            zip(history.losses, history.scores, history.seconds, strict=True), start=1
        ):
            print(f"epoch {epoch}: loss {loss:.4f}, held out {score:.4f}, {seconds:.0f} s", flush=True)
        if history.stopped != "finished":
            print(f"{history.stopped}: start the same command again to go on", file=sys.stderr)
            return 1
    print(f"figures written to {write_card(options.what).name}")
    return 0
