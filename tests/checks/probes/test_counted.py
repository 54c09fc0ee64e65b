import pytest
import torch

from course_utils.checks.probes.counted import call_counted

CALL = call_counted(10, "it loops")


def once(x):
    return x * 2


def each(x):
    return torch.stack([row * 2 for row in x])


def test_what_is_one_operation_is_called_whatever_the_size():
    x = torch.ones(1000, 3)
    assert torch.equal(CALL(once, {"x": x}), 2 * x)


def test_a_loop_is_stopped_where_it_takes_more_operations_than_allowed():
    assert torch.equal(CALL(each, {"x": torch.ones(3, 2)}), 2 * torch.ones(3, 2))
    with pytest.raises(RuntimeError, match="^it loops$"):
        CALL(each, {"x": torch.ones(30, 2)})


def test_a_case_may_have_a_number_and_a_sentence_of_its_own():
    x = torch.ones(30, 2)
    assert torch.equal(CALL(each, {"x": x, "_most": 100}), 2 * x)
    with pytest.raises(RuntimeError, match="^too much$"):
        CALL(once, {"x": x, "_most": 0, "_said": "too much"})


def test_nothing_is_counted_afterwards():
    with pytest.raises(RuntimeError):
        CALL(each, {"x": torch.ones(30, 2)})
    assert each(torch.ones(30, 2)).shape == (30, 2)
