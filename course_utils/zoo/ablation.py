"""One thing removed at a time from a small pronouncing Transformer: ``python -m course_utils.zoo ablate``.

Every variant is trained alike, with three seeds, on all training words, and judged on the words for validation. The numbers
are appended to ``course_utils/zoo/data/ablation.csv``, one line a run; a run that is there already is not made again.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ..datasets.batches import batches_by_length, encode_pairs
from ..datasets.pronunciations import split
from ..masks import padding_mask
from ..models import Transformer, TransformerConfig, count_parameters
from ..models.decoding_state import DecodingState
from ..multi_head import MultiHeadAttention
from ..training.losses import teacher_forced_loss
from . import shipped
from .pronunciation import SOUNDS, SPELLING, error_rates
from .recipes import PronunciationRecipe
from .runs import make_missing
from .train import fit_by

TABLE = shipped.FOLDER / "ablation.csv"
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


def run(variant: str, seed: int, *, epochs: int = EPOCHS, progress: bool = True) -> dict[str, Any]:
    """Train one of ``VARIANTS`` and judge it.

    The result holds ``FIELDS`` and their values: error rates in percent, losses in nats per sound.
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
    return dict(zip(FIELDS, values, strict=True))


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs that are missing."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.zoo ablate", description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path, default=TABLE, help=f"file of the numbers (default: {TABLE.name})")
    parser.add_argument(
        "--epochs", type=int, default=EPOCHS, help=f"passes over the training words (default: {EPOCHS})"
    )
    parser.add_argument("--threads", type=int, help="CPU threads (default: PyTorch's choice)")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    for seed in SEEDS:
        for variant in VARIANTS:
            wanted = {"variant": variant, "seed": seed, "epochs": options.epochs}
            make_missing(options.table, FIELDS, wanted, lambda wanted=wanted: [run(**wanted)])
    return 0
