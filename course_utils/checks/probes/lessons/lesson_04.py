"""Lesson 04: what is off limits, where gradients are compared, and how 4.3, 4.4 and 4.5 are run and watched."""

import gc
import weakref

import torch
from torch import nn
from torch.func import functional_call
from torch.utils._pytree import tree_leaves

from ..dispatch import DispatchWatch
from ..probe import Probe

READY_MADE = (
    "torch.nn.functional.scaled_dot_product_attention", "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention", "course_utils.attention.scaled_dot_product_attention",
    "course_utils.multi_head.MultiHeadAttention",
)  # fmt: skip


def _with_these_numbers(answer, case):
    """The layer's output on ``x``, with the case's tensors as its parameters: gradients reach them as they reach ``x``."""
    numbers = {name: value for name, value in case.items() if "." in name}
    layer = answer(case["x"].shape[-1], len(numbers["q_proj.bias"]), len(numbers["v_proj.bias"]))
    for name in ("q_proj", "k_proj", "v_proj"):
        part = getattr(layer, name, None)
        if not isinstance(part, nn.Linear) or part.bias is None:
            raise ValueError(f"{name} must be an nn.Linear with a bias, as in the constructor that was given")
    return functional_call(layer, numbers, (case["x"],))


def _weights_made(answer, case):
    """The weights of ``x`` attending to itself by the two matrices that the answer hands back."""
    x, found = case["x"], answer(case["x"], case["wanted"])
    if not isinstance(found, tuple | list) or len(found) != 2 or not all(isinstance(W, torch.Tensor) for W in found):
        raise TypeError("projections_for must return two tensors, W_q and W_k")
    W_q, W_k = found
    if W_q.shape != W_k.shape or W_q.dim() != 2 or len(W_q) != x.shape[1]:
        shapes = f"W_q {tuple(W_q.shape)}, W_k {tuple(W_k.shape)}"
        raise ValueError(f"both matrices must have shape (d_model, d_k), here ({x.shape[1]}, d_k): {shapes}")
    return torch.softmax((x @ W_q) @ (x @ W_k).T / W_q.shape[1] ** 0.5, dim=-1)


class Blocks(DispatchWatch):
    """Hands out pairs once, and notes, pair by pair, how many bytes are held at once by tensors made meanwhile."""

    def __init__(self, pairs):
        super().__init__()
        self.left, self.ended, self.made, self.peaks = iter(pairs), False, [], [0]

    def __enter__(self):
        gc.freeze()  # what was there before stays out of it: a collection looks at this answer's objects alone
        return super().__enter__()

    def __exit__(self, *error):
        gc.unfreeze()
        return super().__exit__(*error)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.made += [weakref.ref(leaf) for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        alive = [tensor.untyped_storage() for ref in self.made if (tensor := ref()) is not None]
        self.made = [ref for ref in self.made if ref() is not None]
        self.peaks[-1] = max(self.peaks[-1], sum({one.data_ptr(): one.nbytes() for one in alive}.values()))
        return result

    def __iter__(self):
        if self.ended:
            raise RuntimeError("the blocks have been read to their end, and they can be read only once")
        return self

    def __next__(self):
        self.ended = True  # unless there is one more
        key, value = next(self.left)
        self.ended = False
        gc.collect()  # what a cycle still holds isn't held by the answer
        self.peaks.append(0)
        return key.clone(), value.clone()


def _pairs(case):
    return list(zip(*(case[name].split(case["block_sizes"], dim=1) for name in ("key", "value")), strict=True))


def _block_by_block(answer, case):
    """The output, and whether what was held grew with the number of blocks."""
    with Blocks(_pairs(case)) as held:
        output = answer(case["query"], held)
    third = len(held.peaks) // 3
    grows = third > 4 and max(held.peaks[-third:]) > 1.5 * max(held.peaks[:third])
    return output, "it grows with the number of blocks" if grows else "it does not grow"


PROBES = {
    "attention": Probe(off_limits=READY_MADE, gradients=True),
    "cross_attention": Probe(gradients=True),
    "projections_for": Probe(call=_weights_made),
    "SelfAttention": Probe(off_limits=READY_MADE, call=_with_these_numbers, expects="class", gradients=True),
    "attention_in_blocks": Probe(
        call=_block_by_block, hands_out=lambda case: {"query": case["query"], "blocks": _pairs(case)}
    ),
    "scale_results": Probe(expects="value"),
}
