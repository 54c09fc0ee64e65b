"""Two jobs at once for one attention layer, with few heads or many narrow ones (lesson 06).

The task, the model and its training. ``experiments/narrow_heads.py`` trains it with one to sixteen heads and several seeds.
"""

from collections.abc import Iterable, Iterator
from copy import deepcopy

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..multi_head import MultiHeadAttention
from ..training import seed_everything

LETTERS, LENGTH, D_MODEL = "abcdef", 10, 16
JOBS = ("previous token", "same letter")
STEPS, EVERY = 1200, 40  # updates; updates between two measurements


def make_batch(
    size: int, rng: torch.Generator
) -> tuple[Int[Tensor, "B L"], Float[Tensor, "B L"], Float[Tensor, "B L 2"]]:
    """Letters, their numbers, and what is to be reported at each position.

    First the number of the token before (at the first position nothing sensible), then the mean number of all tokens with
    the same letter, this one included.
    """
    letters = torch.randint(len(LETTERS), (size, LENGTH), generator=rng)  # (B, L)
    numbers = torch.randn(size, LENGTH, generator=rng)  # (B, L)
    same = (letters[:, :, None] == letters[:, None, :]).float()  # (B, L, L)
    mean_of_same = (same @ numbers[..., None])[..., 0] / same.sum(dim=-1)  # (B, L)
    target = torch.stack([numbers.roll(1, dims=1), mean_of_same], dim=-1)  # (B, L, 2)
    return letters, numbers, target


class TwoJobs(nn.Module):
    """One attention layer between a sum of three vectors (letter, place, number) and a linear report.

    Args:
        num_heads: Divides 16, the size of a token's vector.
    """

    def __init__(self, num_heads: int) -> None:
        super().__init__()
        self.letter = nn.Embedding(len(LETTERS), D_MODEL)
        self.place = nn.Embedding(LENGTH, D_MODEL)
        self.number = nn.Linear(1, D_MODEL, bias=False)
        self.attention = MultiHeadAttention(D_MODEL, num_heads)
        self.report = nn.Linear(D_MODEL, len(JOBS))

    def forward(
        self, letters: Int[Tensor, "B L"], numbers: Float[Tensor, "B L"]
    ) -> tuple[Float[Tensor, "B L 2"], Float[Tensor, "B H L L"]]:
        """The two reports at each position, and the weights."""
        x = self.letter(letters) + self.place.weight + self.number(numbers[..., None])  # (B, L, d_model)
        output, weights = self.attention(x, return_weights=True)
        return self.report(output), weights


def test_batch() -> tuple[Tensor, Tensor, Tensor]:
    """1,000 sequences that no model was trained on."""
    return make_batch(1000, torch.Generator().manual_seed(99))


@torch.no_grad()
def errors(model: TwoJobs) -> Float[Tensor, " 2"]:
    """Mean squared error of each job on ``test_batch``, from the second position on."""
    letters, numbers, target = test_batch()
    return ((model(letters, numbers)[0] - target) ** 2)[:, 1:].mean((0, 1))  # (2,)


def without_heads(model: TwoJobs, heads: Iterable[int]) -> TwoJobs:
    """A copy of the model in which these heads add nothing: their blocks of the output projection are 0."""
    model = deepcopy(model)
    weight = model.attention.o_proj.weight.data  # (d_model, H * d_head)
    weight.unflatten(1, (model.attention.num_heads, -1))[:, list(heads)] = 0
    return model


@torch.no_grad()
def looks(model: TwoJobs) -> tuple[Float[Tensor, " H"], Float[Tensor, " H"]]:
    """What each head looks at on ``test_batch``, from the second position on.

    First its mean weight on the previous token, then on all tokens with the same letter, this one included.
    """
    letters, numbers, _ = test_batch()
    weights = model(letters, numbers)[1]  # (B, H, L, L)
    same = letters[:, None, :, None] == letters[:, None, None, :]  # (B, 1, L, L)
    previous = weights.diagonal(-1, dim1=-2, dim2=-1).mean((0, 2))  # (H,)
    return previous, (weights * same)[:, :, 1:].sum(-1).mean((0, 2))  # (H,) each


def train(num_heads: int, seed: int, steps: int = STEPS, every: int = EVERY) -> Iterator[tuple[int, TwoJobs]]:
    """Train on fresh batches of 48; yields the number of steps done and the model, every ``every`` steps."""
    seed_everything(seed)
    rng, model = torch.Generator().manual_seed(seed), TwoJobs(num_heads)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.015, fused=True)
    for step in range(1, steps + 1):
        letters, numbers, target = make_batch(48, rng)
        optimizer.zero_grad()
        F.mse_loss(model(letters, numbers)[0][:, 1:], target[:, 1:]).backward()
        optimizer.step()
        if step % every == 0:
            yield step, model
