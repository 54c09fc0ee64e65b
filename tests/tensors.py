"""Random tensors that are the same on every run, for the tests of the library."""

import torch


def randn(*shape, seed=0, dtype=torch.float32):
    """Normal random numbers."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)
