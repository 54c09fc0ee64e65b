"""How long it takes to learn to copy: the recipe of lesson 10, three seeds, exact match on 1,000 unseen sequences.

Times hold for the machine they were measured on; what is tested for is left out of them.
"""

import torch
from torch import nn

from course_utils.datasets.tasks import copy_task
from course_utils.decoding import greedy_decode
from course_utils.models import Transformer, TransformerConfig
from course_utils.training import label_smoothing_loss, one_cycle_rate, seed_everything

from .measure import seconds, threads

VOCAB, LENGTH, STEPS, BATCH, PEAK = 11, 10, 240, 64, 4e-3
TEST_EVERY = 20


def exact_match(model: nn.Module, seed: int) -> float:
    """Share of 1,000 unseen sequences that are decoded greedily without a mistake."""
    source, target = copy_task(1000, LENGTH, VOCAB, torch.Generator().manual_seed(10**6 + seed))
    model.eval()
    output = greedy_decode(model, source, max_len=LENGTH + 1).tokens  # (1000, L_out)
    model.train()
    return 0.0 if output.shape != target[:, 1:].shape else (output == target[:, 1:]).all(dim=1).float().mean().item()


def learn(seed: int) -> tuple[int | None, float, float, float]:
    """Steps and seconds until all 1,000 were right, seconds of the whole training, exact match at its end."""
    seed_everything(seed)
    sizes = {"num_layers": 2, "d_model": 64, "d_ff": 128, "num_heads": 4}
    model = Transformer(TransformerConfig(VOCAB, VOCAB, **sizes, dropout=0.0, max_len=16))
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    rng = torch.Generator().manual_seed(seed)

    def update(step: int) -> None:
        source, target = copy_task(BATCH, LENGTH, VOCAB, rng)  # (B, L), (B, L + 2)
        loss = label_smoothing_loss(model(source, target[:, :-1]), target[:, 1:])
        for group in optimizer.param_groups:
            group["lr"] = one_cycle_rate(step, STEPS, PEAK)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    spent, solved_after, solved_seconds, right = 0.0, None, float("nan"), 0.0
    for step in range(1, STEPS + 1):
        spent += seconds(lambda step=step: update(step))
        if step % TEST_EVERY == 0:
            right = exact_match(model, seed)
            if right == 1.0 and solved_after is None:
                solved_after, solved_seconds = step, spent
    return solved_after, solved_seconds, spent, right


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    print(threads())
    print(f"seed   all of 1,000 right after     {STEPS} steps   exact match at the end (100 %)")
    for seed in range(3):
        solved, solved_seconds, spent, right = learn(seed)
        after = f"{solved!s:>5} steps, {solved_seconds:5.1f} s"
        print(f"{seed:4}   {after}      {spent:7.1f} s   {100 * right:10.1f} %")


if __name__ == "__main__":
    main()
