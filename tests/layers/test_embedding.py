"""The input embedding: looked up, multiplied, moved by its position."""

import pytest
import torch

from course_utils.layers import InputEmbedding
from course_utils.positions import LearnedPositions, SinusoidalPositions

TOKENS = torch.tensor([[5, 3, 8, 8, 2], [1, 2, 3, 4, 10]])
VOCAB, D_MODEL = 11, 12


@pytest.mark.parametrize("positions", [None, SinusoidalPositions(D_MODEL, 9), LearnedPositions(D_MODEL, 9)])
@pytest.mark.parametrize("start", [0, 4])
def test_row_times_root_plus_position(positions, start):
    layer = InputEmbedding(VOCAB, D_MODEL, positions=positions)
    x = layer(TOKENS, start)
    assert x.shape == (2, 5, D_MODEL)
    expected = layer.tokens.weight[8] * 12**0.5
    if positions is not None:
        expected = expected + positions.table[start + 2]
    torch.testing.assert_close(x[0, 2], expected)


def test_starting_values_make_embeddings_as_large_as_positions():
    torch.manual_seed(0)
    layer = InputEmbedding(500, 64)
    assert layer.tokens.weight.std().item() == pytest.approx(64**-0.5, rel=0.03)
    assert layer(torch.arange(500)[None]).std().item() == pytest.approx(1.0, rel=0.03)


def test_dropout_only_in_training():
    layer = InputEmbedding(VOCAB, D_MODEL, dropout=0.5)
    assert 0.2 < (layer(TOKENS) == 0).float().mean() < 0.8
    assert (layer.eval()(TOKENS) != 0).all()


LAYER = InputEmbedding(VOCAB, D_MODEL, positions=SinusoidalPositions(D_MODEL, 6))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: InputEmbedding(0, 4), ValueError, ["vocab_size (0)"]),
        (lambda: InputEmbedding(4, 0), ValueError, ["d_model (0)"]),
        (lambda: InputEmbedding(4, 4, dropout=-0.1), ValueError, ["dropout (-0.1)"]),
        (lambda: LAYER(TOKENS[0]), ValueError, ["(5,)", "(B, L)"]),
        (lambda: LAYER(TOKENS[:, :0]), ValueError, ["(2, 0)"]),
        (lambda: LAYER(TOKENS.float()), TypeError, ["float32", "token ids"]),
        (lambda: LAYER(TOKENS.bool()), TypeError, ["bool"]),
        (lambda: LAYER(TOKENS + 1), ValueError, ["ids from 2 to 11", "0 to 10"]),
        (lambda: LAYER(TOKENS - 2), ValueError, ["ids from -1 to 8", "0 to 10"]),
        (lambda: LAYER(TOKENS, 2), ValueError, ["2 to 6", "max_len (6)"]),
    ],
)
@pytest.mark.usefixtures("as_a_user")
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)
