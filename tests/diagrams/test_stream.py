import pytest
import torch
from torch import nn

from course_utils.diagrams import residual_stream
from course_utils.diagrams.words import number
from course_utils.models import DecoderConfig, DecoderLM

TOKENS = torch.tensor([[1, 2, 3]])


def test_what_is_added_is_measured():
    torch.manual_seed(0)
    model = DecoderLM(DecoderConfig(9, num_layers=2, d_model=8, d_ff=16, num_heads=2, max_len=8))
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    stream, sizes, added = model.embedding(TOKENS), [], []
    sizes.append(stream)
    for layer in model.layers:
        both = (layer.self_attention, layer.attention_norm, {"mask": torch.ones(3, 3).tril().bool()})
        for part, norm, more in (both, (layer.feed_forward, layer.feed_forward_norm, {})):
            added.append(part(norm(stream), **more))
            stream = stream + added[-1]
            sizes.append(stream)
    said = residual_stream(model, (TOKENS,)).get_label()
    size = lambda x: number(x.square().mean().sqrt().item())  # noqa: E731
    assert f"length {size(sizes[0])} at the start, {size(sizes[-1])} at the end" in said
    assert f"layers.1.feed_forward {size(added[-1])}." in said and f"layers.0.self_attention {size(added[0])}" in said


def test_a_model_without_residual_paths():
    with pytest.raises(ValueError, match="no layers with an attention"):
        residual_stream(nn.Sequential(nn.Linear(3, 3)), (torch.ones(2, 3),))
