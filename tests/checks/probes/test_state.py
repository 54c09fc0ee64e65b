"""What an answer does to its surroundings is undone before it is judged."""

import builtins
import sys

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode

from course_utils import attention
from course_utils.checks.engine import run
from course_utils.checks.judges import compare
from course_utils.checks.judges.find import find


def assigning(owner, name, value):
    def answer(queries, keys):
        setattr(owner, name, value)
        return torch.zeros(queries.shape[0], queries.shape[1], keys.shape[1])

    return answer


NAMES = [
    (builtins, "len", lambda value: 1),
    (builtins, "zip", lambda *values, **options: []),
    (builtins, "enumerate", lambda values: []),
    (builtins, "isinstance", lambda *values: True),
    (builtins, "next", lambda *values: None),
    (builtins, "dict", list),
    (torch, "isclose", lambda *values, **options: torch.ones(1, dtype=torch.bool)),
    (torch, "Tensor", object),
    (torch, "get_default_dtype", lambda: 1),
    (torch.Tensor, "double", lambda value: torch.zeros(1)),
    (torch.Tensor, "detach", lambda value: 1),
    (torch.Tensor, "__invert__", lambda value: torch.zeros(1, dtype=torch.bool)),
    (torch.nn.functional, "softmax", torch.relu),
    (compare, "difference", lambda *values: None),
    (attention, "masked_softmax", lambda *values: 0),
]


@pytest.mark.parametrize(("owner", "name", "value"), NAMES, ids=[name for _, name, _ in NAMES])
def test_a_name_that_the_answer_took_over(owner, name, value):
    before, own = getattr(owner, name), set(vars(owner))
    assert not run(find("1.3"), assigning(owner, name, value)).passed
    assert getattr(owner, name) is before and set(vars(owner)) == own


class Mode(TorchFunctionMode):
    def __torch_function__(self, function, types, arguments=(), options=None):
        return torch.ones(())


def modes():
    return torch._C._len_torch_function_stack()


def leave_a_mode(scores):
    Mode().__enter__()
    return 0


def take_a_mode(scores):
    torch._C._pop_torch_function_stack()
    return 0


def take_the_device(scores):
    torch.set_default_device("meta")
    return 0


@pytest.mark.parametrize("answer", [leave_a_mode, take_a_mode, take_the_device])
def test_function_modes(answer):
    assert not run(find("2.1"), answer).passed  # something is off limits in 2.1, which takes a mode of its own
    assert modes() == 0 and torch.empty(0).device == torch.device("cpu")
    assert torch.softmax(torch.ones(2), 0).tolist() == [0.5, 0.5]


def test_a_default_device_of_the_notebook_stays():
    torch.set_default_device("meta")
    try:
        assert not run(find("2.1"), leave_a_mode).passed
        assert torch.ones(1).device.type == "meta"
    finally:
        torch.set_default_device(None)
    assert modes() == 0


def test_settings():
    def answer(a, b):
        sys.setrecursionlimit(500)
        np.seterr(all="raise")
        torch.use_deterministic_algorithms(True)
        torch.set_grad_enabled(False)
        return (a * b).sum()

    before = sys.getrecursionlimit(), np.geterr()
    assert run(find("1.1"), answer).passed
    assert (sys.getrecursionlimit(), np.geterr()) == before
    assert torch.is_grad_enabled() and not torch.are_deterministic_algorithms_enabled()
