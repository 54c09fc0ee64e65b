"""A small decoder-only model that learns to continue strings that are written twice (lesson 13).

``experiments/induction.py`` trains the model from five seeds, with one layer and with two.

Source:
    Olsson et al., "In-context Learning and Induction Heads", 2022 (one layer against two).
"""

import sys
from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from tqdm import tqdm

from ..circuits import induction_mask, mean_weight, previous_token_mask
from ..datasets.written_twice import LETTERS, second_half_bits, second_half_loss, spelled, twice
from ..models import DecoderConfig, DecoderLM
from ..recording import record_attention
from ..training import seed_everything

__all__ = ["second_half_bits", "small_model", "spelled", "head_scores", "train", "trained", "twice"]
SHORTEST, LONGEST = 4, 16  # letters of a string in training
STEPS, BATCH, RATE, WARM_UP = 600, 64, 3e-3, 50
SIZES = {"d_model": 64, "num_heads": 4, "d_ff": 128, "max_len": 64, "tie_embeddings": False}


def small_model(num_layers: int = 2, positions: str = "learned") -> DecoderLM:
    """A decoder-only model of 26 letters, untrained; two layers of four heads, unless it is told otherwise."""
    return DecoderLM(DecoderConfig(len(LETTERS), num_layers=num_layers, positions=positions, **SIZES))


def train(
    model: DecoderLM,
    seed: int = 0,
    *,
    steps: int = STEPS,
    lengths: tuple[int, int] = (SHORTEST, LONGEST),
    after: Callable[[int], None] = lambda step: None,
    progress: bool = False,
) -> DecoderLM:
    """Train on fresh strings, in each step of one length from ``lengths``; ``after`` is called with the number of each step."""
    rng = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
    for step in tqdm(range(1, steps + 1), disable=not progress, file=sys.stdout):
        length = int(torch.randint(lengths[0], lengths[1] + 1, (1,), generator=rng))
        loss = second_half_loss(model, twice(BATCH, length, rng))
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, step / WARM_UP)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        after(step)
    return model.eval()


def trained(num_layers: int = 2, seed: int = 0, positions: str = "learned", **options: object) -> DecoderLM:
    """A new model from a seed, trained; ``options`` are those of ``train``."""
    seed_everything(seed)
    return train(small_model(num_layers, positions), seed, **options).requires_grad_(False)


@torch.no_grad()
def head_scores(model: DecoderLM, ids: Int[Tensor, "n L"]) -> dict[str, Float[Tensor, "layers H"]]:
    """Each head's weight on the letter before, in the first half, and on the letter after an earlier copy."""
    with record_attention(model) as seen:
        model(ids)
    before = previous_token_mask(ids)
    before[:, ids.shape[1] // 2 :] = False  # in the second half the model has no use for it
    masks = {"letter before": before, "after a copy": induction_mask(ids)}
    weights = seen.matching("layers.*")
    return {name: torch.stack([mean_weight(layer, mask) for layer in weights]) for name, mask in masks.items()}
