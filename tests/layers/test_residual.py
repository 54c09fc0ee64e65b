"""The residual connection, by hand."""

import pytest
import torch

from course_utils.layers import LayerNorm, Residual, RMSNorm

ORDERS = pytest.mark.parametrize("pre_norm", [True, False])


def test_residual_by_hand():
    """norm of (1, 3) is (-1, 1); the sublayer adds 1."""
    x = torch.tensor([[[1.0, 3.0]]])

    def plus_one(y):
        return y + 1

    torch.testing.assert_close(Residual(2)(x, plus_one), torch.tensor([[[1.0, 5.0]]]), atol=1e-4, rtol=0)
    post = Residual(2, pre_norm=False)(x, plus_one)  # 1 + 2, 3 + 4: mean 5, deviation 2
    torch.testing.assert_close(post, torch.tensor([[[-1.0, 1.0]]]), atol=1e-4, rtol=0)


@ORDERS
def test_residual_drops_what_the_sublayer_adds_and_only_in_training(pre_norm):
    torch.manual_seed(0)
    residual, x = Residual(400, dropout=0.5, pre_norm=pre_norm), torch.randn(1, 1, 400)
    outputs = residual(x, lambda y: torch.full_like(y, 3.0))
    if pre_norm:  # kept ones are doubled
        changes = (outputs - x).round().unique(return_counts=True)
        assert changes[0].tolist() == [0, 6] and 150 < changes[1][0] < 250
    else:
        assert not torch.equal(outputs, residual(x, lambda y: torch.full_like(y, 3.0)))
    residual.eval()
    expected = x + 3 if pre_norm else residual.norm(x + 3)
    torch.testing.assert_close(residual(x, lambda y: torch.full_like(y, 3.0)), expected)


def test_residual_takes_another_norm():
    assert isinstance(Residual(4).norm, LayerNorm)
    assert isinstance(Residual(4, norm=RMSNorm).norm, RMSNorm)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: Residual(4, dropout=1.0), ValueError, ["dropout (1.0)"]),
        (lambda: Residual(0), ValueError, ["d_model (0)"]),
        (lambda: Residual(24)(torch.ones(2, 5, 24), lambda y: y[0]), ValueError, ["(2, 5, 24)", "(5, 24)", "sublayer"]),
    ],
)
@pytest.mark.usefixtures("as_a_user")
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)
