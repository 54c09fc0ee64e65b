"""Random numbers that are the same on every run."""

import random

import torch


def seed_everything(seed: int) -> None:
    """Make what follows the same on every run: Python's and PyTorch's random numbers start from ``seed``."""
    random.seed(seed)
    torch.manual_seed(seed)
