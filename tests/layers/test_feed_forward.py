"""Feed-forward networks against numbers worked by hand and Hugging Face's Llama."""

import pytest
import torch

from course_utils.layers import FeedForward, SwiGLU

B, L, D_MODEL, D_FF = 2, 5, 6, 16


def randn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


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
    ours.load_state_dict(theirs.state_dict())
    x = randn(B, L, D_MODEL)
    torch.testing.assert_close(ours(x), theirs(x))


@pytest.mark.parametrize("kind", [FeedForward, SwiGLU])
def test_each_position_by_itself(kind):
    torch.manual_seed(0)
    layer, x = kind(D_MODEL, D_FF), randn(B, L, D_MODEL)
    assert layer(x).shape == x.shape
    torch.testing.assert_close(layer(x)[1, 3], layer(x[1, 3]))


def test_dropout_acts_in_between_and_only_in_training():
    torch.manual_seed(0)
    layer, x = FeedForward(D_MODEL, 1000, dropout=0.5), randn(B, L, D_MODEL)
    with torch.no_grad():
        layer.up_proj.bias.fill_(100.0)  # nothing is negative, so ReLU lets all through
        layer.down_proj.weight.fill_(1.0)
    assert not torch.equal(layer(x), layer(x))
    torch.testing.assert_close(layer(x).mean(), layer.eval()(x).mean(), atol=0, rtol=0.05)
    assert torch.equal(layer(x), layer(x))


def test_sizes_and_biases():
    def count(layer):
        return sum(parameter.numel() for parameter in layer.parameters())

    assert count(FeedForward(6, 16)) == (6 * 16 + 16) + (16 * 6 + 6)
    assert count(SwiGLU(6, 16)) == 3 * 6 * 16


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: FeedForward(0, 16), ["d_model (0)"]),
        (lambda: FeedForward(6, -1), ["d_ff (-1)"]),
        (lambda: FeedForward(6, 16, dropout=1.0), ["dropout (1.0)"]),
        (lambda: SwiGLU(0, 16), ["d_model (0)"]),
        (lambda: SwiGLU(6, 0), ["d_ff (0)"]),
        (lambda: FeedForward(6, 16)(torch.ones(2, 5)), ["(2, 5)", "d_model=6"]),
        (lambda: SwiGLU(6, 16)(torch.ones(2, 5)), ["(2, 5)", "d_model=6"]),
    ],
)
@pytest.mark.usefixtures("as_a_user")
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the words are checked below
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)
