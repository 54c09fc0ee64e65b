"""What is off limits raises however it was come by, and works again afterwards."""

import pytest
import torch
import torch.nn.functional as F
from torch.nn.functional import softmax as imported_softmax

from course_utils import attention, layers
from course_utils.attention import AdditiveAttention, masked_softmax
from course_utils.checks.off_limits import MATRIX_PRODUCTS, OffLimits, off_limits, resolve

X = torch.ones(2, 3)
SOFTMAX = ("torch.softmax", "torch.Tensor.softmax", "torch.nn.functional.softmax")


class Subclass(AdditiveAttention):
    pass


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.softmax(X, -1),
        lambda: X.softmax(-1),
        lambda: F.softmax(X, -1),
        lambda: imported_softmax(X, -1),
        lambda: torch.nn.Softmax(-1)(X),
        lambda: getattr(torch, "soft" + "max")(X, -1),
    ],
)
def test_torch_callables(call):
    with off_limits(SOFTMAX, call), pytest.raises(OffLimits):
        call()
    call()


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("course_utils.attention.masked_softmax", lambda: masked_softmax(X)),
        ("course_utils.attention.masked_softmax", lambda: attention.masked_softmax(X)),
        ("course_utils.attention.AdditiveAttention", lambda: AdditiveAttention(2, 3, 4)),
        ("course_utils.attention.AdditiveAttention", lambda: Subclass(2, 3, 4)),
        ("course_utils.layers.rms_norm", lambda: layers.rms_norm(X, torch.ones(3), 1e-6)),
        ("course_utils.layers.rms_norm", lambda: layers.norms.rms_norm(X, torch.ones(3), 1e-6)),
    ],
)
def test_the_courses_own(name, call):
    with off_limits((name,), call), pytest.raises(OffLimits, match=name):
        call()
    call()


def test_torch_functions_written_in_python():
    from torch.nn.utils.rnn import pad_sequence

    with off_limits(("torch.nn.utils.rnn.pad_sequence",), None), pytest.raises(OffLimits, match="utils.rnn"):
        torch.nn.utils.rnn.pad_sequence([X, X])
    assert pad_sequence([X, X]).shape == (2, 2, 3)


def test_everything_else_works():
    with off_limits((*SOFTMAX, "course_utils.attention.masked_softmax"), lambda: None):
        assert torch.exp(X).sum() > 0 and torch.log_softmax(X, -1).shape == (2, 3)


def test_restored_after_an_error():
    with pytest.raises(ZeroDivisionError), off_limits(("course_utils.attention.masked_softmax",), test_torch_callables):
        raise ZeroDivisionError
    assert masked_softmax(X).shape == (2, 3)


def test_a_misspelled_name_is_an_error():
    with pytest.raises(ValueError, match=r"torch\.sofmax"):
        resolve("torch.sofmax")


@pytest.mark.parametrize(
    "call",
    [
        lambda: X @ X.T,
        lambda: X.T.__rmatmul__(X),
        lambda: X.mm(X.T),
        lambda: torch.linalg.matmul(X, X.T),
        lambda: F.linear(X, X),
    ],
)
def test_matrix_products(call):
    with off_limits(MATRIX_PRODUCTS, call), pytest.raises(OffLimits):
        call()


def test_the_operator_is_named_as_it_is_written():
    with off_limits(MATRIX_PRODUCTS, None), pytest.raises(OffLimits, match="also written @"):
        X @ X.T
