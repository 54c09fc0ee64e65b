"""Pairs to be recalled, for one layer of attention with a softmax, or with a state of fixed size (lesson 14).

The task, the layer in its kinds, and its training. ``experiments/recall.py`` trains every kind from five seeds.

Source:
    Arora et al., "Zoology: Measuring and Improving Recall in Efficient Language Models", 2023, section 3.1 (recall of several
    pairs). There, keys and values are tokens of their own; here a token holds a pair, so that one layer is enough.
"""

from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..arguments import require_one_of
from ..attention import scaled_dot_product_attention
from ..linear_attention import masked_form
from ..masks import causal_mask

SYMBOLS, D_MODEL, D_HEAD, ASKED = 128, 64, 8, 16  # keys, and values, that there are; sizes; questions behind the pairs
PAIRS = (4, 8, 16, 32, 64)
STEPS, BATCH, RATE = 1000, 64, 0.03  # ``experiments/recall.py`` chose the rate for each kind, on seeds of its own
KINDS = ("softmax", "softmax with decay", "linear", "decay", "delta")

Batch = tuple[Int[Tensor, "n L"], Int[Tensor, "n L"], Int[Tensor, "n asked"]]


class Recaller(nn.Module):
    """One attention layer over pairs and questions: which value came with this key?

    Queries and keys are made of the key's embedding and values of the value's. If both are made of the sum of the two, linear
    attention settles for keys that hold the value too, and finds half of the values always and the others never.

    ``"softmax with decay"`` multiplies the weight of a key by all decays since (Lin et al., "Forgetting Transformer", 2025).

    Args:
        kind: One of ``KINDS``. All have the same parameters, also those that do not use the gate.
        d_head: Size of a query and of a key. A state has ``d_head * d_model`` numbers.
        d_model: Size of an embedding and of a value.

    Raises:
        ValueError: If ``kind`` is none of ``KINDS``.
    """

    def __init__(self, kind: str, d_head: int = D_HEAD, d_model: int = D_MODEL) -> None:
        super().__init__()
        require_one_of("kind", kind, KINDS)
        self.kind = kind
        self.key_of, self.value_of = nn.Embedding(SYMBOLS, d_model), nn.Embedding(SYMBOLS + 1, d_model)
        self.q_proj = nn.Linear(d_model, d_head, bias=False)
        self.k_proj = nn.Linear(d_model, d_head, bias=False)
        self.v_proj = nn.Linear(d_model, d_model, bias=False)
        self.gate = nn.Linear(d_model, 1)
        self.norm = nn.LayerNorm(d_model)
        self.answer = nn.Linear(d_model, SYMBOLS)
        nn.init.constant_(self.gate.bias, 4.0)  # decays and betas start near 1

    def forward(self, keys: Int[Tensor, "n L"], values: Int[Tensor, "n L"]) -> Float[Tensor, "n L symbols"]:
        """Logits of the values at every position."""
        x, y = self.key_of(keys), self.value_of(values)  # (n, L, d_model) each
        question = values == SYMBOLS  # (n, L): it reads, and writes nothing
        q, k, v = self.q_proj(x), F.normalize(self.k_proj(x), dim=-1), self.v_proj(y)
        gate = self.gate(x + y).squeeze(-1).sigmoid()  # (n, L)
        if self.kind.startswith("softmax"):
            faded = gate.log().cumsum(dim=1)  # (n, L)
            bias = faded[:, :, None] - faded[:, None, :] if self.kind == "softmax with decay" else None
            mask = causal_mask(x.shape[1])[0] & ~question[:, None]  # (n, L, L)
            found, _ = scaled_dot_product_attention(q, k, v, mask, scale=1.0, score_bias=bias)
        else:
            k = k.masked_fill(question[..., None], 0.0)
            found = masked_form(q, k, v, **{"decay": {"decay": gate}, "delta": {"beta": gate}}.get(self.kind, {}))
        return self.answer(self.norm(found))


def make_batch(n: int, pairs: int, rng: torch.Generator, *, twice: bool = False) -> Batch:
    """Keys, values and answers of ``n`` texts: ``pairs`` pairs, then ``ASKED`` questions, whose value is ``SYMBOLS``.

    No key comes twice, or with ``twice`` each one does, with two values, of which the later counts.
    """
    different = pairs // 2 if twice else pairs
    keys = torch.rand(n, SYMBOLS, generator=rng).argsort(dim=1)[:, :different]  # (n, different)
    order = torch.arange(pairs).expand(n, -1)
    if twice:
        order = torch.rand(n, pairs, generator=rng).argsort(dim=1)  # (n, pairs)
    which = order % different  # (n, pairs): place in the list of keys
    values = torch.randint(0, SYMBOLS, (n, pairs), generator=rng)
    latest = torch.zeros(n, different, dtype=torch.long)
    for place in range(pairs):  # one after another, so that the later one stays
        latest.scatter_(1, which[:, place : place + 1], values[:, place : place + 1])
    asked = torch.randint(0, different, (n, ASKED), generator=rng)
    question = torch.full((n, ASKED), SYMBOLS)
    all_keys = torch.cat((keys.gather(1, which), keys.gather(1, asked)), dim=1)  # (n, pairs + asked)
    return all_keys, torch.cat((values, question), dim=1), latest.gather(1, asked)


@torch.no_grad()
def accuracy(model: Recaller, pairs: int, *, twice: bool = False) -> float:
    """Share of right answers on 256 texts drawn apart from those of the training."""
    keys, values, answers = make_batch(256, pairs, torch.Generator().manual_seed(99), twice=twice)
    return (model(keys, values)[:, pairs:].argmax(dim=-1) == answers).float().mean().item()


def train(
    kind: str,
    seed: int,
    *,
    d_head: int = D_HEAD,
    twice: bool = False,
    steps: int = STEPS,
    every: int = 100,
    rate: float = RATE,
    d_model: int = D_MODEL,
    pairs: Sequence[int] = PAIRS,
) -> Iterator[tuple[int, Recaller]]:
    """Train on texts with each number of ``pairs`` in turn; hand out updates and model ``every`` so many updates.

    Args:
        kind: One of ``KINDS``.
        seed: Of the first weights and of the texts.
        d_head: Size of a query and of a key.
        twice: Whether every key comes twice.
        steps: Updates by Adam, on ``BATCH`` texts each.
        every: After how many updates the model is handed out.
        rate: Of Adam, at the start. It falls to 0 along half a cosine.
        d_model: Size of an embedding and of a value.
        pairs: Of the texts, in turn.
    """
    torch.manual_seed(seed)
    model, rng = Recaller(kind, d_head, d_model), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for step in range(1, steps + 1):
        some = pairs[step % len(pairs)]
        keys, values, answers = make_batch(BATCH, some, rng, twice=twice)
        loss = F.cross_entropy(model(keys, values)[:, some:].flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % every == 0:
            yield step, model
