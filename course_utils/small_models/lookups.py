"""Four lookups at once, for a layer whose heads share keys and values (lesson 07).

The task, a model of one attention layer with four query heads, and its training. ``experiments/lookups.py`` trains it with
four, two and one head of keys and values from five seeds.
"""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..multi_head import MultiHeadAttention

KINDS, ITEMS, NUM_HEADS, D_HEAD = 4, 6, 4, 8


EVERY, RATE = 45, 1e-2  # updates between two measurements; learning rate


Batch = tuple[Float[Tensor, "n 1 d_question"], Float[Tensor, "n items d_item"], Int[Tensor, "n kinds"]]


class Lookups(nn.Module):
    """One attention layer that answers four questions at once.

    Args:
        num_kv_heads: Heads of keys and values, for the four query heads.
    """

    def __init__(self, num_kv_heads: int) -> None:
        super().__init__()
        d_model = NUM_HEADS * D_HEAD
        self.read_question = nn.Linear(KINDS * ITEMS, d_model)
        self.read_item = nn.Linear(2 * KINDS * ITEMS, d_model)
        self.attention = MultiHeadAttention(d_model, NUM_HEADS, num_kv_heads=num_kv_heads)
        self.answer = nn.Linear(d_model, KINDS * ITEMS)

    def forward(self, question: Tensor, items: Tensor) -> Float[Tensor, "n kinds items"]:
        """Logits of the contents, for each kind of name."""
        items = self.read_item(items)  # (n, items, d_model)
        output = self.attention(self.read_question(question), items, items)  # (n, 1, d_model)
        return self.answer(output).view(-1, KINDS, ITEMS)


def make_batch(n: int, rng: torch.Generator) -> Batch:
    """Questions, items and answers of ``n`` indexes.

    An index has 6 items; each has a name and a content of each of four kinds, numbers from 0 to 5. No two items share a name
    of the same kind. A question gives one name of each kind and wants the four contents.
    """
    names = torch.rand(n, KINDS, ITEMS, generator=rng).argsort(-1)  # (n, kinds, items): each row 0 to 5 in some order
    contents = torch.randint(0, ITEMS, (n, KINDS, ITEMS), generator=rng)  # (n, kinds, items)
    item = torch.randint(0, ITEMS, (n, KINDS, 1), generator=rng)  # which item is asked for, by kind
    asked, target = names.gather(2, item)[..., 0], contents.gather(2, item)[..., 0]  # (n, kinds)
    one_hot = [F.one_hot(t.mT, ITEMS).flatten(2).float() for t in (names, contents)]  # each (n, items, kinds * items)
    question = F.one_hot(asked, ITEMS).flatten(1)[:, None].float()  # (n, 1, kinds * items)
    return question, torch.cat(one_hot, dim=-1), target


def accuracy(model: nn.Module) -> float:
    """Share of right contents among 8,000 questions that no model was trained on."""
    question, items, target = make_batch(2000, torch.Generator().manual_seed(99))
    with torch.no_grad():
        return (model(question, items).argmax(-1) == target).float().mean().item()


def train(model: nn.Module, steps: int, seed: int, every: int = EVERY) -> Iterator[tuple[int, float]]:
    """Train on fresh batches of 128; yields the number of steps done and the accuracy, every ``every`` steps."""
    rng, optimizer = torch.Generator().manual_seed(seed), torch.optim.Adam(model.parameters(), lr=RATE)
    for step in range(1, steps + 1):
        question, items, target = make_batch(128, rng)
        loss = F.cross_entropy(model(question, items).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % every == 0:
            yield step, accuracy(model)
