"""Models drawn from one run: who reads what, and a changed model gives a changed picture."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from course_utils.diagrams import architecture, residual_stream, straight_streams, two_norms
from course_utils.diagrams.dataflow import Call, trace, visible_keys
from course_utils.diagrams.formatting import number
from course_utils.layers import DecoderLayer, EncoderLayer
from course_utils.models import DecoderConfig, DecoderLM, Transformer, TransformerConfig, make_transformer
from course_utils.models.recurrent import RecurrentSeq2Seq
from course_utils.multi_head import MultiHeadAttention

SOURCE, TARGET = torch.tensor([[3, 4, 5, 0], [3, 4, 5, 6]]), torch.tensor([[1, 2, 3], [1, 2, 0]])


def model(**changes):
    return DecoderLM(
        DecoderConfig(9, **({"num_layers": 2, "d_model": 8, "d_ff": 16, "num_heads": 4, "max_len": 8} | changes))
    )


def alt(model):
    return architecture(model, (TARGET,)).get_label()


def written(ax):
    return " ".join(text.get_text() for text in ax.texts)


def test_it_says_sizes_heads_masks_and_sums():
    ax = architecture(make_transformer(9, 10, num_layers=3, d_model=8, d_ff=16, num_heads=2), (SOURCE, TARGET))
    masks = ("sees all but padding", "sees no padding, no future")
    for words in ("× 3", "H = 2", *masks, "(2, 3, 10)", "k, v", "q", "input 1 (2, 4)", "memory (2, 4, 8)"):
        assert words in written(ax), words
    circles = [patch for patch in ax.patches if type(patch).__name__ == "Circle"]
    assert len(circles) == 2 + 3


def test_it_says_where_the_places_come_in_and_no_name_twice():
    sizes = {"num_layers": 1, "d_model": 8, "d_ff": 16, "num_heads": 2}
    pictures = [
        written(architecture(Transformer(TransformerConfig(9, 10, **sizes, positions=positions)), (SOURCE, TARGET)))
        for positions in ("sinusoidal", "rotary")
    ]
    for words, shown in (
        ("source embedding\nplus positions", [1, 0]),
        ("H = 2, rotary", [0, 2]),
        ("FeedForward", [0, 0]),
    ):
        assert [picture.count(words) for picture in pictures] == shown, words


def test_the_inputs_can_be_named():
    model = make_transformer(9, 10, num_layers=1, d_model=8, d_ff=16, num_heads=2)
    words = written(architecture(model, (SOURCE, TARGET), inputs=("letters", "sounds so far")))
    assert "letters (2, 4)" in words and "sounds so far (2, 3)" in words and "input" not in words


def test_a_changed_model_gives_a_changed_picture():
    changed = model(num_layers=3, num_kv_heads=2)
    for layer in changed.layers:
        layer.feed_forward_norm = nn.Identity()
    before, after = alt(model()), alt(changed)
    for part, part_after in (("2 × DecoderOnlyLayer", "3 × DecoderOnlyLayer"), ("H = 4", "H = 4, H_kv = 2")):
        assert part in before and part_after not in before and part_after in after
    assert "feed forward norm" in before and "feed forward norm" not in after


def test_a_residual_path_cut():
    changed = model(num_layers=1)
    layer = changed.layers[0]

    def forward(x, mask, cache=None):
        x = x + layer.self_attention(layer.attention_norm(x), mask=mask)
        return layer.feed_forward(layer.feed_forward_norm(x))

    layer.forward = forward
    assert alt(model(num_layers=1)).count("plus what ran past it") == 2
    assert alt(changed).count("plus what ran past it") == 1


def test_a_recurrent_model_is_drawn_too():
    ax = architecture(RecurrentSeq2Seq(9, 10, attention=True, d_embed=4, d_hidden=5), (SOURCE, TARGET))
    assert "GRUCell" in written(ax) and "(3 times)" in written(ax) and "dashed" in written(ax)
    assert "k, v" in written(ax) and "keys from another part" in ax.get_label()


def test_a_model_of_pytorch():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)
    assert "TransformerEncoder" in architecture(nn.Sequential(encoder), (torch.ones(1, 3, 8),)).get_label()


class Wrapped(nn.Module):
    """A model of one layer."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)


PRE = [("attention_norm", 0, None), ("self_attention", 1, 0), ("feed_forward_norm", 2, None), ("feed_forward", 3, 2)]
POST = [("self_attention", 0, 0), ("attention_norm", 1, None), ("feed_forward", 2, 2), ("feed_forward_norm", 3, None)]


@pytest.mark.parametrize(("pre_norm", "expected"), [(True, PRE), (False, POST)])
def test_the_two_orders_of_norms(pre_norm, expected):
    layer = EncoderLayer(8, 2, 16, pre_norm=pre_norm)
    (block,) = trace(Wrapped(layer), (torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(0)),))
    assert [(step.call.name.rpartition(".")[2], step.reads, step.adds) for step in block.steps] == expected


