"""Plain data: any object becomes a tree, any tree crosses a process border unchanged, no method of a student's runs."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from course_checks.running.encode import MAX_NODES_ALONE, decode, encode, pack, type_name, unpack


class Hostile:
    """Lies about everything that it is asked."""

    __class__ = dict

    def __repr__(self):
        raise RuntimeError

    __hash__ = __str__ = __iter__ = __len__ = __bool__ = __float__ = __getattr__ = __repr__


def exits(*arguments, **options):
    raise SystemExit


class LyingFloat(float):
    def __float__(self):
        return 1.0


class ExitingFraction(Fraction):
    __float__ = __truediv__ = exits


class EndlessList(list):
    def __iter__(self):
        while True:
            yield 1


class ExitingInt(np.int64):
    __int__ = __float__ = exits


class ExitingFloat(np.float32):
    __float__ = exits


class RaisingTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError("no")


class Wrapper(torch.Tensor):
    """A tensor without values, whose every operation is the student's."""

    answer = staticmethod(exits)

    @staticmethod
    def __new__(cls):
        return torch.Tensor._make_wrapper_subclass(cls, (2, 1))

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return cls.answer()


class Impostor(Wrapper):
    answer = staticmethod(lambda: torch.ones(3))


PLAIN = (None, True, 3, -(10**30), 0.1, math.inf, "schön\n", [1, [2.5, None]], (1, "a"), {"a": 1, "b": [True]})
HALF, TURNED = torch.ones(3, dtype=torch.bfloat16), torch.arange(12.0).view(4, 3).T
TENSORS = (
    torch.arange(6.0).view(2, 3),
    torch.tensor(2.5).double(),
    torch.ones(2, 0),
    torch.eye(2).bool(),
    HALF,
    TURNED,
)


def carried(value):
    return decode(unpack(*pack(encode(value))))


def same(left, right):
    return left.dtype == right.dtype and torch.equal(left, right)


def test_plain_values_survive_the_round_trip():
    for value in PLAIN:
        assert carried(value) == value and type(carried(value)) is type(value)
    assert math.isnan(carried(math.nan))


def test_a_fraction_comes_as_a_float_whatever_it_holds():
    assert carried(Fraction(3, 8)) == 0.375 and type(carried(Fraction(3, 8))) is float
    for value in (Fraction(10**400), object.__new__(Fraction), ExitingFraction(1, 2)):
        assert encode(value) == {"kind": "other", "type": type(value).__name__}


@pytest.mark.parametrize("value", TENSORS, ids=lambda value: f"{value.dtype}")
def test_tensors_survive_the_round_trip(value):
    assert same(carried(value), value)


def test_arrays_are_told_from_tensors():
    tree = encode(np.ones((2, 3)))
    assert (tree["kind"], tree["shape"], tree["dtype"]) == ("array", [2, 3], "float64")
    assert np.array_equal(carried(np.ones((2, 3))), np.ones((2, 3)))


NOT_PLAIN = (Hostile(), (i for i in ()), len, int, object(), 10**40_000, complex(1, 2), np.array(["a"], dtype=object))


@pytest.mark.parametrize("value", NOT_PLAIN, ids=type_name)
def test_what_has_no_plain_form_is_named_not_called(value):
    tree = encode(value)
    assert tree["kind"] in ("other", "array") and tree.get("value") is None
    pack(tree)


def test_subclasses_run_none_of_their_own_methods():
    assert decode(encode(LyingFloat(2.5))) == 2.5 and decode(encode(EndlessList([1, 2]))) == [1, 2]
    assert encode(ExitingInt(3)) == {"kind": "int", "value": "3"}
    assert encode(ExitingFloat(3)) == {"kind": "float", "value": "3.0"}
    assert same(decode(encode(torch.arange(3.0).as_subclass(RaisingTensor))), torch.arange(3.0))
    assert encode(Wrapper()) == {"kind": "other", "type": "Wrapper"}
    assert type(encode(Impostor())["value"]) is torch.Tensor


def test_nothing_is_shared_with_the_original():
    tensor = torch.zeros(3, requires_grad=True)
    tree = encode(tensor)
    with torch.no_grad():
        tensor += 1
    assert tree["value"].tolist() == [0, 0, 0] and not tree["value"].requires_grad


def test_depth_and_size_are_bounded():
    endless = []
    endless.append(endless)
    pack(encode(endless))
    for tensor in (torch.zeros(1).expand(10**10), torch.zeros(3, device="meta"), torch.zeros(3).to_sparse()):
        assert encode(tensor)["value"] is None
    for value in (list(range(1_001)), tuple(range(10**6)), dict.fromkeys(range(501))):
        assert encode(value) == {"kind": "other", "type": type(value).__name__, "length": len(value)}
    assert len(encode(list(range(15_000)), MAX_NODES_ALONE)["value"]) == 15_000
    lists = encode([[0.5] * 300] * 4 + [1.0] * 99)["value"]  # all of a value together have one limit
    assert [part["kind"] for part in lists[:5]] == ["list", "list", "list", "other", "float"] and len(lists) == 103
    assert encode([torch.ones(1)] * 201)["value"][-1] == {"kind": "other", "type": "Tensor (too deep or too long)"}
    assert len(encode("x" * 10**6)["value"]) == 5_000
    large = torch.zeros(1).expand(3_000_000)  # all tensors together have one limit
    values = [item["value"] for item in encode([large, large, torch.ones(1)])["value"]]
    assert len(values[0]) == 3_000_000 and values[1] is None and values[2].tolist() == [1]


def test_what_arrives_must_fit_together():
    text, data = pack(encode(torch.ones(1)))
    with pytest.raises(ValueError, match="t7"):
        unpack(text.replace("t0", "t7"), data)
    with pytest.raises(ValueError, match="shape"):
        unpack(text.replace("[1]", "[2, 3]"), data)


def test_type_name_is_printable_and_short():
    assert type_name(type("a\nb" * 100, (), {})()) == "ab" * 20
