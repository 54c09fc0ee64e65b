import pytest
import torch

from course_utils.diagrams import three_roles

X = torch.tensor([[0.0, 1.0], [1.0, 2.0]])


def test_a_token_in_its_three_roles():
    ax = three_roles(
        X, torch.eye(2), torch.tensor([[0.0, 1], [1, 0]]), torch.tensor([[3.0], [1.0]]), tokens=["a", "b"], follow=1
    )
    assert "“b” asks with (1, 2), is found by (2, 1) and hands over 5" in [text.get_text() for text in ax.texts]


def test_a_matrix_that_does_not_fit(as_a_user):
    with pytest.raises(ValueError, match="the matrix of the key"):
        three_roles(X, torch.eye(2), torch.ones(3, 2), torch.eye(2))
