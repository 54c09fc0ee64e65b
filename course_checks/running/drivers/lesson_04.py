"""Lesson 04: how 4.3, 4.4 and 4.5 are run and watched."""

import contextlib
import gc
import io
import itertools
import tracemalloc
from array import array
from gc import collect, get_objects  # by names of this module: an answer may assign to those of gc
from tracemalloc import get_traced_memory, is_tracing

import torch
from torch import nn
from torch.func import functional_call


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


class Held:
    """Notes at every block how many bytes are held: by tensors, and of whatever Python and numpy keep, arrays, lists, text."""

    def __init__(self, blocks):
        self.block = max(tensor.nbytes for pair in blocks for tensor in pair)
        self.levels, self.seen = array("q", [0] * (len(blocks) + 1)), 0  # made now, so that it does not grow itself

    def __enter__(self):
        gc.freeze()  # what was there before stays out of it
        self.stop = not is_tracing()
        if self.stop:
            tracemalloc.start()
        return self

    def __exit__(self, *error):
        gc.unfreeze()
        if self.stop:
            tracemalloc.stop()

    def look(self):
        collect()  # what a cycle still holds isn't held by the answer
        tensors = [thing for thing in get_objects() if issubclass(type(thing), torch.Tensor)]
        storages = [torch.Tensor.untyped_storage(tensor) for tensor in tensors]
        total = sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())
        if not is_tracing():
            raise RuntimeError("tracemalloc was stopped, by which it is seen what you hold")
        self.levels[self.seen] = total + get_traced_memory()[0]
        self.seen += 1

    def grows(self):
        """By something in most blocks, or by several blocks at once every now and then."""
        levels = self.levels[: self.seen]
        added = sorted(after - before for before, after in itertools.pairwise(levels))
        return added[len(added) // 2] > 16 or levels[-1] - levels[len(levels) // 3] > 4 * self.block


def lent(pairs, look):
    """Copies of pairs; what is done to a copy in place is done to the pair, as soon as the next is asked for."""
    for pair in pairs:
        copies = tuple(tensor.clone() for tensor in pair)
        try:
            yield copies
        finally:
            for tensor, copy in zip(pair, copies, strict=True):
                tensor.numpy()[...] = copy.detach().numpy()
        del copies, copy
        look()


def read_once(blocks):
    """What the answer is given: it has no attribute by which one could get at what counts."""
    ended = False

    class Blocks:
        def __iter__(self):
            if ended:
                raise RuntimeError("the blocks have been read to their end, and they can be read only once")
            return self

        def __next__(self):
            nonlocal ended
            ended = True  # unless there is one more
            block = next(blocks)
            ended = False
            return block

    return Blocks()


def pairs(case):
    """The blocks of one case."""
    return list(zip(*(case[name].split(case["block_sizes"], dim=1) for name in ("key", "value")), strict=True))


class Nowhere(io.TextIOBase):
    """Where an answer prints while it is watched: what a notebook keeps of it would count."""

    def write(self, text):
        return len(text)


def block_by_block(answer, case):
    """The output; where the case says so it is watched what the answer holds.

    Raises:
        RuntimeError: It grew with the number of blocks.
    """
    blocks = pairs(case)
    if not case.driver.get("watched"):
        with contextlib.closing(lent(blocks, lambda: None)) as reading:
            return answer(case["query"], read_once(reading))
    held = Held(blocks)
    with contextlib.closing(lent(blocks, held.look)) as reading, contextlib.redirect_stdout(Nowhere()), held:
        output = answer(case["query"], read_once(reading))
    if held.seen > 2 and held.grows():
        raise RuntimeError("what you hold at the same time grows with the number of blocks")
    return output


SHOWN = {"block_by_block": lambda case: {"query": case["query"], "blocks": pairs(case)}}
