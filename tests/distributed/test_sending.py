"""A function on its way to another process: no process is needed to try it."""

import math
from dataclasses import dataclass
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.attention import masked_softmax
from course_utils.distributed.sending import pack, plain, unpack

FACTOR = 3
SIZES = (2, torch.float64)
weights = torch.ones(3)


def again(function):
    return unpack(*pack(function))


def test_what_a_function_refers_to_goes_with_it():
    offset = 10

    def twice(x):
        return 2 * x

    @dataclass
    class Pair:
        a: int
        b: int = FACTOR

        def total(self):
            return twice(self.a) + self.b

    class Layer(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return F.relu(x) * FACTOR

    def work(x):
        def inner(y):
            return masked_softmax(y) + math.floor(0.5)

        assert SIZES[1] is torch.float64
        return Layer()(x) + inner(x) + Pair(1).total() + offset, len([FACTOR for _ in range(2)])

    x = torch.tensor([1.0, -2.0])
    there = again(work)
    assert there is not work and there.__globals__ is not work.__globals__
    torch.testing.assert_close(there(x), work(x))


def test_decorated_functions_and_methods_refer_to_names_of_their_own():
    offset = 10

    def plus(x):
        return x + offset

    class Layer:
        @torch.no_grad()
        def __call__(self, x):
            return plus(x) * FACTOR

    @torch.no_grad()
    def work(x):
        return Layer()(x) + FACTOR

    y = again(work)(torch.ones(1, requires_grad=True))
    assert y.item() == 36 and not y.requires_grad


def test_a_local_variable_is_not_taken_for_a_global_of_the_same_name():
    def work():
        def inner(weights):
            return weights

        return inner(5)

    assert again(work)() == 5 and weights.sum() == 3


def test_functions_may_call_themselves_and_each_other():
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    assert again(even)(6) and not again(even)(7)


def test_a_traceback_has_the_lines_and_their_numbers():
    def fails(x):
        return x / 0

    with pytest.raises(ZeroDivisionError) as caught:
        again(fails)(1)
    last = caught.traceback[-1]
    assert str(last.path) == "<fails>" and last.lineno + 1 == fails.__code__.co_firstlineno + 1


def test_what_cannot_go_is_named():
    generator = partial(math.pow, 2)

    def uses_weights(rank, P):
        return weights + rank

    def calls(rank, P):
        return uses_weights(rank, P)

    def uses_partial():
        return generator(3)

    with pytest.raises(TypeError, match="uses_weights uses weights, which is a Tensor.*pass it as an argument"):
        pack(calls)
    with pytest.raises(TypeError, match="uses generator, which is a partial"):
        pack(uses_partial)
    with pytest.raises(TypeError, match="is a lambda.*write it with def"):
        pack(lambda rank, P: rank)
    namespace = {}
    exec("def typed(rank, P): return rank", namespace)
    with pytest.raises(TypeError, match="has no text that can be found"):
        pack(namespace["typed"])


def test_plain_values_are_copies_without_a_graph():
    x = torch.ones(2, requires_grad=True)
    value = plain("x", {"a": [x * 2, (1, None)], "b": "text", 3: torch.float32})
    assert not value["a"][0].requires_grad and value["a"][1] == (1, None) and value[3] is torch.float32
    with pytest.raises(TypeError, match="argument 1 holds a Linear; what passes between processes are tensors"):
        plain("argument 1", [nn.Linear(2, 2)])
