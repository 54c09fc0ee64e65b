"""Embedding, norms, feed-forward networks and the residual connection: by hand, and against PyTorch and Llama."""

import pytest
import torch
from tensors import randn
from torch import nn

from course_utils.layers import FeedForward, InputEmbedding, LayerNorm, Residual, RMSNorm, SwiGLU, layer_norm, rms_norm
from course_utils.positions import LearnedPositions, SinusoidalPositions

B, L, D_MODEL, D_FF, VOCAB = 2, 5, 12, 16, 11
TOKENS = torch.tensor([[5, 3, 8, 8, 2], [1, 2, 3, 4, 10]])
TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-6, torch.bfloat16: 2e-2, torch.float16: 2e-3}


@pytest.mark.parametrize("positions", [None, SinusoidalPositions(D_MODEL, 9), LearnedPositions(D_MODEL, 9)])
@pytest.mark.parametrize("start", [0, 4])
def test_embedding_is_the_row_times_root_plus_position(positions, start):
    layer = InputEmbedding(VOCAB, D_MODEL, positions=positions)
    x = layer(TOKENS, start)
    assert x.shape == (2, 5, D_MODEL)
    expected = layer.tokens.weight[8] * 12**0.5
    if positions is not None:
        expected = expected + positions.table[start + 2]
    torch.testing.assert_close(x[0, 2], expected)


def test_embeddings_start_as_large_as_positions_and_drop_only_in_training():
    torch.manual_seed(0)
    layer = InputEmbedding(500, 64, dropout=0.5)
    everything = torch.arange(500)[None]
    assert 0.4 < (layer(everything) == 0).float().mean() < 0.6
    assert layer.eval()(everything).std().item() == pytest.approx(1.0, rel=0.03)


def with_weights(module):
    """Random parameters: ones and zeros would hide that one is left out."""
    with torch.no_grad():
        for seed, parameter in enumerate(module.parameters(), start=1):
            parameter.copy_(randn(*parameter.shape, seed=seed))
    return module


def norms():
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


def test_norms_by_hand():
    """Mean 4; variance (9 + 1 + 1 + 9) / 4 = 5, divided by 4 and not by 3. Mean square (1 + 9 + 25 + 49) / 4 = 21."""
    x, weight, bias = (
        torch.tensor([1.0, 3.0, 5.0, 7.0]),
        torch.tensor([1.0, 2.0, 3.0, 4.0]),
        torch.tensor([0.0, 0, 1, 0]),
    )
    expected = torch.tensor([-3.0, -1.0, 1.0, 3.0]) / 5**0.5
    torch.testing.assert_close(layer_norm(x, torch.ones(4), torch.zeros(4), eps=0.0), expected)
    scaled = layer_norm(x, weight, bias, eps=4.0)  # eps stands in the root, which is 3
    torch.testing.assert_close(scaled, torch.tensor([-1.0, -2 / 3, 2.0, 4.0]))
    torch.testing.assert_close(rms_norm(x, torch.ones(4), eps=0.0), x / 21**0.5)
    torch.testing.assert_close(rms_norm(x, weight, eps=4.0), x * weight / 5)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("size", [1e-3, 1.0, 300.0])  # eps matters; usual; a square beyond half precision
