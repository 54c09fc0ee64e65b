"""Five ways to tell a layer of attention where its tokens stand (lesson 08).

A task with two questions at every token: which digit stood three tokens ago, and which digit came with this letter the last
time; a model in which only the positions differ; its training and its tests. ``experiments/places.py`` trains every kind from
five seeds.
"""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..masks import causal_mask
from ..multi_head import MultiHeadAttention
from ..positions import LearnedPositions, RotaryPositions, SinusoidalPositions, alibi_bias
from ..training import one_cycle_rate, seed_everything

ENCODINGS = ("none", "sinusoidal", "learned", "RoPE", "ALiBi")


LETTERS, DIGITS, AGO = 4, 4, 3  # a token is a letter with a digit; question 1 asks for the digit this many tokens ago


LENGTH, LENGTHS = 12, (12, 24, 48, 96)  # of training, and of the tests


D_MODEL, NUM_HEADS = 32, 4


STEPS, BATCH, RATE = 350, 32, 0.02


NOT_ASKED = -100  # F.cross_entropy leaves such targets out


Batch = tuple[Int[Tensor, "n L"], Int[Tensor, "n L 2"]]


def make_batch(n: int, length: int, rng: torch.Generator) -> Batch:
    """Tokens ``4 * letter + digit`` and the answers to both questions; where there is none yet, nothing is asked."""
    letter, digit = (torch.randint(size, (n, length), generator=rng) for size in (LETTERS, DIGITS))  # (n, L) each
    latest = (_earlier(letter) * torch.arange(1, length + 1)).amax(dim=-1) - 1  # (n, L): -1 where there is none
    recent = digit.gather(1, latest.clamp(min=0)).masked_fill(latest < 0, NOT_ASKED)  # (n, L)
    ago = digit.roll(AGO, dims=1)  # (n, L)
    ago[:, :AGO] = NOT_ASKED
    return letter * DIGITS + digit, torch.stack([ago, recent], dim=-1)  # (n, L), (n, L, 2)


def _earlier(letter: Int[Tensor, "n L"]) -> Tensor:
    """(n, L, L): True where the key stands before the query and has its letter."""
    before = torch.ones(letter.shape[1], letter.shape[1], dtype=torch.bool).tril(-1)  # (L, L)
    return (letter[:, :, None] == letter[:, None, :]) & before


class Reader(nn.Module):
    """A small causal model of letters and digits; only how it is told of positions differs.

    Args:
        encoding: One of ``ENCODINGS``.
        layers: How many layers of attention.
        max_len: Room for positions; those beyond ``LENGTH`` occur in no training.
    """

    def __init__(self, encoding: str, layers: int = 1, max_len: int = max(LENGTHS)) -> None:
        super().__init__()
        self.encoding = encoding
        self.tokens = nn.Embedding(LETTERS * DIGITS, D_MODEL)
        added = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}
        self.added = added[encoding](D_MODEL, max_len) if encoding in added else nn.Identity()
        rotary = RotaryPositions(D_MODEL // NUM_HEADS, max_len=max_len) if encoding == "RoPE" else None
        self.layers = nn.ModuleList(MultiHeadAttention(D_MODEL, NUM_HEADS, rotary=rotary) for _ in range(layers))
        self.report = nn.Sequential(nn.Linear(D_MODEL, 64), nn.ReLU(), nn.Linear(64, 2 * DIGITS))

    def forward(self, tokens: Int[Tensor, "n L"]) -> Float[Tensor, "n L 2 digits"]:
        """Logits of the digits, for each question."""
        length = tokens.shape[1]
        bias = alibi_bias(NUM_HEADS, length) if self.encoding == "ALiBi" else None  # (1, H, L, L)
        x = self.added(self.tokens(tokens))  # (n, L, d_model)
        for layer in self.layers:
            x = x + layer(x, mask=causal_mask(length), score_bias=bias)  # (n, L, d_model)
        return self.report(x).unflatten(-1, (2, DIGITS))  # (n, L, 2, digits)


def train(encoding: str, seed: int, layers: int = 1, steps: int = STEPS) -> Iterator[Reader]:
    """Train on fresh sequences of ``LENGTH`` tokens; yields the model every 50 updates, and at the end."""
    seed_everything(seed)
    model, rng = Reader(encoding, layers), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    for step in range(1, steps + 1):
        optimizer.param_groups[0]["lr"] = one_cycle_rate(step, steps, RATE / layers)
        tokens, target = make_batch(BATCH, LENGTH, rng)
        optimizer.zero_grad()
        F.cross_entropy(model(tokens).flatten(0, 2), target.flatten(), ignore_index=NOT_ASKED).backward()
        optimizer.step()
        if step % 50 == 0 or step == steps:
            yield model


def test_batch(length: int) -> Batch:
    """300 sequences that no model was trained on, the same in every test of this length."""
    return make_batch(300, length, torch.Generator().manual_seed(99))


@torch.no_grad()
def wrong(model: nn.Module, length: int) -> Float[Tensor, " 2"]:
    """Share of wrong answers to each question, on ``test_batch(length)``."""
    tokens, target = test_batch(length)
    asked = target != NOT_ASKED  # (n, L, 2)
    return ((model(tokens).argmax(-1) != target) & asked).sum((0, 1)) / asked.sum((0, 1))  # (2,)


@torch.no_grad()
def wrong_by_position(model: nn.Module, length: int) -> Float[Tensor, "2 L"]:
    """Share of wrong answers to each question at each position, on ``test_batch(length)``; NaN where nothing is asked."""
    tokens, target = test_batch(length)
    asked = target != NOT_ASKED  # (n, L, 2)
    return (((model(tokens).argmax(-1) != target) & asked).sum(0) / asked.sum(0)).T  # (2, L)


def guesser(length: int) -> Float[Tensor, " 2"]:
    """Share of wrong answers of one who knows which tokens came before but not in which order, on ``test_batch(length)``.

    Every earlier token is equally likely to be the one asked for (for question 2 every earlier one with the same letter), so
    the best guess is the digit that most of them have, and it is wrong as often as they have another.
    """
    missed, asked = _missed(length)
    return (missed * asked).sum((0, 1)) / asked.sum((0, 1))  # (2,)


def guesser_by_position(length: int) -> Float[Tensor, "2 L"]:
    """What ``guesser`` gives, at each position by itself; NaN where nothing is asked."""
    missed, asked = _missed(length)
    return ((missed * asked).sum(0) / asked.sum(0)).T  # (2, L)


def _missed(length: int) -> tuple[Tensor, Tensor]:
    """(n, L, 2) each: how often the guesser is wrong at a token, and whether the question is asked there."""
    tokens, target = test_batch(length)
    letter, digit = tokens // DIGITS, F.one_hot(tokens % DIGITS, DIGITS).float()  # (n, L), (n, L, digits)
    before = torch.ones(length, length).tril(-1)  # (L, L)
    found = []
    for among in (before.expand(len(tokens), -1, -1), _earlier(letter)):
        counts = among.to(digit) @ digit  # (n, L, digits)
        found.append(1 - counts.amax(-1) / counts.sum(-1).clamp(min=1))  # (n, L)
    return torch.stack(found, dim=-1), target != NOT_ASKED
