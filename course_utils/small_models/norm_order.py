"""Deep encoders with the norm before or after the sum, on reversing eight symbols (lesson 09).

The model, its measures and its training. ``experiments/norm_order.py`` trains it with several learning rates and seeds.
"""

from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..layers import EncoderLayer, InputEmbedding, LayerNorm
from ..positions import SinusoidalPositions

SYMBOLS, LENGTH, D_MODEL = 8, 8, 32
STEPS, EVERY = 300, 50  # updates; updates between two measurements


class Reverser(nn.Module):
    """Encoder layers that say, at each position, which symbol stands at its mirror image.

    Args:
        num_layers: How many.
        pre_norm: As in ``EncoderLayer``.
        factor: What the last matrix of each sublayer is multiplied by at the start.
    """

    def __init__(self, num_layers: int, pre_norm: bool, factor: float = 1.0) -> None:
        super().__init__()
        self.embed = InputEmbedding(SYMBOLS, D_MODEL, positions=SinusoidalPositions(D_MODEL, max_len=LENGTH))
        self.layers = nn.ModuleList(
            EncoderLayer(D_MODEL, 4, 2 * D_MODEL, dropout=0.0, pre_norm=pre_norm) for _ in range(num_layers)
        )
        self.norm = LayerNorm(D_MODEL) if pre_norm else nn.Identity()
        self.classify = nn.Linear(D_MODEL, SYMBOLS)
        for part in self.modules():
            if isinstance(part, nn.Linear):
                nn.init.xavier_uniform_(part.weight)
                nn.init.zeros_(part.bias)
        with torch.no_grad():
            for layer in self.layers:
                layer.self_attention.o_proj.weight.mul_(factor)
                layer.feed_forward.down_proj.weight.mul_(factor)

    def stream(self, tokens: Int[Tensor, "n L"]) -> Float[Tensor, "n L d_model"]:
        """The stream after the last layer, before the final norm."""
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return x

    def forward(self, tokens: Int[Tensor, "n L"]) -> Float[Tensor, "n L symbols"]:
        """Logits of the reversed sequence."""
        return self.classify(self.norm(self.stream(tokens)))


def make_alike(model: Reverser, size: float = 5.0) -> None:
    """Add one vector, of ``size`` times a token's length and always the same, to every token that enters the first layer."""
    shared = F.layer_norm(torch.randn(D_MODEL, generator=torch.Generator().manual_seed(7)), (D_MODEL,)) * size
    model.embed.register_forward_hook(lambda _, tokens, x: x + shared)


def make_opposite(model: Reverser, size: float = 5.0) -> None:
    """Add the vector of ``make_alike`` to every other token and take it from the rest: as large a change, but tokens unlike."""
    shared = F.layer_norm(torch.randn(D_MODEL, generator=torch.Generator().manual_seed(7)), (D_MODEL,)) * size
    signs = torch.tensor([1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0])[:, None]  # (L, 1): the same at mirror images
    model.embed.register_forward_hook(lambda _, tokens, x: x + signs * shared)


def keep_apart(model: Reverser) -> None:
    """Take off what each sublayer would add to all tokens of a sequence alike."""
    _change_sublayers(model, lambda _, change: _apart(change)[0])


def keep_small(model: Reverser) -> None:
    """Shrink what each sublayer adds to the size that ``keep_apart`` would leave it, with all that it adds to tokens alike."""

    def shrink(_: Tensor, change: Tensor) -> Tensor:
        _, share = _apart(change)
        return change * share

    _change_sublayers(model, shrink)


def keep_apart_and_large(model: Reverser) -> None:
    """As ``keep_apart``, with what is left of each sublayer's result blown up to the size of the whole."""

    def blow_up(_: Tensor, change: Tensor) -> Tensor:
        apart, share = _apart(change)
        return apart / share

    _change_sublayers(model, blow_up)


def fade_direct_path(model: Reverser, share: float = 0.5**0.5) -> None:
    """Let only a share of the gradient back along the direct path past each sublayer; what the model says stays as it is.

    The share of sublayers that are as large as what they are added to is the root of one half. For post-norm models.
    """

    def fade(x: Tensor, change: Tensor) -> Tensor:
        nothing = x - x.detach()  # (n, L, d_model): 0, with a gradient
        return change - (1 - share) * nothing

    _change_sublayers(model, fade)


def _change_sublayers(model: Reverser, rule: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Let every sublayer add what ``rule`` makes of its input and of what it would add, both ``(n, L, d_model)``."""
    for layer in model.layers:
        for part in (layer.self_attention, layer.feed_forward):
            part.register_forward_hook(lambda _, given, change: rule(given[0], change))


def _apart(change: Float[Tensor, "n L d_model"]) -> tuple[Float[Tensor, "n L d_model"], Float[Tensor, "n 1 1"]]:
    """What is added to the tokens of a sequence without what is added to all alike, and its share of the size."""
    apart = change - change.mean(dim=1, keepdim=True)
    left, whole = (part.norm(dim=(1, 2), keepdim=True) for part in (apart, change))
    return apart, (left / whole).detach()


def likeness(x: Float[Tensor, "n L d_model"]) -> float:
    """The mean cosine of two different tokens of one sequence."""
    unit = F.normalize(x, dim=-1)
    others = ~torch.eye(x.shape[1], dtype=torch.bool)
    return (unit @ unit.mT)[:, others].mean().item()


def measure(model: Reverser) -> tuple[float, float, float]:
    """Loss, share of symbols right, likeness, on 500 sequences drawn apart from those of the training."""
    tokens = torch.randint(0, SYMBOLS, (500, LENGTH), generator=torch.Generator().manual_seed(99))
    with torch.no_grad():
        x = model.stream(tokens)
        logits, target = model.classify(model.norm(x)), tokens.flip(1)
    loss = F.cross_entropy(logits.flatten(0, 1), target.flatten()).item()
    return loss, (logits.argmax(-1) == target).float().mean().item(), likeness(x)


def train(
    model: Reverser, seed: int, rate: float, warmup: int = 1, steps: int = STEPS, every: int = EVERY
) -> Iterator[int]:
    """Train on fresh batches of 32; yields the number of steps done, every ``every`` steps."""
    rng, optimizer = torch.Generator().manual_seed(seed), torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    for step in range(1, steps + 1):
        optimizer.param_groups[0]["lr"] = rate * min(1.0, step / warmup)
        tokens = torch.randint(0, SYMBOLS, (32, LENGTH), generator=rng)
        loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flip(1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % every == 0:
            yield step
