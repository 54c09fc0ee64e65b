"""Four lookups at once, for a layer whose heads share keys and values (lesson 07).

The task, a model of one attention layer with four query heads, and its training. ``experiments/lookups.py`` trains it with
four, two and one head of keys and values from five seeds, and one that is wider.
"""

import math
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..attention import scaled_dot_product_attention
from ..multi_head import MultiHeadAttention, merge_heads, repeat_kv, split_heads

KINDS, ITEMS, NUM_HEADS, D_HEAD = 4, 6, 4, 8
EVERY, RATE = 45, 1e-2  # updates between two measurements; learning rate

Batch = tuple[Float[Tensor, "n 1 d_question"], Float[Tensor, "n items d_item"], Int[Tensor, "n kinds"]]


class WiderHeads(nn.Module):
    """Attention without a mask, whose heads may be wider than ``d_model / NUM_HEADS``, keys and values each for themselves.

    Args:
        d_model: Size of a token's vector, in and out.
        num_kv_heads: Heads of keys and values, for the four query heads.
        key_size: Size of a query and of a key.
        value_size: Size of a value.
    """

    def __init__(self, d_model: int, num_kv_heads: int, key_size: int, value_size: int) -> None:
        super().__init__()
        self.num_kv_heads = num_kv_heads
        self.q_proj = nn.Linear(d_model, NUM_HEADS * key_size)
        self.k_proj = nn.Linear(d_model, num_kv_heads * key_size)
        self.v_proj = nn.Linear(d_model, num_kv_heads * value_size)
        self.o_proj = nn.Linear(NUM_HEADS * value_size, d_model)

    def forward(
        self, query: Float[Tensor, "n 1 d_model"], key: Float[Tensor, "n items d_model"], value: Tensor
    ) -> Float[Tensor, "n 1 d_model"]:
        """What the four heads find, put together."""
        q = split_heads(self.q_proj(query), NUM_HEADS)  # (n, H, 1, key_size)
        k = split_heads(self.k_proj(key), self.num_kv_heads)  # (n, H_kv, items, key_size)
        v = split_heads(self.v_proj(value), self.num_kv_heads)  # (n, H_kv, items, value_size)
        k, v = (repeat_kv(x, NUM_HEADS // self.num_kv_heads) for x in (k, v))
        heads, _ = scaled_dot_product_attention(q, k, v)
        return self.o_proj(merge_heads(heads))


class Lookups(nn.Module):
    """One attention layer that answers four questions at once.

    Args:
        num_kv_heads: Heads of keys and values, for the four query heads.
        key_size: Size of a query and of a key.
        value_size: Size of a value.
    """

    def __init__(self, num_kv_heads: int, *, key_size: int = D_HEAD, value_size: int = D_HEAD) -> None:
        super().__init__()
        d_model = NUM_HEADS * D_HEAD
        self.read_question = nn.Linear(KINDS * ITEMS, d_model)
        self.read_item = nn.Linear(2 * KINDS * ITEMS, d_model)
        if key_size == value_size == D_HEAD:
            self.attention = MultiHeadAttention(d_model, NUM_HEADS, num_kv_heads=num_kv_heads)
        else:
            self.attention = WiderHeads(d_model, num_kv_heads, key_size, value_size)
        self.answer = nn.Linear(d_model, KINDS * ITEMS)

    def forward(self, question: Tensor, items: Tensor) -> Float[Tensor, "n kinds items"]:
        """Logits of the contents, for each kind of name."""
        items = self.read_item(items)  # (n, items, d_model)
        output = self.attention(self.read_question(question), items, items)  # (n, 1, d_model)
        return self.answer(output).view(-1, KINDS, ITEMS)


def by_hand() -> Lookups:
    """A model with one shared head of ``D_HEAD`` whose weights are set, not learned: it does all four lookups.

    The six names of a kind are six points on a circle, and so are the six contents. A key holds a circle for each of the four
    kinds, which are eight numbers, and so does a value. Query head h asks with the point of its name on circle h alone, and of
    the value that it finds the output projection takes circle h alone.
    """
    model = Lookups(1).requires_grad_(False)
    for weight in model.parameters():
        weight.zero_()
    angles = torch.arange(ITEMS) * (2 * math.pi / ITEMS)
    circles = torch.block_diag(*[torch.stack([angles.cos(), angles.sin()])] * KINDS)  # (2 * kinds, kinds * items)
    wide, names = circles.shape
    layer = model.attention
    model.read_question.weight[:wide] = circles
    model.read_item.weight[:wide, :names] = circles
    model.read_item.weight[wide : 2 * wide, names:] = circles
    layer.k_proj.weight[:, :wide] = torch.eye(wide)
    layer.v_proj.weight[:, wide : 2 * wide] = torch.eye(wide)
    for head in range(NUM_HEADS):
        own = slice(2 * head, 2 * head + 2)  # circle h, in a key and in a value
        rows = slice(D_HEAD * head + own.start, D_HEAD * head + own.stop)  # the same among the numbers of all heads
        layer.q_proj.weight[rows, own] = 40 * torch.eye(2)  # far apart, so that the softmax picks one item
        layer.o_proj.weight[own, rows] = torch.eye(2)
    model.answer.weight[:, :wide] = 10 * circles.T
    return model.requires_grad_(True)


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
