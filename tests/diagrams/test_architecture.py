"""A changed model gives a changed picture."""

import torch
from torch import nn

from course_utils.diagrams import architecture
from course_utils.models import DecoderConfig, DecoderLM, make_transformer
from course_utils.models.recurrent import RecurrentSeq2Seq

SOURCE, TARGET = torch.tensor([[3, 4, 5, 0], [3, 4, 5, 6]]), torch.tensor([[1, 2, 3], [1, 2, 0]])


def model(**changes):
    return DecoderLM(
        DecoderConfig(9, **({"num_layers": 2, "d_model": 8, "d_ff": 16, "num_heads": 4, "max_len": 8} | changes))
    )


def said(model):
    return architecture(model, (TARGET,)).get_label()


def written(ax):
    return " ".join(text.get_text() for text in ax.texts)


def test_it_says_sizes_heads_masks_and_sums():
    ax = architecture(make_transformer(9, 10, num_layers=3, d_model=8, d_ff=16, num_heads=2), (SOURCE, TARGET))
    for words in (
        "× 3",
        "H = 2",
        "sees all but padding",
        "sees the past but padding",
        "(2, 3, 10)",
        "k, v",
        "input 1 (2, 4)",
    ):
        assert words in written(ax), words
    circles = [patch for patch in ax.patches if type(patch).__name__ == "Circle"]
    assert len(circles) == 2 + 3


def test_a_layer_more():
    assert "2 × DecoderOnlyLayer" in said(model()) and "3 × DecoderOnlyLayer" in said(model(num_layers=3))


def test_a_norm_dropped():
    changed = model()
    for layer in changed.layers:
        layer.feed_forward_norm = nn.Identity()
    assert "feed forward norm" in said(model()) and "feed forward norm" not in said(changed)


def test_heads_shared():
    assert "H_kv = 2" not in said(model()) and "H = 4, H_kv = 2" in said(model(num_kv_heads=2))


def test_a_residual_path_cut():
    changed = model(num_layers=1)
    layer = changed.layers[0]

    def forward(x, mask, cache=None):
        x = x + layer.self_attention(layer.attention_norm(x), mask=mask)
        return layer.feed_forward(layer.feed_forward_norm(x))

    layer.forward = forward
    assert said(model(num_layers=1)).count("plus what ran past it") == 2
    assert said(changed).count("plus what ran past it") == 1


def test_a_recurrent_model_is_drawn_too():
    ax = architecture(RecurrentSeq2Seq(9, 10, attention=True, d_embed=4, d_hidden=5), (SOURCE, TARGET))
    assert "GRUCell" in written(ax) and "(3 times)" in written(ax) and "dashed" in written(ax)
    assert "k, v" in written(ax) and "keys from another part" in ax.get_label()


def test_a_model_of_pytorch():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    assert (
        "TransformerEncoder"
        in architecture(nn.Sequential(nn.TransformerEncoder(layer, 2)), (torch.ones(1, 3, 8),)).get_label()
    )
