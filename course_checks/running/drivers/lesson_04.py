"""Lesson 04: how 4.3, 4.4 and 4.5 are run and watched."""

import contextlib
import gc
import weakref

import torch
from torch import nn
from torch.func import functional_call
from torch.utils._pytree import tree_leaves

from ..dispatch import DispatchWatch


def layer_with_these_numbers(answer, case):
    """The layer's output on ``x``, with the case's tensors as its parameters: gradients reach them as they reach ``x``."""
    numbers = {name: value for name, value in case.items() if "." in name}
    layer = answer(case["x"].shape[-1], len(numbers["q_proj.bias"]), len(numbers["v_proj.bias"]))
    for name in ("q_proj", "k_proj", "v_proj"):
        part = getattr(layer, name, None)
        if not isinstance(part, nn.Linear) or part.bias is None:
            raise ValueError(f"{name} must be an nn.Linear with a bias, as in the constructor that was given")
    return functional_call(layer, numbers, (case["x"],))


def weights_made(answer, case):
    """The weights of ``x`` attending to itself by the two matrices that the answer hands back."""
    x, pair = case["x"], answer(case["x"], case["wanted"])
    if not isinstance(pair, tuple | list) or len(pair) != 2 or not all(isinstance(W, torch.Tensor) for W in pair):
        raise TypeError("projections_for must return two tensors, W_q and W_k")
    W_q, W_k = pair
    if W_q.shape != W_k.shape or W_q.dim() != 2 or len(W_q) != x.shape[1]:
        shapes = f"W_q {tuple(W_q.shape)}, W_k {tuple(W_k.shape)}"
        raise ValueError(f"both matrices must have shape (d_model, d_k), here ({x.shape[1]}, d_k): {shapes}")
    return torch.softmax((x @ W_q) @ (x @ W_k).T / W_q.shape[1] ** 0.5, dim=-1)


class Memory(DispatchWatch):
    """Notes, block by block, how many bytes tensors made meanwhile hold at once."""

    def __init__(self):
        super().__init__()
        self.made, self.peaks = [], [0]

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
        self.peaks[-1] = max(self.peaks[-1], sum({storage.data_ptr(): storage.nbytes() for storage in alive}.values()))
        return result

    def next_block(self):
        gc.collect()  # what a cycle still holds isn't held by the answer
        self.peaks.append(0)

    def grows(self):
        third = len(self.peaks) // 3
        return third > 0 and max(self.peaks[-third:]) > 1.25 * max(self.peaks[:third])


class Blocks:
    """Hands out copies of pairs once; what is done to a copy in place is done to the pair, as soon as the next is asked for."""

    def __init__(self, pairs, memory=None):
        self.left = iter([(pair, [tensor.numpy() for tensor in pair]) for pair in pairs])
        self.memory, self.ended, self.lent = memory, False, ()

    def __iter__(self):
        if self.ended:
            raise RuntimeError("the blocks have been read to their end, and they can be read only once")
        return self

    def __next__(self):
        self.ended = True  # unless there is one more
        self.take_back()
        pair, arrays = next(self.left)
        self.ended = False
        if self.memory is not None:
            self.memory.next_block()
        copies = tuple(tensor.clone() for tensor in pair)
        self.lent = tuple(zip(arrays, copies, strict=True))
        return copies

    def take_back(self):
        for array, copy in self.lent:
            array[...] = copy.detach().numpy()  # the pair's own numbers, by a way that is not watched
        self.lent = ()


def pairs(case):
    """The blocks of one case."""
    return list(zip(*(case[name].split(case["block_sizes"], dim=1) for name in ("key", "value")), strict=True))


def block_by_block(answer, case):
    """The output; where the case says so it is watched what the answer holds.

    Raises:
        RuntimeError: It grew with the number of blocks.
    """
    memory = Memory() if case.driver.get("watched") else None
    blocks = Blocks(pairs(case), memory)
    with memory or contextlib.nullcontext():
        output = answer(case["query"], blocks)
    blocks.take_back()
    if memory and memory.grows():
        raise RuntimeError("what you hold at the same time grows with the number of blocks")
    return output


SHOWN = {"block_by_block": lambda case: {"query": case["query"], "blocks": pairs(case)}}
