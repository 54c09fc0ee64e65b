"""Lesson 00: what 0.6 returns, and whether it is a window on the numbers that it was given."""

import torch


def window(answer, case):
    """The heads, and whether they lie in the memory of ``x``."""
    x = case["x"]
    heads = answer(*case.values())
    shares_memory = torch.is_tensor(heads) and heads.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    return heads, shares_memory
