"""The trained models that come with the course: whole, small, and said to be damaged when they are."""

import json

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from course_utils import pretrained
from course_utils.models.recurrent import RecurrentSeq2Seq
from course_utils.pretrained import shipped

CONFIG = {"src_vocab": 8, "tgt_vocab": 9, "attention": True, "d_embed": 6, "d_hidden": 10}


def test_what_is_saved_is_loaded_to_half_precision(tmp_path):
    torch.manual_seed(0)
    model = RecurrentSeq2Seq(**CONFIG)
    path = pretrained.save("tiny", model, CONFIG, {"epochs": 3}, folder=tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["tiny.safetensors"] and pretrained.available(tmp_path) == ("tiny",)
    again = pretrained.load("tiny", folder=tmp_path)
    assert not again.training and pretrained.training_of("tiny", folder=tmp_path) == {"epochs": 3}
    for a, b in zip(again.parameters(), model.parameters(), strict=True):
        assert a.dtype == torch.float32
        torch.testing.assert_close(a, b, atol=1e-3, rtol=1e-3)
    assert path.stat().st_size < 2 * sum(p.numel() for p in model.parameters()) + 4096


def test_all_shipped_models_together_stay_small():
    assert sum(path.stat().st_size for path in shipped.FOLDER.glob("*.safetensors")) <= 8e6
    for name in pretrained.available():
        assert all(p.isfinite().all() for p in pretrained.load(name).parameters())


def test_damage_is_named(tmp_path):
    path = tmp_path / "tiny.safetensors"
    whole = pretrained.save("tiny", RecurrentSeq2Seq(**CONFIG), CONFIG, {}, folder=tmp_path).read_bytes()
    for damage in (b"", whole[:500], whole[:-7]):
        path.write_bytes(damage)
        with pytest.raises(ValueError, match=r"tiny\.safetensors is damaged"):
            pretrained.load("tiny", folder=tmp_path)
    for header in ({}, {"model": "os.system", "config": "{}"}, {"model": "RecurrentSeq2Seq", "config": "{"}):
        save_file({"weight": torch.zeros(2)}, path, metadata=header)
        with pytest.raises(ValueError, match="damaged"):
            pretrained.load("tiny", folder=tmp_path)
        with pytest.raises(ValueError, match="damaged"):
            pretrained.training_of("tiny", folder=tmp_path)
    smaller = {**CONFIG, "d_hidden": 5}
    save_file({"weight": torch.zeros(2)}, path, {"model": "RecurrentSeq2Seq", "config": json.dumps(smaller)})
    with pytest.raises(ValueError, match="damaged"):
        pretrained.load("tiny", folder=tmp_path)


def test_bad_input_is_named(as_a_user, tmp_path):
    with pytest.raises(ValueError, match="'tinny'.*none"):
        pretrained.load("tinny", folder=tmp_path)
    with pytest.raises(ValueError, match=r"'\.\./x'"):
        pretrained.load("../x")
    with pytest.raises(ValueError, match="Linear"):
        pretrained.save("tiny", nn.Linear(2, 2), {}, {}, folder=tmp_path)
    model = RecurrentSeq2Seq(**CONFIG)
    model.output.bias.data[3] = 1e6
    with pytest.raises(ValueError, match=r"output\.bias"):
        pretrained.save("tiny", model, CONFIG, {}, folder=tmp_path)
    assert not list(tmp_path.iterdir())
