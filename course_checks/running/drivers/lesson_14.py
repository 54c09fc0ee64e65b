"""Lesson 14: what an answer holds at one time, by tensors and by whatever Python and numpy keep."""

import gc
import tracemalloc
import weakref

import torch
from torch.utils._pytree import tree_leaves

from ..dispatch import DispatchWatch


class Held(DispatchWatch):
    """Notes the most bytes that were held at one time of all that was made meanwhile."""

    def __init__(self):
        super().__init__()
        self.tensors = self.now = 0
        self.known = set()

    def __enter__(self):
        gc.collect()
        self.stop = not tracemalloc.is_tracing()
        if self.stop:
            tracemalloc.start()
        tracemalloc.reset_peak()
        self.before = tracemalloc.get_traced_memory()[0]
        return super().__enter__()

    def __exit__(self, *error):
        super().__exit__(*error)
        traced = tracemalloc.is_tracing()
        self.others = tracemalloc.get_traced_memory()[1] - self.before if traced else 0
        if self.stop:
            tracemalloc.stop()
        if not traced and error[0] is None:
            raise RuntimeError("tracemalloc was stopped, by which it is seen what you hold")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                self._note(leaf.untyped_storage())
        return result

    def _note(self, storage):
        """Views share a storage, which is noted once: what is kept for each view would count as held by the answer."""
        place, size = storage.data_ptr(), storage.nbytes()
        if place not in self.known:
            self.known.add(place)
            self.now += size
            self.tensors = max(self.tensors, self.now)
            weakref.finalize(storage, self._gone, place, size)

    def _gone(self, place, size):
        self.known.discard(place)
        self.now -= size

    @property
    def most(self):
        """Bytes."""
        return self.tensors + self.others


def within_memory(answer, case):
    """What the answer gives; where the case says so, it is watched how much the answer holds.

    Raises:
        RuntimeError: More than ``case.driver["most_bytes"]``, also the second time: the first may import something.
    """
    if "most_bytes" not in case.driver:
        return answer(*case.values())
    for _ in range(2):
        with Held() as held:
            result = answer(*case.values())
        if held.most <= case.driver["most_bytes"]:
            return result
    raise RuntimeError("what you hold at one time is as large as a table of all positions by all positions")
