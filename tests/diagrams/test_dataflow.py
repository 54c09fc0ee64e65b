"""What is seen of a model by running it once."""

import pytest
import torch
from torch import nn

from course_utils.diagrams.dataflow import seen, trace
from course_utils.layers import DecoderLayer, EncoderLayer
from course_utils.models import DecoderConfig, DecoderLM, make_transformer
from course_utils.multi_head import MultiHeadAttention

SOURCE, TARGET = torch.tensor([[3, 4, 5, 0], [3, 4, 5, 6]]), torch.tensor([[1, 2, 3], [1, 2, 0]])


def names(block):
    return [step.call.name.rpartition(".")[2] for step in block.steps]


class Wrapped(nn.Module):
    """A model of one layer."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)


@pytest.mark.parametrize("pre_norm", [True, False])
def test_the_two_orders_of_norms(pre_norm):
    layer = EncoderLayer(8, 2, 16, pre_norm=pre_norm)
    (block,) = trace(Wrapped(layer), (torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(0)),))
    found = [(name, step.reads, step.adds) for name, step in zip(names(block), block.steps, strict=True)]
    if pre_norm:
        assert found == [
            ("attention_norm", 0, None), ("self_attention", 1, 0), ("feed_forward_norm", 2, None), ("feed_forward", 3, 2),
        ]  # fmt: skip
    else:
        assert found == [
            ("self_attention", 0, 0), ("attention_norm", 1, None), ("feed_forward", 2, 2), ("feed_forward_norm", 3, None),
        ]  # fmt: skip


def test_both_stacks_and_what_joins_them():
    blocks = trace(make_transformer(9, 10, num_layers=3, d_model=8, d_ff=16, num_heads=2), (SOURCE, TARGET))
    assert [block.repeated for block in blocks if block.steps] == [3, 3]
    encoder_norm = next(n for n, block in enumerate(blocks) if block.call.name == "encoder_norm")
    cross = next(step for block in blocks for step in block.steps if step.call.name.endswith("cross_attention"))
    assert cross.memory == encoder_norm
    assert [block.source for block in blocks if block.follows is None] == [0, 1]


def test_layers_of_different_kinds_are_not_joined():
    model = DecoderLM(DecoderConfig(9, num_layers=3, d_model=8, d_ff=16, num_heads=4, max_len=8))
    model.layers[1].self_attention = MultiHeadAttention(8, 4, num_kv_heads=2, bias=False)
    assert [block.repeated for block in trace(model, (TARGET,)) if block.steps] == [1, 1, 1]


def test_it_leaves_the_model_as_it_was():
    model = make_transformer(9, 10, num_layers=1, d_model=8, d_ff=16, num_heads=2).train()
    trace(model, (SOURCE, TARGET))
    assert model.training and not any(part._forward_hooks for part in model.modules())


def test_a_part_that_raises_leaves_no_hooks():
    model = Wrapped(DecoderLayer(8, 2, 16))
    with pytest.raises(TypeError):
        trace(model, (torch.ones(1, 2, 8),))
    assert not any(part._forward_hooks for part in model.modules())


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        (torch.ones(1, 1, 3, 3).bool(), "everything"),
        (torch.ones(3, 3).tril().bool(), "itself and the past"),
        (torch.tensor([[[[True, True, False]]]]), "all but padding"),
        (torch.ones(3, 3).tril().bool() & torch.tensor([True, True, False]), "the past but padding"),
        (torch.ones(4, 4).tril().triu(-1).bool(), "a part of the past"),
        (torch.ones(3, 3).triu().bool(), "what its mask allows"),
    ],
)
def test_what_an_attention_may_see(mask, said):
    attention = MultiHeadAttention(8, 2)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = attention

        def forward(self, x):
            return self.attention(x, mask=mask)

    (block,) = trace(Model(), (torch.ones(1, mask.shape[-1], 8),))
    assert seen(block.call) == said


def test_nothing_is_called():
    with pytest.raises(ValueError, match="no part of this Identity"):
        trace(nn.Identity(), (torch.ones(1),))
