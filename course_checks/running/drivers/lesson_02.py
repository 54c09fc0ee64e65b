"""Lesson 02: what 2.5 may not make on its way."""

import torch
from torch.utils._pytree import tree_leaves

from ..dispatch import DispatchWatch


class Largest(DispatchWatch):
    """Notes how many numbers the largest tensor has that is made meanwhile; views are not made."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        self.numbers = max([self.numbers, *(leaf.untyped_storage().nbytes() // leaf.itemsize for leaf in made)])
        return result


def no_vector_for_every_pair(answer, case):
    """Output and weights; where the case says so it is watched how large the tensors are that the answer makes.

    Raises:
        RuntimeError: One of them has more than twice as many numbers as there are weights.
    """
    if not case.driver.get("watched"):
        return answer(*case.values())
    with Largest() as largest:
        returned = answer(*case.values())
    (batch, L_q, _), L_k = case["query"].shape, case["key"].shape[1]
    if largest.numbers > 2 * batch * L_q * L_k:
        raise RuntimeError("a tensor with more than twice as many numbers as there are weights was made")
    return returned
