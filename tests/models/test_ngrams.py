"""The counted language model: by hand, and that it is one."""

import math

import pytest
import torch

from course_utils.models.ngrams import NGrams


def test_by_hand():
    """In "abab" 2 symbols come 4 times, a twice: p(a) = (2 + 2/2) / (4 + 2). After b: a once, one kind."""
    model = NGrams("abab", 2, num_symbols=2)
    assert model.probability("", "a") == pytest.approx(3 / 6)
    assert model.probability("b", "a") == pytest.approx((1 + 0.5) / 2)
    assert model.probability("ab", "b") == pytest.approx(0.5 / 2)  # only the last character matters
    assert NGrams("abab", 0, num_symbols=4).probability("b", "a") == 0.25


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_probabilities_sum_to_one(order):
    text = "the cat sat on the mat, that is that"
    alphabet = sorted(set(text) | set("xyz"))
    model = NGrams(text, order, num_symbols=len(alphabet))
    for before in ("", "t", "th", "the ca", "zz", "cat s"):
        assert sum(model.probability(before, symbol) for symbol in alphabet) == pytest.approx(1.0)


def test_bits_of_a_text():
    model = NGrams("abab", 2, num_symbols=2)
    torch.testing.assert_close(model.bits("aba"), torch.tensor([-math.log2(2.5 / 3), -math.log2(0.75)]))


def test_a_lower_order_is_the_model_of_that_order():
    text = "the cat sat on the mat, that is that"
    many = NGrams(text, 5, 30)
    for order in range(5):
        torch.testing.assert_close(many.bits("that cat", order), NGrams(text, order, 30).bits("that cat"))


def test_sizes_are_named():
    with pytest.raises(ValueError, match="order \\(3\\) must be from 0 to 2"):
        NGrams("abc", 2, 4).probability("a", "b", 3)
    with pytest.raises(ValueError, match="order \\(-1\\)"):
        NGrams("abc", -1, 4)
