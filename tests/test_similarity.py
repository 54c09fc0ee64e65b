"""Similarity against numbers worked by hand and against PyTorch."""

import pytest
import torch
import torch.nn.functional as F
from jaxtyping import TypeCheckError

from course_utils.similarity import (
    cosine_similarity,
    dot_product,
    nearest_neighbors,
    normalize,
    similarity_matrix,
)

HAPPY, JOYFUL, SAD = torch.tensor([2.0, 3.0]), torch.tensor([1.0, 4.0]), torch.tensor([-1.0, -2.0])


def randn(*shape, seed=0, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def test_dot_product_by_hand():
    assert dot_product(HAPPY, JOYFUL).item() == 14
    assert dot_product(HAPPY, SAD).item() == -8


def test_dot_product_of_stacks_equals_einsum():
    a, b = randn(2, 5, 7), randn(2, 5, 7, seed=1)
    torch.testing.assert_close(dot_product(a, b), torch.einsum("bld,bld->bl", a, b))


def test_cosine_by_hand():
    assert cosine_similarity(HAPPY, JOYFUL).item() == pytest.approx(14 / (13 * 17) ** 0.5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_cosine_equals_pytorch(dtype):
    a, b = randn(5, 7, dtype=dtype), randn(5, 7, seed=1, dtype=dtype)
    torch.testing.assert_close(cosine_similarity(a, b), F.cosine_similarity(a, b, dim=-1))


def test_cosine_ignores_length_and_dot_product_does_not():
    a, b = randn(7), randn(7, seed=1)
    torch.testing.assert_close(cosine_similarity(3 * a, b), cosine_similarity(a, b))
    torch.testing.assert_close(dot_product(3 * a, b), 3 * dot_product(a, b))


def test_zero_vector_gives_zero_and_finite_gradients():
    a = torch.zeros(2, 3, requires_grad=True)
    cosine = cosine_similarity(a, randn(2, 3))
    assert cosine.tolist() == [0.0, 0.0]
    cosine.sum().backward()
    assert torch.isfinite(a.grad).all()


def test_normalize_gives_length_one_or_zero():
    vectors = randn(4, 3)
    vectors[2] = 0
    torch.testing.assert_close(normalize(vectors).norm(dim=-1), torch.tensor([1.0, 1.0, 0.0, 1.0]))


def test_similarity_matrix_index_by_index():
    queries, keys = randn(2, 5, 3), randn(2, 7, 3, seed=1)
    scores = similarity_matrix(queries, keys)
    assert scores.shape == (2, 5, 7)
    for b, i, j in ((0, 0, 0), (1, 4, 6), (0, 3, 5)):
        assert scores[b, i, j].item() == pytest.approx(dot_product(queries[b, i], keys[b, j]).item(), abs=1e-5)


def test_nearest_neighbors_by_hand():
    keys = torch.tensor([[1.0, 4.0], [-1.0, -2.0], [40.0, 0.0], [0.4, 0.6]])
    similarities, rows = nearest_neighbors(HAPPY, keys, 3)
    assert rows.tolist() == [3, 0, 2]
    assert similarities[0].item() == pytest.approx(1.0)


def test_nearest_neighbors_puts_the_smaller_index_first_among_equals():
    keys = torch.tensor([[0.0, 1.0], [2.0, 0.0], [1.0, 0.0], [3.0, 0.0]])
    assert nearest_neighbors(torch.tensor([1.0, 0.0]), keys, 3)[1].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dot_product(HAPPY, torch.ones(3)), ["(2,)", "(3,)", "similarity_matrix"]),
        (lambda: cosine_similarity(torch.ones(2, 3), torch.ones(4, 3)), ["(2, 3)", "(4, 3)"]),
        (lambda: similarity_matrix(HAPPY, JOYFUL), ["at least two dimensions", "vector[None]"]),
        (lambda: similarity_matrix(torch.ones(5, 3), torch.ones(7, 4)), ["d=3", "d=4"]),
        (lambda: similarity_matrix(torch.ones(2, 5, 3), torch.ones(4, 7, 3)), ["(2,)", "(4,)"]),
        (lambda: nearest_neighbors(HAPPY, torch.ones(4, 2), 5), ["k (5)", "4"]),
        (lambda: nearest_neighbors(HAPPY, torch.ones(4, 2), 0), ["k (0)"]),
        (lambda: nearest_neighbors(HAPPY, torch.ones(4, 3), 1), ["d=2", "d=3"]),
    ],
)
@pytest.mark.usefixtures("as_a_user")
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the words are checked below
        call()
    assert all(word in str(caught.value) for word in words)


def test_signatures_are_enforced_in_the_tests():
    with pytest.raises(TypeCheckError):
        similarity_matrix(torch.ones(5, 3), torch.ones(7, 4))
