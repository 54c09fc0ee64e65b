"""How each model that comes with the course is trained: its sizes, data, schedule and seed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from course_utils.datasets.batches import Batch, batches_by_length, encode_pairs
from course_utils.datasets.documentation import docstrings, documentation_split
from course_utils.datasets.pronunciations import split
from course_utils.datasets.text_windows import TEXT, encode_text, windows
from course_utils.layers import FeedForward
from course_utils.metrics import text_scores
from course_utils.models import DecoderConfig, DecoderLM, Transformer, TransformerConfig
from course_utils.models.recurrent import RecurrentSeq2Seq
from course_utils.multi_head import MultiHeadAttention
from course_utils.pretrained.evaluate import WINDOW
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING, error_rates
from course_utils.training import next_symbol_loss, teacher_forced_loss

from .stress import WithStress, encode_with_stress, loss_with_stress


@dataclass(frozen=True)
class Recipe:
    """How a model is trained.

    Args:
        build: Makes the model from ``config``.
        epochs: Passes over the training data.
        peak_rate: Largest learning rate of the one-cycle schedule.
        rise: Share of the steps in which the rate rises.
        muon: Whether the matrices inside the layers are trained with Muon instead of Adam.
        weight_decay: Of Muon's matrices.
        bfloat16: Whether matrices are multiplied in 16 bits while training, which is faster where the processor can.
        seed: Of the weights, the batches and dropout.
    """

    build: Callable[..., nn.Module]
    config: dict[str, Any]
    epochs: int
    peak_rate: float
    rise: float = 0.3
    muon: bool = False
    weight_decay: float = 0.0
    bfloat16: bool = False
    seed: int = 0

    def prepare(self) -> tuple[Callable[[int], list], Callable[[nn.Module, Any], Tensor], Callable[[nn.Module], float]]:
        """The batches of an epoch, the loss of one, and the score on held-out data (lower is better)."""
        raise NotImplementedError

    def in_training(self, model: nn.Module) -> nn.Module:
        """The model with what is trained beside it and not kept."""
        return model


def in_bfloat16(model: nn.Module) -> Callable[..., Tensor]:
    """The model's call, its matrix products in 16 bits; what comes out, the logits, in 32."""

    def call(*inputs: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return model(*inputs).float()

    return call


@dataclass(frozen=True)
class PronunciationRecipe(Recipe):
    """How a model of pronunciation is trained. Its score is the word error rate on every sixth word of valid.

    Args:
        symbols_per_batch: Letters and phonemes of a batch together.
        smoothing: Of the labels.
        stress_weight: How much the loss of the stress marks counts (``experiments.stress``); 0: they are not learned.
    """

    symbols_per_batch: int = 3000
    smoothing: float = 0.0
    stress_weight: float = 0.0

    def in_training(self, model: nn.Module) -> nn.Module:
        """With a layer that tells the stress, where that is learned too."""
        return WithStress(model) if self.stress_weight else model

    def prepare(self) -> tuple[Callable[[int], list[Batch]], Callable, Callable]:
        """As ``Recipe.prepare``."""
        words = split("train")
        pairs = encode_with_stress(words) if self.stress_weight else encode_pairs(words, SPELLING, SOUNDS)
        some_valid = dict(list(split("valid").items())[::6])

        def batches(epoch: int) -> list[Batch]:
            return list(batches_by_length(pairs, self.symbols_per_batch, seed=1000 * self.seed + epoch))

        loss = partial(teacher_forced_loss, smoothing=self.smoothing)
        if self.stress_weight:
            loss = partial(loss_with_stress, smoothing=self.smoothing, weight=self.stress_weight)
        loss = sdpa_kernel(SDPBackend.MATH)(
            loss
        )  # over a word's ten places the fused kernel takes longer than plain products

        def score(model: nn.Module) -> float:
            return error_rates(getattr(model, "pronouncer", model), some_valid)["WER"]

        return batches, loss, score


@dataclass(frozen=True)
class TextRecipe(Recipe):
    """How a language model is trained on Python's documentation. Its score is the loss on the validation text.

    Each epoch sees the training part of the language reference twice and the docstrings of the standard library once.
    ``batch_size`` counts windows.
    """

    batch_size: int = 8

    def prepare(self) -> tuple[Callable[[int], list[Tensor]], Callable, Callable]:
        """As ``Recipe.prepare``."""
        parts = documentation_split()
        ids, valid = encode_text("\n\n".join((parts.train, docstrings(), parts.train))), encode_text(parts.valid)

        def batches(epoch: int) -> list[Tensor]:
            return windows(ids, WINDOW, self.batch_size, seed=1000 * self.seed + epoch)

        return batches, next_symbol_loss, lambda model: text_scores(model, valid, length=WINDOW)["loss"]


def _recurrent(attention: bool) -> Recipe:
    config = {"src_vocab": len(SPELLING), "tgt_vocab": len(SOUNDS), "attention": attention}
    config |= {"d_embed": 64, "d_hidden": 128, "dropout": 0.1}
    return PronunciationRecipe(RecurrentSeq2Seq, config, epochs=8, peak_rate=3e-3)


def _transformer() -> Recipe:
    config = {"src_vocab": len(SPELLING), "tgt_vocab": len(SOUNDS), "num_layers": 4, "d_model": 128, "d_ff": 512}
    config |= {"num_heads": 4, "dropout": 0.1, "max_len": 64, "positions": "rotary"}
    return PronunciationRecipe(
        lambda **config: _dropout_after_sublayers(Transformer(TransformerConfig(**config))),
        config,
        epochs=30,
        peak_rate=3e-3,
        rise=0.1,
        muon=True,
        weight_decay=0.1,
        bfloat16=True,
        smoothing=0.1,
        stress_weight=0.3,
    )


def _language_model() -> Recipe:
    config = {"vocab_size": len(TEXT), "num_layers": 4, "d_model": 128, "d_ff": 344, "num_heads": 4, "num_kv_heads": 2}
    config |= {"dropout": 0.1, "max_len": 1024, "tie_embeddings": True}
    return TextRecipe(
        lambda **config: _dropout_after_sublayers(DecoderLM(DecoderConfig(**config))),
        config,
        epochs=6,
        peak_rate=3e-3,
        rise=0.1,
        muon=True,
        weight_decay=0.1,
        bfloat16=True,
    )


def _dropout_after_sublayers(model: nn.Module) -> nn.Module:
    """No dropout inside a sublayer, on attention weights or between the two linear layers: drawing it takes long there."""
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            module.dropout = 0.0
        if isinstance(module, FeedForward):
            module.dropout.p = 0.0
    return model


RECIPES = {
    "recurrent_attention": _recurrent(attention=True),
    "recurrent_no_attention": _recurrent(attention=False),
    "transformer": _transformer(),
    "language_model": _language_model(),
}
