"""Lesson 04: how 4.2, 4.3 and 4.5 are run and watched."""

import contextlib
import gc
import io
import itertools
import tracemalloc
from array import array
from gc import collect, get_objects  # by names of this module: an answer may assign to those of gc
from tracemalloc import get_traced_memory, is_tracing

import torch
import torch.nn.functional as F

from ..counting import counted


def which_gives_what(answer, case):
    """What the answer says of a layer whose three parts come from where the case says."""
    return answer(counted(_layer(case), 50, "layer"), case["L"], case["d"])


def _layer(case):
    d, rng = case["d"], torch.Generator().manual_seed(case.driver["seed"])
    kinds = [case.driver[name] for name in ("queries", "keys", "values")]
    matrices = [torch.randn(d, size, generator=rng) / d**0.5 for size in (6, 6, 4)]

    def layer(x, memory):
        given = {"x": x, "memory": memory}
        query, key, value = (given[kind] @ W.to(x) for kind, W in zip(kinds, matrices, strict=True))
        return F.scaled_dot_product_attention(query[None], key[None], value[None])[0]

    return layer


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


SHOWN = {
    "block_by_block": lambda case: {"query": case["query"], "blocks": pairs(case)},
    "which_gives_what": lambda case: {"layer": _layer(case), "L": case["L"], "d": case["d"]},
}
