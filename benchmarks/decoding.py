"""Greedy decoding with the course's cache, against ``nn.Transformer`` that runs over everything said so far at each step.

Both encode the source once. ``nn.Transformer`` keeps nothing of earlier steps, so its decoder sees a longer prefix each time.
"""

import torch
from torch import Tensor

from course_utils.decoding import greedy_decode
from course_utils.masks import causal_mask
from course_utils.models import make_transformer
from course_utils.tokenizers import START_ID

from .measure import in_turn, ratio, threads
from .transformer import SIZES, VOCAB, PyTorchs, batch

BATCH = 4
NEVER = VOCAB  # no symbol has this id: every sequence runs to the end


@torch.no_grad()
def recomputed(model: PyTorchs, source: Tensor, steps: int) -> Tensor:
    """Greedy decoding with ``nn.Transformer``: encoder once, decoder over the whole prefix at each step."""
    hidden_source = source == 0  # PyTorch's masks are True where nothing may be seen
    memory = model.stacks.encoder(model.source_embedding(source), src_key_padding_mask=hidden_source)
    tokens = torch.full((len(source), 1), START_ID)
    for _ in range(steps):
        hidden = model.stacks.decoder(
            model.target_embedding(tokens),
            memory,
            tgt_mask=~causal_mask(tokens.shape[1])[0, 0],
            memory_key_padding_mask=hidden_source,
        )
        tokens = torch.cat((tokens, model.generator(hidden[:, -1:]).argmax(dim=-1)), dim=1)
    return tokens[:, 1:]  # (B, steps)


def main(repeats: int = 5) -> None:
    """Print the table."""
    print(threads())
    print("model     batch x source   steps   with cache (ms)   recomputed (ms)   ratio")
    for name, (num_layers, d_model, d_ff, num_heads, _, length) in SIZES.items():
        for steps in (24, 64):
            torch.manual_seed(0)
            ours = make_transformer(VOCAB, VOCAB, num_layers, d_model, d_ff, num_heads).eval()
            theirs = PyTorchs(num_layers, d_model, d_ff, num_heads).eval()
            source, _ = batch(BATCH, length)
            actions = {
                "cache": lambda m=ours, s=source, n=steps: greedy_decode(m, s, max_len=n, end_id=NEVER),
                "all": lambda m=theirs, s=source, n=steps: recomputed(m, s, n),
            }
            times = in_turn(actions, repeats)
            cached, whole = (1000 * sorted(times[which])[repeats // 2] for which in actions)
            print(
                f"{name:8}{f'{BATCH} x {length}':>17}{steps:8}{cached:18.0f}{whole:18.0f}{ratio(times, 'cache', 'all'):8.2f}"
            )


if __name__ == "__main__":
    main()
