"""Similarity against numbers worked by hand and against PyTorch."""

import pytest
import torch
import torch.nn.functional as F
from jaxtyping import TypeCheckError
from tensors import randn

from course_utils.similarity import cosine_similarity, dot_product, nearest_neighbors, normalize, similarity_matrix

HAPPY, JOYFUL, SAD = torch.tensor([2.0, 3.0]), torch.tensor([1.0, 4.0]), torch.tensor([-1.0, -2.0])


def test_by_hand():
    assert dot_product(HAPPY, JOYFUL).item() == 14
    assert dot_product(HAPPY, SAD).item() == -8
    assert cosine_similarity(HAPPY, JOYFUL).item() == pytest.approx(14 / (13 * 17) ** 0.5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_stacks_equal_pytorchs(dtype):
    a, b = randn(2, 5, 7, dtype=dtype), randn(2, 5, 7, seed=1, dtype=dtype)
    torch.testing.assert_close(dot_product(a, b), torch.einsum("bld,bld->bl", a, b))
    torch.testing.assert_close(cosine_similarity(a, b), F.cosine_similarity(a, b, dim=-1))
    torch.testing.assert_close(similarity_matrix(a, b[:, :3]), torch.einsum("bqd,bkd->bqk", a, b[:, :3]))


def test_zero_vector_gives_zero_and_finite_gradients():
    a = torch.zeros(2, 3, requires_grad=True)
    cosine = cosine_similarity(a, randn(2, 3))
    assert cosine.tolist() == [0.0, 0.0]
    cosine.sum().backward()
    assert torch.isfinite(a.grad).all() and (normalize(a) == 0).all()


def test_nearest_neighbors_by_hand_and_the_smaller_index_first_among_equals():
    keys = torch.tensor([[1.0, 4.0], [-1.0, -2.0], [40.0, 0.0], [0.4, 0.6]])
    similarities, rows = nearest_neighbors(HAPPY, keys, 3)
    assert rows.tolist() == [3, 0, 2]
    assert similarities[0].item() == pytest.approx(1.0)
    keys = torch.tensor([[0.0, 1.0], [2.0, 0.0], [1.0, 0.0], [3.0, 0.0]])
    assert nearest_neighbors(torch.tensor([1.0, 0.0]), keys, 3)[1].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dot_product(HAPPY, torch.ones(3)), r"\(2,\), b has shape \(3,\).*similarity_matrix"),
        (lambda: cosine_similarity(torch.ones(2, 3), torch.ones(4, 3)), r"\(2, 3\).*\(4, 3\)"),
        (lambda: similarity_matrix(HAPPY, JOYFUL), r"at least two dimensions.*vector\[None\]"),
        (lambda: similarity_matrix(torch.ones(5, 3), torch.ones(7, 4)), "d=3, keys have d=4: the dot product"),
        (lambda: similarity_matrix(torch.ones(2, 5, 3), torch.ones(4, 7, 3)), r"dimensions \(2,\), keys \(4,\)"),
        (lambda: nearest_neighbors(HAPPY, torch.ones(4, 2), 5), r"k \(5\).*4"),
        (lambda: nearest_neighbors(HAPPY, torch.ones(4, 2), 0), r"k \(0\)"),
        (lambda: nearest_neighbors(HAPPY, torch.ones(4, 3), 1), "d=2, keys have d=3; they must agree"),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_signatures_are_enforced_in_the_tests():
    with pytest.raises(TypeCheckError):
        similarity_matrix(torch.ones(5, 3), torch.ones(7, 4))
