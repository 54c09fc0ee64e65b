"""Strings that are said in another order than they are written, for decoders with different contexts (lesson 03).

Each source is eight random letters with a mark among them, ``abc|defgh``. Said as they are written they make ``abcdefgh``; said
from the mark on, and then from the beginning, ``defghabc``. Only the second order depends on what is in the source.
"""

from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..arguments import require_one_of
from ..decoding import greedy_decode
from ..models.recurrent import RecurrentSeq2Seq, RecurrentState
from ..tokenizers import END_ID, START_ID
from ..training import fit, one_cycle_rate, seed_everything, teacher_forced_loss
from .bottleneck import FixedLook, with_context

SYMBOLS = ("<pad>", "<start>", "<end>", "|", *"abcdefghijklmnopqrst")
MARK, FIRST = 3, 4  # ids of the mark and of the letter a
LENGTH, BATCH, UPDATES, PEAK = 8, 32, 200, 0.015  # letters in a string; strings in a batch; largest learning rate
ORDERS = ("as written", "from the mark")
TOLD = "pointer, told"  # a context: the pointer of ``bottleneck``, put after the mark


class ToldPointer(FixedLook):
    """A pointer that is told where the mark is: it begins after it, and goes on at the first letter once the last is read.

    It still has no query and no score. All sources of a batch must have the same length.
    """

    def __init__(self, src_vocab: int, tgt_vocab: int, **sizes: int) -> None:
        super().__init__("pointer", src_vocab, tgt_vocab, **sizes)

    def start_decoding(self, source: Int[Tensor, "B L_s"], *, max_len: int | None = None) -> RecurrentState:
        """The state before the first symbol, with the mark as the place that was read last."""
        return replace(super().start_decoding(source, max_len=max_len), weights=(source == MARK).float())

    def fixed_weights(self, state: RecurrentState) -> Float[Tensor, "B L_s"]:
        """1 at the place after the one before, 0 elsewhere."""
        return state.weights.roll(1, dims=1)  # (B, L_s)


def make_batch(order: str, n: int, rng: torch.Generator) -> tuple[Int[Tensor, "n L_s"], Int[Tensor, "n L_t"]]:
    """``n`` sources (``LENGTH`` letters and the mark) and targets (start symbol, the letters in that order, end symbol)."""
    require_one_of("order", order, ORDERS)
    letters = torch.randint(FIRST, len(SYMBOLS), (n, LENGTH), generator=rng)
    mark = torch.randint(1, LENGTH, (n, 1), generator=rng)  # so many letters come before it
    place = torch.arange(LENGTH + 1)  # (L_s,)
    moved = letters.gather(1, (place - (place > mark).long()).clamp(max=LENGTH - 1))  # (n, L_s)
    source = torch.where(place == mark, MARK, moved)
    first = mark if order == "from the mark" else torch.zeros_like(mark)
    said = letters.gather(1, (torch.arange(LENGTH) + first) % LENGTH)  # (n, L)
    start, end = torch.full_like(mark, START_ID), torch.full_like(mark, END_ID)
    return source, torch.cat((start, said, end), dim=1)


def build(context: str) -> RecurrentSeq2Seq:
    """A fresh model whose decoder reads one of ``bottleneck.CONTEXTS``, or ``TOLD``; all have nearly as many parameters."""
    vocabularies, sizes = (
        (len(SYMBOLS), len(SYMBOLS)),
        {"d_embed": 16, "d_hidden": 32 if context == "attention" else 34},
    )
    return ToldPointer(*vocabularies, **sizes) if context == TOLD else with_context(context, *vocabularies, **sizes)


def train(context: str, order: str, seed: int, updates: int = UPDATES) -> RecurrentSeq2Seq:
    """A model trained on fresh strings at every update; models with the same seed see the same strings."""
    seed_everything(seed)
    model, rng = build(context), torch.Generator().manual_seed(seed)
    batches = [make_batch(order, BATCH, rng) for _ in range(updates)]
    fit(
        model,
        lambda epoch: batches,
        teacher_forced_loss,
        epochs=1,
        rate=lambda update: one_cycle_rate(update, updates, PEAK),
        progress=False,
    )
    return model


def wrong_by_place(model: RecurrentSeq2Seq, order: str, n: int = 500) -> Float[Tensor, " L"]:
    """The share of wrong letters at each place of what is said, on strings that no seed of ``train`` draws; greedy."""
    source, target = make_batch(order, n, torch.Generator().manual_seed(2**31))
    said = greedy_decode(model, source, max_len=LENGTH + 1).tokens  # (n, at most L + 1)
    said = torch.nn.functional.pad(said, (0, LENGTH + 1 - said.shape[1]))
    return (said != target[:, 1:])[:, :LENGTH].float().mean(0)