@pytest.mark.parametrize("kind", norms())
def test_both_forms_of_a_norm_equal_pytorchs(kind, size, dtype):
    ours, theirs, explicit = norms()[kind]
    theirs.load_state_dict(ours.state_dict())
    ours, theirs = ours.to(dtype), theirs.to(dtype)
    x = (randn(B, L, D_MODEL) * size + size / 2).to(dtype)
    wide = torch.promote_types(dtype, torch.float32)  # PyTorch 2.5 has an RMSNorm that squares float16 as it is
    expected = theirs.to(wide)(x.to(wide)).to(dtype)
    with torch.no_grad():
        without_gradients = ours(x)
    for output in (ours(x), without_gradients, explicit(ours, x)):
        assert output.dtype == dtype
        torch.testing.assert_close(output, expected, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("kind", norms())
def test_gradients_of_a_norm_equal_pytorchs(kind):
    ours, theirs, explicit = norms()[kind]
    theirs.load_state_dict(ours.state_dict())
    gradients = []
    for function, module in ((nn.Module.__call__, theirs), (nn.Module.__call__, ours), (explicit, ours)):
        x = randn(B, L, D_MODEL).requires_grad_()
        module.zero_grad()
        function(module, x).pow(3).sum().backward()
        gradients.append([x.grad, *(parameter.grad.clone() for parameter in module.parameters())])
    for mine in gradients[1:]:
        torch.testing.assert_close(mine, gradients[0], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("shape", [(2, 3, 5), (5,)])
def test_the_gradient_worked_out_by_hand_is_the_numerical_one_and_so_is_the_second(shape):
    norm = with_weights(RMSNorm(5, eps=1e-3).double())
    x = randn(*shape, dtype=torch.float64).requires_grad_()

    def call(x, weight):
        return torch.func.functional_call(norm, {"weight": weight}, (x,))

    arguments = (x, norm.weight.detach().requires_grad_())
    assert torch.autograd.gradcheck(call, arguments) and torch.autograd.gradgradcheck(call, arguments)
    torch.testing.assert_close(torch.func.vmap(norm)(x.expand(3, *shape))[1], norm(x))


def test_a_vector_of_equal_numbers_has_no_variance_and_no_nan():
    x = torch.full((1, D_MODEL), 3.0).requires_grad_()
    output = LayerNorm(D_MODEL)(x)
    assert (output == 0).all()
    output.sum().backward()
    assert torch.isfinite(x.grad).all()
    assert (RMSNorm(D_MODEL)(torch.zeros(1, D_MODEL)) == 0).all()


def test_defaults_of_the_norms_are_pytorchs():
    for ours, theirs in ((LayerNorm(4), nn.LayerNorm(4)), (RMSNorm(4, eps=1e-5), nn.RMSNorm(4, eps=1e-5))):
        assert ours.eps == theirs.eps
        torch.testing.assert_close(dict(ours.named_parameters()), dict(theirs.named_parameters()))


def test_feed_forward_by_hand():
    layer = FeedForward(2, 3)
    with torch.no_grad():
        layer.up_proj.weight.copy_(torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 0.0]]))
        layer.up_proj.bias.copy_(torch.tensor([0.0, 0.0, 5.0]))
        layer.down_proj.weight.copy_(torch.tensor([[1.0, 10.0, 0.0], [0.0, 1.0, 2.0]]))
        layer.down_proj.bias.copy_(torch.tensor([0.5, 0.0]))
    # up: (1 + 2, 1 - 2, -1 + 5) = (3, -1, 4); ReLU: (3, 0, 4); down: (3 + 0 + 0.5, 0 + 8)
    torch.testing.assert_close(layer(torch.tensor([[1.0, 2.0]])), torch.tensor([[3.5, 8.0]]))


def test_swiglu_equals_hugging_faces_llama():
    from transformers.models.llama import modeling_llama as llama

    torch.manual_seed(0)
    theirs = llama.LlamaMLP(llama.LlamaConfig(hidden_size=D_MODEL, intermediate_size=D_FF, num_attention_heads=2))
    ours = SwiGLU(D_MODEL, D_FF)
    ours.load_state_dict(theirs.state_dict())  # fails if ours had biases
    torch.testing.assert_close(ours(randn(B, L, D_MODEL)), theirs(randn(B, L, D_MODEL)))


def test_dropout_acts_in_between_and_only_in_training():
    torch.manual_seed(0)
    layer, x = FeedForward(D_MODEL, 1000, dropout=0.5), randn(B, L, D_MODEL)
    with torch.no_grad():
        layer.up_proj.bias.fill_(100.0)  # nothing is negative, so ReLU lets all through
        layer.down_proj.weight.fill_(1.0)
    assert not torch.equal(layer(x), layer(x))
    torch.testing.assert_close(layer(x).mean(), layer.eval()(x).mean(), atol=0, rtol=0.05)
    assert torch.equal(layer(x), layer(x))


