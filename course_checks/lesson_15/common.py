"""Lesson 15: layouts of tokens on ranks, and what all its exercises put off limits."""

import torch

MODULES = "course_utils.distributed."
LAYOUTS = tuple(f"{MODULES}layouts.{name}" for name in ("Layout", "layout", "zigzag_order", "inverse_order", "tiles"))
RINGS = (
    *(f"{MODULES}ring_attention.{name}" for name in ("Ring", "ring_attention", "ring_bytes")),
    *(f"{MODULES}gathered_attention.{name}" for name in ("gathered_attention", "gathered_bytes", "mask_of_rank")),
    *(
        f"{MODULES}simulation.{name}"
        for name in ("simulate_ring", "run_in_lockstep", "work_table", "visible_table", "pair_table")
    ),
)


def whole_numbers(value):
    """A tensor of whole numbers as int64, whatever it holds them in; anything else as it is."""
    whole = isinstance(value, torch.Tensor) and not value.is_floating_point() and value.dtype != torch.bool
    return value.long() if whole else value


def in_whole_numbers(case, returned):
    """What was returned, each part of it by ``whole_numbers``."""
    return type(returned)(map(whole_numbers, returned)) if isinstance(returned, (list, tuple)) else returned


def in_a_row(length, ranks):
    """Positions of each rank's tokens, (P, L / P), the first of them on rank 0."""
    return torch.arange(length).view(ranks, -1)


def from_both_ends(length, ranks):
    """The same in zigzag."""
    chunks = torch.arange(length).view(2 * ranks, -1)
    return torch.cat((chunks[:ranks], chunks[ranks:].flip(0)), dim=1)


def shuffled(length, ranks, rng):
    """The same without any order."""
    return torch.randperm(length, generator=rng).view(ranks, -1)