def test_both_stacks_and_what_joins_them():
    blocks = trace(make_transformer(9, 10, num_layers=3, d_model=8, d_ff=16, num_heads=2), (SOURCE, TARGET))
    assert [block.repeated for block in blocks if block.steps] == [3, 3]
    encoder_norm = next(n for n, block in enumerate(blocks) if block.call.name == "encoder_norm")
    cross = next(step for block in blocks for step in block.steps if step.call.name.endswith("cross_attention"))
    assert cross.memory == encoder_norm
    assert [block.source for block in blocks if block.follows is None] == [0, 1]


def test_layers_of_different_kinds_are_not_joined():
    changed = model(num_layers=3)
    changed.layers[1].self_attention = MultiHeadAttention(8, 4, num_kv_heads=2, bias=False)
    assert [block.repeated for block in trace(changed, (TARGET,)) if block.steps] == [1, 1, 1]


def test_it_leaves_the_model_as_it_was_even_if_a_part_raises():
    model = make_transformer(9, 10, num_layers=1, d_model=8, d_ff=16, num_heads=2).train()
    broken = Wrapped(DecoderLayer(8, 2, 16)).train()
    trace(model, (SOURCE, TARGET))
    with pytest.raises(TypeError):
        trace(broken, (torch.ones(1, 2, 8),))
    assert model.training and broken.training
    assert not any(part._forward_hooks for part in (*model.modules(), *broken.modules()))


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (torch.ones(1, 1, 3, 3).bool(), "everything"),
        (torch.ones(3, 3).tril().bool(), "itself and the past"),
        (torch.tensor([[[[True, True, False]]]]), "all but padding"),
        (torch.ones(3, 3).tril().bool() & torch.tensor([True, True, False]), "no padding, no future"),
        (torch.ones(4, 4).tril().triu(-1).bool(), "a part of the past"),
        (torch.ones(3, 3).triu().bool(), "what its mask allows"),
    ],
)
def test_what_an_attention_may_see(mask, words):
    assert visible_keys(Call("attention", nn.Identity(), mask, mask, {"mask": mask})) == words


def test_nothing_is_called():
    with pytest.raises(ValueError, match="no part of this Identity"):
        trace(nn.Identity(), (torch.ones(1),))


def test_what_is_added_is_measured():
    torch.manual_seed(0)
    model = DecoderLM(DecoderConfig(9, num_layers=2, d_model=8, d_ff=16, num_heads=2, max_len=8))
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    stream, sizes, added = model.embedding(TARGET[:1]), [], []
    sizes.append(stream)
    for layer in model.layers:
        causal = {"mask": torch.ones(3, 3).tril().bool()}
        attention = (layer.self_attention, layer.attention_norm, causal)
        for part, norm, options in (attention, (layer.feed_forward, layer.feed_forward_norm, {})):
            added.append(part(norm(stream), **options))
            stream = stream + added[-1]
            sizes.append(stream)
    alt = residual_stream(model, (TARGET[:1],)).get_label()
    size = lambda x: number(x.square().mean().sqrt().item())  # noqa: E731
    assert f"size {size(sizes[0])} at the start, {size(sizes[-1])} at the end" in alt
    assert f"layer 2 feed forward {size(added[-1])}." in alt and f"layer 1 self attention {size(added[0])}" in alt


def test_all_twelve_sublayers_are_drawn_and_the_two_attentions_differ():
    ax = residual_stream(make_transformer(9, 10, num_layers=4, d_model=8, d_ff=16, num_heads=2), (SOURCE, TARGET))
    bars = [patch for patch in ax.patches if type(patch).__name__ == "Rectangle"]
    assert len(bars) == 13 + 12 + 4 and "⋯" not in written(ax)  # the stream, what is added, the legend
    assert len({bar.get_edgecolor() for bar in bars}) == 4
    for words in ("added by self-attention", "by cross-attention", "after layer 4"):
        assert words in written(ax), words


def test_norms_stand_on_the_straight_stream_in_post_norm_only():
    orders = {"pre": EncoderLayer(8, 2, 16), "post": EncoderLayer(8, 2, 16, pre_norm=False)}
    ax = straight_streams(orders, torch.randn(1, 3, 8))
    assert "pre: on the stream nothing but sums" in ax.get_label()
    assert "post: on the stream attention norm, feed forward norm" in ax.get_label()
    assert [text.get_text() for text in ax.texts].count("norm") == 4
    with pytest.raises(ValueError, match="at least one layer"):
        straight_streams({}, torch.randn(1, 3, 8))


def test_each_norm_has_a_panel_with_a_line_from_each_point_to_its_own():
    cloud = torch.randn(5, 3)
    ax = two_norms(cloud, {"LayerNorm": F.layer_norm(cloud, (3,)), "itself": cloud})
    first, second = ax.figure.axes
    assert (first.get_title(), second.get_title()) == ("LayerNorm", "itself") and len(first.lines) == 5 + 2
    heights = first.lines[-1].get_ydata()  # LayerNorm's points lie within the ellipse of the plane
    assert max(abs(height) for height in heights) <= 3**0.5 * 0.36
    assert list(second.lines[-1].get_xdata()) == list(second.lines[-2].get_xdata())
    with pytest.raises(ValueError, match="at least one norm"):
        two_norms(cloud, {})
