"""Training of the models that come with the course: ``python -m course_utils.train pronounce``.

Every run can be stopped (Ctrl-C, or killed) and started again: it goes on after the last whole epoch. Checkpoints go to
``build/train``; the finished weights, with the log of every epoch in their header, and their card to
``course_utils/pretrained``.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from . import pretrained
from .datasets.batches import Batch, batches_by_length, encode_pairs
from .datasets.documentation import documentation_split
from .datasets.pronunciations import split
from .evaluate import GROUPS, WINDOW, write_card
from .language_model import TEXT, encode_text, next_symbol_loss, text_scores, windows
from .models import DecoderConfig, DecoderLM, Transformer, TransformerConfig
from .optimizers import MuonWithAdam
from .pronounce import SOUNDS, SPELLING, error_rates, teacher_forced_loss
from .recurrent import RecurrentSeq2Seq
from .training import History, fit, one_cycle_rate, seed_everything

WORK = Path("build") / "train"


@dataclass(frozen=True)
class Recipe:
    """How a model is trained.

    Args:
        build: Makes the model from ``config``.
        config: Arguments of the model.
        epochs: Passes over the training data.
        peak_rate: Largest learning rate of the one-cycle schedule.
        rise: Share of the steps in which the rate rises.
        muon: Whether the matrices inside the layers are trained with Muon instead of Adam.
        seed: Of the weights, the batches and dropout.
    """

    build: Callable[..., nn.Module]
    config: dict[str, Any]
    epochs: int
    peak_rate: float
    rise: float = 0.3
    muon: bool = False
    seed: int = 0

    def prepare(self) -> tuple[Callable[[int], list], Callable[[nn.Module, Any], Tensor], Callable[[nn.Module], float]]:
        """The batches of an epoch, the loss of one, and the score on held-out data (lower is better)."""
        raise NotImplementedError


@dataclass(frozen=True)
class PronunciationRecipe(Recipe):
    """How a model of pronunciation is trained. Its score is the word error rate on every sixth word of valid.

    Args:
        symbols_per_batch: Letters and phonemes of a batch together.
        smoothing: Of the labels.
    """

    symbols_per_batch: int = 3000
    smoothing: float = 0.0

    def prepare(self) -> tuple[Callable[[int], list[Batch]], Callable, Callable]:
        """As ``Recipe.prepare``."""
        pairs = encode_pairs(split("train"), SPELLING, SOUNDS)
        some_valid = dict(list(split("valid").items())[::6])

        def batches(epoch: int) -> list[Batch]:
            return list(batches_by_length(pairs, self.symbols_per_batch, seed=1000 * self.seed + epoch))

        loss = partial(teacher_forced_loss, smoothing=self.smoothing)
        return batches, loss, lambda model: error_rates(model, some_valid)["WER"]


@dataclass(frozen=True)
class TextRecipe(Recipe):
    """How a language model is trained on Python's documentation. Its score is the loss on the held-out text.

    Args:
        batch_size: Windows in a batch.
    """

    batch_size: int = 16

    def prepare(self) -> tuple[Callable[[int], list[Tensor]], Callable, Callable]:
        """As ``Recipe.prepare``."""
        ids, held_out = map(encode_text, documentation_split())

        def batches(epoch: int) -> list[Tensor]:
            return windows(ids, WINDOW, self.batch_size, seed=1000 * self.seed + epoch)

        return batches, next_symbol_loss, lambda model: text_scores(model, held_out, length=WINDOW)["loss"]


def _recurrent(attention: bool) -> Recipe:
    config = {"src_vocab": len(SPELLING), "tgt_vocab": len(SOUNDS), "attention": attention}
    config |= {"d_embed": 64, "d_hidden": 128, "dropout": 0.1}
    return PronunciationRecipe(RecurrentSeq2Seq, config, epochs=8, peak_rate=3e-3)


def _transformer() -> Recipe:
    config = {"src_vocab": len(SPELLING), "tgt_vocab": len(SOUNDS), "num_layers": 4, "d_model": 128, "d_ff": 512}
    config |= {"num_heads": 4, "dropout": 0.1, "max_len": 64, "positions": "rotary"}
    return PronunciationRecipe(
        lambda **config: Transformer(TransformerConfig(**config)),
        config,
        epochs=20,
        peak_rate=3e-3,
        rise=0.1,
        muon=True,
        smoothing=0.1,
    )


def _language_model() -> Recipe:
    config = {"vocab_size": len(TEXT), "num_layers": 4, "d_model": 128, "d_ff": 344, "num_heads": 4, "num_kv_heads": 2}
    config |= {"dropout": 0.1, "max_len": 1024, "tie_embeddings": True}
    return TextRecipe(
        lambda **config: DecoderLM(DecoderConfig(**config)), config, epochs=16, peak_rate=3e-3, rise=0.1, muon=True
    )


RECIPES = {
    "recurrent_attention": _recurrent(attention=True),
    "recurrent_no_attention": _recurrent(attention=False),
    "transformer": _transformer(),
    "language_model": _language_model(),
}


def fit_by(
    recipe: Recipe, *, judged: bool = True, checkpoint: Path | None = None, progress: bool = True
) -> tuple[nn.Module, History]:
    """Build and train one model.

    Args:
        recipe: How.
        judged: Whether its score is taken after each epoch, and the best epoch's weights are kept.
        checkpoint: As for ``fit``.
        progress: Whether to draw a bar.

    Returns:
        The model and the history.
    """
    seed_everything(recipe.seed)
    model = recipe.build(**recipe.config)
    batches, loss, score = recipe.prepare()
    num_steps = len(batches(0)) * recipe.epochs
    history = fit(
        model,
        batches,
        loss,
        epochs=recipe.epochs,
        rate=lambda step: one_cycle_rate(step, num_steps, recipe.peak_rate, rise=recipe.rise),
        optimizer=MuonWithAdam(model) if recipe.muon else None,
        validate=score if judged else None,
        checkpoint=checkpoint,
        progress=progress,
    )
    return model, history


def train(name: str, recipe: Recipe, work: Path, *, progress: bool = True) -> History:
    """Train one model, going on where an earlier run stopped; when it is finished, write its weights.

    Args:
        name: Of the model, and of its files.
        recipe: How.
        work: Folder for checkpoints.
        progress: Whether to draw a bar.

    Returns:
        The history; weights are written only if ``stopped`` is ``"finished"``.
    """
    model, history = fit_by(recipe, checkpoint=work / f"{name}.pt", progress=progress)
    if history.stopped == "finished":
        facts = {"epochs": recipe.epochs, "seed": recipe.seed, "minutes": round(history.seconds[-1] / 60, 1)}
        facts |= {name: [round(x, 4) for x in getattr(history, name)] for name in ("losses", "scores", "seconds")}
        pretrained.save(name, model, recipe.config, facts)
    return history


def main(arguments: Sequence[str] | None = None) -> int:
    """Train a group of models and write their card."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.train", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=sorted(GROUPS), help="which models to train")
    parser.add_argument("--work", type=Path, default=WORK, help="folder for checkpoints (default: build/train)")
    parser.add_argument("--threads", type=int, help="CPU threads (default: PyTorch's choice)")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    for name in GROUPS[options.what]:
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


if __name__ == "__main__":
    sys.exit(main())
