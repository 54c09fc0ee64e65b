"""Weights that were saved when norms had other names."""

import pytest
import torch
from pytorch_weights import unsettle
from torch import nn

from course_utils.layers import DecoderLayer, DecoderOnlyLayer, EncoderLayer
from course_utils.layers.old_names import RENAMED


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer, DecoderOnlyLayer])
def test_they_are_loaded_in_a_layer_and_in_a_model_around_it(kind):
    state = unsettle(kind(12, 4, 20)).state_dict()
    old = {}
    for name, value in state.items():
        for before, now in RENAMED.items():
            name = before + name.removeprefix(now) if name.startswith(now) else name
        old[name] = value
    assert old.keys() != state.keys()
    model = nn.ModuleDict({"stack": nn.ModuleList([kind(12, 4, 20)])})
    model.load_state_dict({f"stack.0.{name}": value for name, value in old.items()})
    alone = kind(12, 4, 20)
    alone.load_state_dict(dict(old))
    for layer in (alone, model["stack"][0]):
        assert layer.state_dict().keys() == state.keys()
        assert all(torch.equal(layer.state_dict()[name], value) for name, value in state.items())


def test_a_name_that_never_was_is_still_refused():
    state = EncoderLayer(12, 4, 20).state_dict() | {"residual.norm.weight": torch.ones(12)}
    with pytest.raises(RuntimeError, match=r"residual\.norm\.weight"):
        EncoderLayer(12, 4, 20).load_state_dict(state)
