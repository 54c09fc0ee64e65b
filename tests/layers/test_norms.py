"""Both forms of each norm against PyTorch's own and against numbers worked by hand."""

import pytest
import torch
from torch import nn

from course_utils.layers import LayerNorm, RMSNorm, layer_norm, rms_norm

B, L, D_MODEL = 2, 5, 12
TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-6, torch.bfloat16: 2e-2, torch.float16: 2e-3}


def randn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def with_weights(module):
    """Random parameters: ones and zeros would hide that one is left out."""
    with torch.no_grad():
        for seed, parameter in enumerate(module.parameters(), start=1):
            parameter.copy_(randn(*parameter.shape, seed=seed))
    return module


def pairs():
    """The module, PyTorch's, and the explicit form as a function of the module and x."""
    return {
        "layer": (
            with_weights(LayerNorm(D_MODEL)),
            nn.LayerNorm(D_MODEL),
            lambda m, x: layer_norm(x, m.weight, m.bias, m.eps),
        ),
        "rms": (
            with_weights(RMSNorm(D_MODEL)),
            nn.RMSNorm(D_MODEL, eps=1e-6),
            lambda m, x: rms_norm(x, m.weight, m.eps),
        ),
    }


def test_layer_norm_by_hand():
    """Mean 4; variance (9 + 1 + 1 + 9) / 4 = 5, divided by 4 and not by 3."""
    x, one, zero = torch.tensor([1.0, 3.0, 5.0, 7.0]), torch.ones(4), torch.zeros(4)
    expected = torch.tensor([-3.0, -1.0, 1.0, 3.0]) / 5**0.5
    torch.testing.assert_close(layer_norm(x, one, zero, eps=0.0), expected)
    torch.testing.assert_close(
        layer_norm(x, one, zero, eps=4.0), torch.tensor([-3.0, -1.0, 1.0, 3.0]) / 3
    )  # in the root
    scaled = layer_norm(x, torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([0.0, 0.0, 1.0, 0.0]), eps=4.0)
    torch.testing.assert_close(scaled, torch.tensor([-1.0, -2 / 3, 2.0, 4.0]))


def test_rms_norm_by_hand():
    """Mean square (1 + 9 + 25 + 49) / 4 = 21; the mean stays."""
    x = torch.tensor([1.0, 3.0, 5.0, 7.0])
    torch.testing.assert_close(rms_norm(x, torch.ones(4), eps=0.0), x / 21**0.5)
    torch.testing.assert_close(
        rms_norm(x, torch.tensor([1.0, 2.0, 0.0, 1.0]), eps=4.0), x * torch.tensor([1, 2, 0, 1]) / 5
    )


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("size", [1e-3, 1.0, 300.0])  # eps matters; usual; a square beyond half precision
@pytest.mark.parametrize("kind", pairs())
def test_both_forms_equal_pytorchs(kind, size, dtype):
    ours, theirs, explicit = pairs()[kind]
    theirs.load_state_dict(ours.state_dict())
    ours, theirs = ours.to(dtype), theirs.to(dtype)
    x = (randn(B, L, D_MODEL) * size + size / 2).to(dtype)
    wide = torch.promote_types(dtype, torch.float32)  # PyTorch 2.5 has an RMSNorm that squares float16 as it is
    expected = theirs.to(wide)(x.to(wide)).to(dtype)
    for got in (ours(x), explicit(ours, x)):
        assert got.dtype == dtype
        torch.testing.assert_close(got, expected, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("kind", pairs())
def test_gradients_equal_pytorchs(kind):
    ours, theirs, explicit = pairs()[kind]
    theirs.load_state_dict(ours.state_dict())
    found = []
    for function, module in ((nn.Module.__call__, ours), (explicit, ours), (nn.Module.__call__, theirs)):
        x = randn(B, L, D_MODEL).requires_grad_()
        module.zero_grad()
        function(module, x).pow(3).sum().backward()
        found.append([x.grad, *(parameter.grad.clone() for parameter in module.parameters())])
    for got in found[:2]:
        for mine, wanted in zip(got, found[2], strict=True):
            torch.testing.assert_close(mine, wanted, atol=1e-4, rtol=1e-4)


def test_a_vector_of_equal_numbers_has_no_variance_and_no_nan():
    x = torch.full((1, D_MODEL), 3.0).requires_grad_()
    output = LayerNorm(D_MODEL)(x)
    assert (output == 0).all()
    output.sum().backward()
    assert torch.isfinite(x.grad).all()
    assert (RMSNorm(D_MODEL)(torch.zeros(1, D_MODEL)) == 0).all()


def test_each_vector_by_itself():
    layer, x = LayerNorm(D_MODEL), randn(B, L, D_MODEL)
    torch.testing.assert_close(layer(x)[1, 3], layer(x[1, 3]))


def test_defaults_are_pytorchs():
    assert LayerNorm(4).eps == nn.LayerNorm(4).eps
    assert {name: tuple(p.shape) for name, p in LayerNorm(4).named_parameters()} == {"weight": (4,), "bias": (4,)}
    assert {name: tuple(p.shape) for name, p in RMSNorm(4).named_parameters()} == {"weight": (4,)}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: LayerNorm(0), ["d_model (0)"]),
        (lambda: LayerNorm(4, eps=0.0), ["eps (0.0)"]),
        (lambda: RMSNorm(-1), ["d_model (-1)"]),
        (lambda: RMSNorm(4, eps=-1.0), ["eps (-1.0)"]),
        (lambda: LayerNorm(4)(torch.ones(2, 5)), ["(2, 5)", "d_model=4"]),
        (lambda: RMSNorm(4)(torch.ones(2, 1)), ["(2, 1)", "d_model=4"]),
    ],
)
@pytest.mark.usefixtures("as_a_user")
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the words are checked below
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize("shape", [(2, 3, 5), (4, 5), (5,)])
def test_the_gradient_worked_out_by_hand_is_the_numerical_one_and_so_is_the_second(shape):
    torch.manual_seed(0)
    norm = RMSNorm(5, eps=1e-3).double()
    torch.nn.init.normal_(norm.weight)
    x = torch.randn(*shape, dtype=torch.float64, requires_grad=True)

    def call(x, weight):
        return torch.func.functional_call(norm, {"weight": weight}, (x,))

    arguments = (x, norm.weight.detach().requires_grad_())
    assert torch.autograd.gradcheck(call, arguments) and torch.autograd.gradgradcheck(call, arguments)


def test_with_and_without_gradients_rms_norm_says_the_same():
    x = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))
    norm = RMSNorm(5)
    with torch.no_grad():
        alone = norm(x)
    torch.testing.assert_close(norm(x).detach(), alone)
    torch.testing.assert_close(torch.func.vmap(norm)(x), alone)
