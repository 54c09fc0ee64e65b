"""The whole Transformer against nn.Transformer on the CPU: one training step, as ratios of time and of peak memory in one run.

Both have the same embeddings, generator, masks for padding and future, dropout and optimizer; only the stacks differ.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.layers import InputEmbedding
from course_utils.masks import causal_mask
from course_utils.models import count_parameters, make_transformer
from course_utils.positions import SinusoidalPositions

from .measure import in_turn, peak_bytes, ratio, threads

VOCAB = 1000
# name: layers, d_model, d_ff, heads, batch, tokens in a sequence
SIZES = {"base": (6, 512, 2048, 8, 16, 24), "small": (3, 128, 512, 4, 64, 24)}


class PyTorchs(nn.Module):
    """``nn.Transformer`` between the course's embeddings and a generator."""

    def __init__(self, num_layers: int, d_model: int, d_ff: int, num_heads: int, *, dropout: float = 0.1) -> None:
        super().__init__()

        def embedding() -> InputEmbedding:
            return InputEmbedding(VOCAB, d_model, positions=SinusoidalPositions(d_model, 512), dropout=dropout)

        self.source_embedding, self.target_embedding = embedding(), embedding()
        options = {"dropout": dropout, "batch_first": True, "norm_first": True}
        layer = nn.TransformerEncoderLayer(d_model, num_heads, d_ff, **options)
        # As nn.Transformer would build it, but for a warning that pre-norm and nested tensors do not go together.
        encoder = nn.TransformerEncoder(layer, num_layers, nn.LayerNorm(d_model), enable_nested_tensor=False)
        self.stacks = nn.Transformer(
            d_model, num_heads, num_layers, num_layers, d_ff, custom_encoder=encoder, **options
        )
        self.generator = nn.Linear(d_model, VOCAB)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Logits; PyTorch's masks are True where nothing may be seen."""
        hidden = self.stacks(
            self.source_embedding(source),
            self.target_embedding(target),
            tgt_mask=~causal_mask(target.shape[1])[0, 0],
            src_key_padding_mask=source == 0,
            tgt_key_padding_mask=target == 0,
            memory_key_padding_mask=source == 0,
        )
        return self.generator(hidden)


def batch(size: int, length: int) -> tuple[Tensor, Tensor]:
    """Source and target of random ids, each row padded to a random length from half of ``length`` on."""
    rng = torch.Generator().manual_seed(0)
    lengths = torch.randint(length // 2, length + 1, (2, size, 1), generator=rng)  # (2, B, 1)
    ids = torch.randint(1, VOCAB, (2, size, length), generator=rng)  # (2, B, L)
    source, target = ids.masked_fill(torch.arange(length) >= lengths, 0)
    return source, target


def step(model: nn.Module, source: Tensor, target: Tensor) -> Callable[[], None]:
    """One training step: forward, cross-entropy, backward, Adam."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

    def action() -> None:
        logits = model(source, target[:, :-1])  # (B, L - 1, vocab)
        loss = F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return action


def training_step(repeats: int = 9) -> None:
    """Ratios of time (at most 1.05) and of peak memory (at most 1.00) of a training step, ours to PyTorch's."""
    print("model    parameters    batch    ours (ms)    time    memory")
    for name, (num_layers, d_model, d_ff, num_heads, size, length) in SIZES.items():
        torch.manual_seed(0)
        ours = make_transformer(VOCAB, VOCAB, num_layers, d_model, d_ff, num_heads)
        theirs = PyTorchs(num_layers, d_model, d_ff, num_heads)
        source, target = batch(size, length)
        actions = {"ours": step(ours, source, target), "theirs": step(theirs, source, target)}
        times = in_turn(actions, repeats)
        memory = {which: peak_bytes(action) for which, action in actions.items()}
        print(
            f"{name:8}{count_parameters(ours):11,}{f'{size} x {length}':>9}{1000 * sorted(times['ours'])[repeats // 2]:13.0f}"
            f"{ratio(times, 'ours', 'theirs'):8.2f}{memory['ours'] / memory['theirs']:10.2f}"
        )


def main() -> None:
    """Print the tables."""
    print(threads())
    training_step()


if __name__ == "__main__":
    main()
