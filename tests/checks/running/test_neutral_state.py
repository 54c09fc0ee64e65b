"""What an answer does to its surroundings is undone before anything is decided."""

import builtins
import sys
import warnings

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode
from toy_exercises import verdict

from course_checks.deciding import compare
from course_checks.running.neutral_state import neutral_state
from course_utils import attention

CASES = [{"x": torch.ones(2)}, {"x": torch.arange(3.0)}]


def passes(answer, **fields):
    return verdict(lambda x: 2 * x, answer, *CASES, **fields).passed


def assigning(owner, name, value):
    def answer(x):
        setattr(owner, name, value)
        return torch.zeros(x.shape)

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
    assert not passes(assigning(owner, name, value))
    assert getattr(owner, name) is before and set(vars(owner)) == own


class Mode(TorchFunctionMode):
    def __torch_function__(self, function, types, arguments=(), options=None):
        return torch.ones(())


SOFTMAX = ("torch.softmax",)  # what is off limits is watched by a mode
WAYS = (lambda: Mode().__enter__(), torch._C._pop_torch_function_stack, lambda: torch.set_default_device("meta"))


@pytest.mark.parametrize("way", WAYS, ids=["a mode is left", "a mode is taken", "the device is taken"])
def test_function_modes(way):
    assert not passes(lambda x: way() and 0, off_limits=SOFTMAX)
    assert torch._C._len_torch_function_stack() == 0 and torch.empty(0).device == torch.device("cpu")
    assert torch.softmax(torch.ones(2), 0).tolist() == [0.5, 0.5]


def test_a_default_device_of_the_notebook_stays():
    torch.set_default_device("meta")
    try:
        assert not passes(lambda x: Mode().__enter__() and 0, off_limits=SOFTMAX)
        assert torch.ones(1).device.type == "meta"
    finally:
        torch.set_default_device(None)
    assert torch._C._len_torch_function_stack() == 0


def test_settings():
    def answer(x):
        sys.setrecursionlimit(500)
        np.seterr(all="raise")
        torch.use_deterministic_algorithms(True)
        torch.set_grad_enabled(False)
        return 2 * x

    before = sys.getrecursionlimit(), np.geterr()
    assert passes(answer)
    assert (sys.getrecursionlimit(), np.geterr()) == before
    assert torch.is_grad_enabled() and not torch.are_deterministic_algorithms_enabled()


def test_two_runs_draw_the_same_numbers_and_leave_the_notebooks_alone():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    with neutral_state():
        first = torch.rand(3)
    with neutral_state():
        assert torch.equal(torch.rand(3), first)
    assert torch.equal(torch.rand(1), expected)


def test_a_transposed_batch_warns_nobody_of_a_file_of_this_package():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with neutral_state():
            warnings.warn("The use of `x.T` on tensors of dimension other than 2 is deprecated", stacklevel=1)
            warnings.warn("something else", stacklevel=1)
        warnings.warn("The use of `x.T` on tensors outside of an answer", stacklevel=1)
    assert [str(warning.message).split()[0] for warning in seen] == ["something", "The"]
