"""An answer that loops over what should be one operation is stopped."""

import pytest
import torch

from course_checks.running.call import Call, Case
from course_checks.running.counting import Counting, counted

CALL = Call(most_operations=10, too_many="it loops")
LONG = torch.ones(30, 2)


def once(x):
    return x * 2


def each(x):
    return torch.stack([row * 2 for row in x])


def test_what_is_one_operation_is_called_whatever_the_size():
    assert torch.equal(CALL.on(once, Case(x=LONG)), 2 * LONG)


def test_a_loop_is_stopped_where_it_takes_more_operations_than_allowed():
    assert torch.equal(CALL.on(each, Case(x=LONG[:3])), 2 * LONG[:3])
    with pytest.raises(RuntimeError, match="^it loops$"):
        CALL.on(each, Case(x=LONG))


def test_a_case_may_have_a_number_and_a_sentence_of_its_own():
    assert torch.equal(CALL.on(each, Case(x=LONG, driver={"most_operations": 100})), 2 * LONG)
    with pytest.raises(RuntimeError, match="^too much$"):
        CALL.on(once, Case(x=LONG, driver={"most_operations": 0, "too_many": "too much"}))


def test_nothing_is_counted_without_a_number_or_afterwards():
    with pytest.raises(RuntimeError), Counting(3, "it loops"):
        each(LONG)
    assert Call().on(each, Case(x=LONG)).shape == (30, 2)


def test_a_function_that_an_answer_calls_too_often():
    step = counted(lambda x: x + 1, 2, "step")
    assert (step(1), step(x=5)) == (2, 6)
    with pytest.raises(RuntimeError, match="step was called more than 2 times"):
        step(1)
