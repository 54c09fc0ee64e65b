"""One thing removed at a time from a small pronouncing Transformer: ``python -m experiments ablation``.

Every variant is trained alike, with three seeds, on all training words, and judged on the words for validation. The table
has one line a run.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from course_utils.datasets.batches import batches_by_length, encode_pairs
from course_utils.datasets.pronunciations import split
from course_utils.masks import padding_mask
from course_utils.models import Transformer, TransformerConfig, count_parameters
from course_utils.models.decoding_state import DecodingState
from course_utils.multi_head import MultiHeadAttention
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING, error_rates
from course_utils.training.losses import teacher_forced_loss

from .recipes import PronunciationRecipe
from .runs import Run
from .train import fit_by

SEEDS = (0, 1, 2)
EPOCHS = 2
FIELDS = ("variant", "seed", "parameters", "epochs", "train_loss", "valid_loss", "valid_WER", "valid_PER", "minutes")
CONFIG = {"src_vocab": len(SPELLING), "tgt_vocab": len(SOUNDS), "num_layers": 2, "d_model": 64, "d_ff": 256}
CONFIG |= {"num_heads": 4, "dropout": 0.0, "max_len": 64, "positions": "rotary"}


class NoPaddingMask(Transformer):
    """Attention sees the padding of the source as if it were letters."""

    def encode(self, source: Int[Tensor, "B L_s"], source_mask: Any = None, **options: Any) -> Any:
        """As ``Transformer.encode``, every place open."""
        return super().encode(source, everything(source), **options)

    def decode(self, *arguments: Any, memory_mask: Any, **options: Any) -> Any:
        """As ``Transformer.decode``, every place of the source open."""
        return super().decode(*arguments, memory_mask=None, **options)

    def start_decoding(self, *arguments: Any, **options: Any) -> DecodingState:
        """As ``Transformer.start_decoding``, every place of the source open."""
        state = super().start_decoding(*arguments, **options)
        state.memory_mask = None
        return state


class NoCausalMask(Transformer):
    """In training, each sound sees the sounds after it, the one that it is to predict among them."""

    def decode(self, target: Int[Tensor, "B L_t"], *arguments: Any, **options: Any) -> Any:
        """As ``Transformer.decode``, only padding hidden."""
        return super().decode(
            target, *arguments, **(options | {"target_mask": padding_mask(target, self.config.pad_id)})
        )


def everything(source: Int[Tensor, "B L_s"]) -> Bool[Tensor, "B 1 1 L_s"]:
    """A mask that hides nothing."""
    return torch.ones_like(source, dtype=torch.bool)[:, None, None]


def full(**changes: Any) -> Transformer:
    """The small model, with changes to its configuration."""
    return Transformer(TransformerConfig(**(CONFIG | changes)))


def no_scaling() -> Transformer:
    """Scores are not divided by ``sqrt(d_head)``: the queries are multiplied by it, which undoes the division."""
    model = full()
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            factor = (module.d_model // module.num_heads) ** 0.5
            module.q_proj.register_forward_hook(lambda _module, _inputs, query, factor=factor: query * factor)
    return model


VARIANTS: dict[str, Callable[[], Transformer]] = {
    "full": full,
    "no positions": lambda: full(positions="none"),
    "no scaling": no_scaling,
    "one head": lambda: full(num_heads=1),
    "no padding mask": lambda: NoPaddingMask(TransformerConfig(**CONFIG)),
    "no causal mask": lambda: NoCausalMask(TransformerConfig(**CONFIG)),
}


def run(variant: str, seed: int, *, epochs: int = EPOCHS, progress: bool = True) -> list[dict[str, Any]]:
    """Train one of ``VARIANTS`` and judge it.

    One row of ``FIELDS``: error rates in percent, losses in nats per sound.
    """
    if variant not in VARIANTS:
        raise ValueError(f"variant ({variant!r}) must be one of {', '.join(VARIANTS)}")
    recipe = PronunciationRecipe(VARIANTS[variant], {}, epochs=epochs, peak_rate=4e-3, rise=0.1, muon=True, seed=seed)
    model, history = fit_by(recipe, judged=False, progress=progress)
    valid = split("valid")
    with torch.no_grad():
        ahead = list(batches_by_length(encode_pairs(valid, SPELLING, SOUNDS), recipe.symbols_per_batch, seed=0))
        valid_loss = sum(teacher_forced_loss(model, batch).item() for batch in ahead) / len(ahead)
    rates = error_rates(model, valid)
    values = (variant, seed, count_parameters(model), epochs, round(history.losses[-1], 4), round(valid_loss, 4))
    values += (round(100 * rates["WER"], 2), round(100 * rates["PER"], 2), round(history.seconds[-1] / 60, 1))
    return [dict(zip(FIELDS, values, strict=True))]


def runs(_table: Path) -> Iterator[Run]:
    """One run for each variant and seed."""
    for seed in SEEDS:
        for variant in VARIANTS:
            yield {"variant": variant, "seed": seed, "epochs": EPOCHS}, partial(run, variant, seed)
