"""The reference that other exercises are made of, against PyTorch; and its faults against one another."""

import itertools

import pytest
import torch
import torch.nn.functional as F

from course_utils.checks.judges.kit.attention import ATTENTION_FAULTS, attend

RNG = torch.Generator().manual_seed(0)
QUERY, KEY, VALUE = (torch.randn(2, 13, *shape, generator=RNG) for shape in ((5, 11), (7, 11), (7, 6)))


def test_it_is_pytorchs():
    output, weights = attend(QUERY, KEY, VALUE)
    torch.testing.assert_close(output, F.scaled_dot_product_attention(QUERY, KEY, VALUE))
    torch.testing.assert_close(weights @ VALUE, output)


def outcome(fault, *inputs):
    try:
        return attend(*inputs, **fault.parts)
    except (RuntimeError, IndexError):
        return None


@pytest.mark.parametrize("fault", ATTENTION_FAULTS, ids=lambda fault: fault.name)
def test_every_fault_does_something(fault):
    large = (40 * QUERY - 60, KEY + 60, VALUE)
    results = [outcome(fault, *inputs) for inputs in ((QUERY, KEY, VALUE), (QUERY[0], KEY[0], VALUE[0]), large)]
    right = [attend(*inputs) for inputs in ((QUERY, KEY, VALUE), (QUERY[0], KEY[0], VALUE[0]), large)]
    assert any(
        found is None
        or not all(a.shape == b.shape and torch.allclose(a, b, atol=1e-5) for a, b in zip(found, want, strict=True))
        for found, want in zip(results, right, strict=True)
    )


def test_no_two_faults_of_one_part_are_the_same():
    far = 900.0 * (torch.arange(5.0)[:, None] - 2) * KEY.shape[-1] ** -0.5  # rows far apart: one shift is not enough
    several, single = (QUERY + far, KEY + 1, VALUE), (QUERY[0] + far, KEY[0] + 1, VALUE[0])
    for one, other in itertools.combinations(ATTENTION_FAULTS, 2):
        if one.parts.keys() == other.parts.keys():
            assert not all(same(outcome(one, *i), outcome(other, *i)) for i in (several, single)), (
                one.name,
                other.name,
            )


def same(a, b):
    if a is None or b is None:  # two errors tell themselves apart by their messages
        return False
    return all(
        x.shape == y.shape and torch.allclose(x, y, atol=1e-5, equal_nan=True) for x, y in zip(a, b, strict=True)
    )