def test_residual_by_hand():
    """norm of (1, 3) is (-1, 1); the sublayer adds 1."""
    x = torch.tensor([[[1.0, 3.0]]])

    def plus_one(y):
        return y + 1

    torch.testing.assert_close(Residual(2)(x, plus_one), torch.tensor([[[1.0, 5.0]]]), atol=1e-4, rtol=0)
    post = Residual(2, pre_norm=False)(x, plus_one)  # 1 + 2, 3 + 4: mean 5, deviation 2
    torch.testing.assert_close(post, torch.tensor([[[-1.0, 1.0]]]), atol=1e-4, rtol=0)
    assert isinstance(Residual(4, norm=RMSNorm).norm, RMSNorm)


@pytest.mark.parametrize("pre_norm", [True, False])
def test_residual_drops_what_the_sublayer_adds_and_only_in_training(pre_norm):
    torch.manual_seed(0)
    residual, x = Residual(400, dropout=0.5, pre_norm=pre_norm), torch.randn(1, 1, 400)

    def three(y):
        return torch.full_like(y, 3.0)

    if pre_norm:  # kept ones are doubled
        values, counts = (residual(x, three) - x).round().unique(return_counts=True)
        assert values.tolist() == [0, 6] and 150 < counts[1] < 250
    else:
        assert not torch.equal(residual(x, three), residual(x, three))
    residual.eval()
    torch.testing.assert_close(residual(x, three), x + 3 if pre_norm else residual.norm(x + 3))


EMBEDDING = InputEmbedding(VOCAB, D_MODEL, positions=SinusoidalPositions(D_MODEL, 6))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: InputEmbedding(0, 4), r"vocab_size \(0\)"),
        (lambda: InputEmbedding(4, 0), r"d_model \(0\)"),
        (lambda: InputEmbedding(4, 4, dropout=-0.1), r"dropout \(-0\.1\)"),
        (lambda: EMBEDDING(TOKENS[0]), r"\(5,\); expected \(B, L\)"),
        (lambda: EMBEDDING(TOKENS[:, :0]), r"\(2, 0\)"),
        (lambda: EMBEDDING(TOKENS.float()), "float32.*token ids"),
        (lambda: EMBEDDING(TOKENS.bool()), "bool"),
        (lambda: EMBEDDING(TOKENS + 1), "ids from 2 to 11; this embedding knows 0 to 10"),
        (lambda: EMBEDDING(TOKENS - 2), "ids from -1 to 8; this embedding knows 0 to 10"),
        (lambda: EMBEDDING(TOKENS, 2), r"2 to 6 pass max_len \(6\)"),
        (lambda: LayerNorm(0), r"d_model \(0\)"),
        (lambda: LayerNorm(4, eps=0.0), r"eps \(0\.0\)"),
        (lambda: RMSNorm(-1), r"d_model \(-1\)"),
        (lambda: RMSNorm(4, eps=-1.0), r"eps \(-1\.0\)"),
        (lambda: LayerNorm(4)(torch.ones(2, 5)), r"\(2, 5\); expected \(\.\.\., d_model=4\)"),
        (lambda: RMSNorm(4)(torch.ones(2, 1)), r"\(2, 1\).*d_model=4"),
        (lambda: RMSNorm(1)(torch.tensor(1.0)), r"shape \(\); expected \(\.\.\., d_model=1\)"),
        (lambda: FeedForward(0, 16), r"d_model \(0\)"),
        (lambda: FeedForward(6, -1), r"d_ff \(-1\)"),
        (lambda: FeedForward(6, 16, dropout=1.0), r"dropout \(1\.0\)"),
        (lambda: SwiGLU(0, 16), r"d_model \(0\)"),
        (lambda: SwiGLU(6, 0), r"d_ff \(0\)"),
        (lambda: FeedForward(6, 16)(torch.ones(2, 5)), r"\(2, 5\).*d_model=6"),
        (lambda: SwiGLU(6, 16)(torch.ones(2, 5)), r"\(2, 5\).*d_model=6"),
        (lambda: Residual(4, dropout=1.0), r"dropout \(1\.0\)"),
        (lambda: Residual(24)(torch.ones(2, 5, 24), lambda y: y[0]), r"sublayer.*\(2, 5, 24\) into \(5, 24\)"),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()
