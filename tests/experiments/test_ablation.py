"""The ablation: each variant lacks what its name says, and the table takes up where it stopped."""

import pytest
import torch

from course_utils.models import Transformer, TransformerConfig
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING
from course_utils.tokenizers import PAD_ID
from experiments import ablation

WORDS = {"cat": (("K", "AE", "T"),), "act": (("AE", "K", "T"),), "tactics": (("T", "AE", "K", "T", "IH", "K", "S"),)}


def variant(name):
    torch.manual_seed(0)
    return ablation.VARIANTS[name]().eval()


def batch():
    source = SPELLING.batch(["cats", "scattering"])
    target = SOUNDS.batch([["K", "AE"], ["S", "K", "AE", "T", "ER"]], start=True)
    return source, target


def test_no_positions_means_that_the_order_of_letters_is_nothing():
    target = SOUNDS.batch([["K"]], start=True)
    for name, same in (("full", False), ("no positions", True)):
        model = variant(name)
        one, other = (model(SPELLING.batch([word]), target) for word in ("tacit", "attic"))
        assert torch.allclose(one, other, atol=1e-5) == same, name


def test_no_scaling_multiplies_the_scores_by_the_root_of_the_head():
    model, plain = variant("no scaling"), variant("full")
    plain.load_state_dict(model.state_dict())
    x = torch.randn(2, 5, 64)
    _, sharp = model.encoder_layers[0].self_attention(x, return_weights=True)
    _, soft = plain.encoder_layers[0].self_attention(x, return_weights=True)
    raised = soft**4  # d_head is 16: exp(4 s) is exp(s) to the fourth
    torch.testing.assert_close(sharp, raised / raised.sum(-1, keepdim=True))


def test_one_head_has_as_many_parameters():
    model = variant("one head")
    assert {m.num_heads for m in model.modules() if isinstance(m, ablation.MultiHeadAttention)} == {1}
    assert sum(p.numel() for p in model.parameters()) == sum(p.numel() for p in variant("full").parameters())


def test_without_padding_mask_what_stands_beside_a_word_matters():
    source, target = batch()
    for name, same in (("full", True), ("no padding mask", False)):
        model = variant(name)
        alone = model(source[:1, :4], target[:1])
        assert torch.allclose(model(source, target)[:1], alone, atol=1e-5) == same, name
        stepped = [
            model.decode_step(model.start_decoding(s, max_len=4), target[:1, 0])[0]
            for s in (source[:1], source[:1, :4])
        ]
        assert torch.allclose(*stepped, atol=1e-5) == same, name


def test_without_causal_mask_the_future_is_seen_in_training():
    source, target = batch()
    changed = target.clone()
    changed[1, 4] = 20
    for name, same in (("full", True), ("no causal mask", False)):
        model = variant(name)
        before, after = model(source, target), model(source, changed)
        assert torch.allclose(before[1, :4], after[1, :4], atol=1e-5) == same, name
        assert torch.allclose(before[0], after[0], atol=1e-5)  # padding is hidden in both
    assert (target == PAD_ID).any()


def test_a_variant_without_change_is_the_model_of_the_course():
    torch.manual_seed(0)
    reference = Transformer(TransformerConfig(**ablation.CONFIG)).eval()
    torch.testing.assert_close(variant("full")(*batch()), reference(*batch()))


def test_an_unknown_variant_is_named(as_a_user):
    with pytest.raises(ValueError, match="'nothing'.*full, no positions"):
        ablation.run("nothing", 0)
