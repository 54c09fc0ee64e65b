"""Lesson 06: how 6.1 is called, and 7.3."""

import torch


def turned(answer, case):
    """As it is called, but the first argument comes from a transpose where the case says ``turned``: not contiguous in memory."""
    return answer(*with_turned_x(case).values())


def with_turned_x(case):
    """The arguments."""
    name, x = next(iter(case.items()))
    return {**case, name: x.transpose(1, 2).contiguous().transpose(1, 2) if case.driver.get("turned") else x}


def three(answer, case):
    """As ``turned``; the three results may also come as one tensor, which ``q, k, v = ...`` takes apart along its first axis."""
    parts = turned(answer, case)
    return tuple(parts) if isinstance(parts, torch.Tensor) and parts.dim() == 5 else parts


SHOWN = {"turned": with_turned_x, "three": with_turned_x}
