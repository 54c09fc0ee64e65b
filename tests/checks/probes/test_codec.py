"""Plain data: any object becomes a tree, any tree crosses a process border unchanged."""

import json
import math

import numpy as np
import pytest
import torch

from course_utils.checks.probes.codec import decode, encode, pack, type_name, unpack


class Hostile:
    """Lies about everything that it is asked."""

    __class__ = dict

    def __eq__(self, other):
        return True

    def __hash__(self):
        raise RuntimeError

    def __repr__(self):
        raise RuntimeError

    __str__ = __iter__ = __len__ = __bool__ = __float__ = __getattr__ = __repr__


class LyingFloat(float):
    def __float__(self):
        return 1.0

    def __eq__(self, other):
        return True

    __hash__ = float.__hash__


class EndlessList(list):
    def __iter__(self):
        while True:
            yield 1


class RaisingTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError("no")


VALUES = [
    None,
    True,
    3,
    -(10**30),
    0.1,
    math.inf,
    "schön\n",
    [1, [2.5, None]],
    (1, "a"),
    {"a": 1, "b": [True]},
    torch.arange(6.0).view(2, 3),
    torch.tensor(2.5, dtype=torch.float64),
    torch.ones(2, 0),
    torch.tensor([[True], [False]]),
    torch.ones(3, dtype=torch.bfloat16),
    torch.arange(12.0).view(4, 3).T,
]


def same(a, b):
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and a.dtype == b.dtype and a.shape == b.shape and torch.equal(a, b)
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_plain_values_survive_the_round_trip(value):
    text, data = pack(encode(value))
    json.loads(text)
    assert same(decode(unpack(text, data)), value)


def test_nan_survives():
    assert math.isnan(decode(unpack(*pack(encode(math.nan)))))


def test_arrays_are_told_from_tensors():
    tree = encode(np.ones((2, 3)))
    assert (tree["kind"], tree["shape"], tree["dtype"]) == ("array", [2, 3], "float64")
    assert np.array_equal(decode(unpack(*pack(tree))), np.ones((2, 3)))


@pytest.mark.parametrize(
    "value",
    [
        Hostile(),
        (i for i in range(3)),
        lambda: 1,
        int,
        object(),
        10**40_000,
        complex(1, 2),
        np.array(["a"], dtype=object),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_plain_form_is_named_not_called(value):
    tree = encode(value)
    assert tree["kind"] in ("other", "array") and tree.get("value") is None
    pack(tree)


def test_subclasses_cannot_lie():
    assert decode(encode(LyingFloat(2.5))) == 2.5
    assert decode(encode(EndlessList([1, 2]))) == [1, 2]
    tensor = torch.arange(3.0).as_subclass(RaisingTensor)
    assert same(decode(encode(tensor)), torch.arange(3.0))


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
    assert encode(torch.zeros(1).expand(10**10))["value"] is None
    assert encode(torch.zeros(3, device="meta"))["value"] is None
    assert encode(torch.zeros(3).to_sparse())["value"] is None
    assert len(json.dumps(encode(list(range(10**6))))) < 3_000_000


def test_a_missing_tensor_is_named():
    with pytest.raises(ValueError, match="t7"):
        unpack('{"kind": "tensor", "value": {"tensor": "t7"}}', pack(encode(torch.ones(1)))[1])


def test_type_name_is_printable_and_short():
    assert type_name(type("a\nb" * 100, (), {})()) == "".join(c for c in ("a\nb" * 100)[:60] if c.isprintable())


def test_a_tensor_of_another_shape_than_said_is_refused():
    text, data = pack(encode(torch.ones(1)))
    with pytest.raises(ValueError, match="shape"):
        unpack(text.replace("[1]", "[2, 3]"), data)


def exits(*arguments, **options):
    raise SystemExit


class ExitingInt(np.int64):
    __int__ = __float__ = exits


class ExitingFloat(np.float32):
    __float__ = exits


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


def test_a_subclass_runs_none_of_its_own_methods():
    assert encode(ExitingInt(3)) == {"kind": "int", "value": "3"}
    assert encode(ExitingFloat(3)) == {"kind": "float", "value": "3.0"}


def test_a_tensor_that_makes_something_else_of_itself():
    assert encode(Wrapper()) == {"kind": "other", "type": "Wrapper"}
    assert type(encode(Impostor())["value"]) is torch.Tensor


def test_all_tensors_together_have_one_limit():
    large = torch.zeros(1).expand(3_000_000)
    values = [item["value"] for item in encode([large, large, torch.ones(1)])["value"]]
    assert len(values[0]) == 3_000_000 and values[1] is None and values[2].tolist() == [1]


def test_a_long_dict_is_cut():
    assert len(encode(dict.fromkeys(range(100_000)))["value"]) == 20_000
