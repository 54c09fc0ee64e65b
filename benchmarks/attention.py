"""Attention against PyTorch on the CPU: ratios in one run, memory, the key/value cache, and cost against length.

Sizes are (B, L, d_model, H). "weights" is the explicit path, which hands the weights back, against PyTorch's module with
``need_weights=True``; "fused" is the path without weights against ``need_weights=False``.
"""

import math
from pathlib import Path

import torch
from torch import nn

from course_utils import plotting
from course_utils.kv_cache import KVCache
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention

from .measure import in_turn, median, peak_bytes, ratio, threads

SIZES = ((8, 256, 512, 8), (2, 1024, 512, 8), (64, 32, 128, 4))
PICTURE = Path(__file__).resolve().parent.parent / "docs" / "attention_cost.png"


def against_pytorch() -> None:
    """Forward, and forward + backward, as ratios of time and of peak memory."""
    print("(B, L, d_model, H)      pass      fused: time  memory    weights: time  memory    explicit/fused")
    for batch, length, d_model, heads in SIZES:
        torch.manual_seed(0)
        theirs = nn.MultiheadAttention(d_model, heads, batch_first=True)
        ours = MultiHeadAttention(d_model, heads)
        x = torch.randn(batch, length, d_model, requires_grad=True)
        calls = {
            "fused": lambda x=x, m=ours: m(x),
            "no weights": lambda x=x, m=theirs: m(x, x, x, need_weights=False)[0],
            "explicit": lambda x=x, m=ours: m(x, return_weights=True)[0],
            "weights": lambda x=x, m=theirs: m(x, x, x, need_weights=True)[0],
        }
        both = {name: (lambda call=call: call().sum().backward()) for name, call in calls.items()}
        for kind, actions in (("forward", calls), ("both", both)):
            times = in_turn(actions, 15)
            memory = {name: peak_bytes(action) for name, action in actions.items()}
            print(
                f"{(batch, length, d_model, heads)!s:22}  {kind:8}"
                f"{ratio(times, 'fused', 'no weights'):13.2f} {memory['fused'] / memory['no weights']:7.2f}"
                f"{ratio(times, 'explicit', 'weights'):16.2f} {memory['explicit'] / memory['weights']:7.2f}"
                f"{ratio(times, 'explicit', 'fused'):18.2f}"
            )


@torch.no_grad()
def decode_steps() -> None:
    """One more token: with a cache, against computing all keys and values again."""
    print("\ntokens so far   H_kv   step with cache (ms)   recomputed (ms)   ratio   cache (MiB)")
    d_model, heads = 512, 8
    for length in (128, 512, 2048):
        for num_kv_heads in (8, 4, 2, 1):
            torch.manual_seed(0)
            layer = MultiHeadAttention(d_model, heads, num_kv_heads=num_kv_heads).eval()
            x = torch.randn(1, length, d_model)
            cache = KVCache(1, num_kv_heads, length, d_model // heads)
            layer(x[:, :-1], mask=causal_mask(length - 1), cache=cache)
            mask = causal_mask(length)

            def cached(layer=layer, x=x, cache=cache, length=length):
                cache.length = length - 1
                return layer(x[:, -1:], cache=cache)

            times = in_turn({"cached": cached, "all": lambda layer=layer, x=x, mask=mask: layer(x, mask=mask)}, 9)
            step, whole = (sorted(times[name])[4] * 1000 for name in ("cached", "all"))
            print(
                f"{length:13}   {num_kv_heads:4}   {step:20.2f}   {whole:15.2f}   {1 / ratio(times, 'cached', 'all'):5.0f}"
                f"   {cache.num_bytes / 2**20:11.2f}"
            )


@torch.no_grad()
def cost_against_length() -> None:
    """Time of one forward pass by length; the slope on a log-log plot, and the plot itself."""
    lengths = (128, 256, 512, 1024, 2048, 4096)
    layer = MultiHeadAttention(64, 1).eval()
    paths: dict[str, list[float]] = {"explicit": [], "fused": []}
    for length in lengths:
        x = torch.randn(1, length, 64)
        paths["explicit"].append(median(lambda x=x: layer(x, return_weights=True), 7))
        paths["fused"].append(median(lambda x=x: layer(x), 7))
    print("\n       " + "".join(f"{length:>9}" for length in lengths) + "   slope from 1024 on")
    for name, times in paths.items():
        slope = math.log(times[-1] / times[-3]) / math.log(lengths[-1] / lengths[-3])
        print(f"{name:8}" + "".join(f"{1000 * t:7.2f}ms" for t in times) + f"{slope:10.2f}")
    ax = plotting.curves(
        torch.tensor(lengths).float(),
        {name: 1000 * torch.tensor(times) for name, times in paths.items()},
        xlabel="length L (tokens)",
        ylabel="time (ms)",
        title="One attention layer, one head of 64",
    )
    ax.set(xscale="log", yscale="log")
    PICTURE.write_bytes(plotting.png(ax.figure))
    print(f"drawn in {PICTURE.name}")


def main() -> None:
    """Print the tables."""
    print(threads())
    against_pytorch()
    decode_steps()
    cost_against_length()


if __name__ == "__main__":
    main()
