"""Stress learned beside the sounds: what its ids hold, what its loss counts, and that the sounds come out as without it."""

import pytest
import torch
import torch.nn.functional as F

from course_utils.datasets.batches import Batch, batches_by_length, encode_pairs
from course_utils.datasets.pronunciations import split
from course_utils.models import Transformer, TransformerConfig
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING
from course_utils.tokenizers import PAD_ID
from course_utils.training import teacher_forced_loss
from experiments import recipes
from experiments.stress import MARKS, WithStress, encode_with_stress, loss_with_stress

WORDS = {
    "nation": (("N", "EY", "SH", "AH", "N"),),
    "record": (("R", "AH", "K", "AO", "R", "D"), ("R", "EH", "K", "ER", "D")),
}


def tiny() -> WithStress:
    """A model of two layers; nothing of it is dropped."""
    torch.manual_seed(0)
    config = TransformerConfig(
        src_vocab=len(SPELLING), tgt_vocab=len(SOUNDS), num_layers=1, d_model=8, d_ff=16, num_heads=2
    )
    return WithStress(Transformer(config)).eval()


def both(words=WORDS) -> tuple[Batch, Batch]:
    """The same pairs in one batch each: sounds alone, and sounds with marks."""
    plain, marked = encode_pairs(words, SPELLING, SOUNDS), encode_with_stress(words)
    return tuple(next(batches_by_length(pairs, 10**6, seed=0)) for pairs in (plain, marked))


def test_an_id_tells_the_sound_and_its_stress():
    pairs = encode_with_stress(WORDS)
    assert [[i % len(SOUNDS) for i in target] for _, target in pairs] == [
        target for _, target in encode_pairs(WORDS, SPELLING, SOUNDS)
    ]
    marks = [[MARKS[i // len(SOUNDS)] for i in target] for _, target in pairs]
    assert marks[0] == ["", "", "1", "", "0", "", ""]  # N EY1 SH AH0 N between start and end
    assert marks[1] == ["", "", "0", "", "1", "", "", ""]  # to recórd
    assert marks[2] == ["", "", "1", "", "0", "", ""]  # a récord


def test_the_first_logits_are_those_of_the_transformer():
    model, (plain, _) = tiny(), both()
    logits = model(plain.source, plain.target[:, :-1])
    assert logits.shape == (*plain.target[:, :-1].shape, len(SOUNDS) + len(MARKS))
    torch.testing.assert_close(logits[..., : len(SOUNDS)], model.pronouncer(plain.source, plain.target[:, :-1]))


def test_without_weight_it_is_the_loss_of_the_sounds():
    model, (plain, marked) = tiny(), both()
    found = loss_with_stress(model, marked, smoothing=0.1, weight=0.0)
    torch.testing.assert_close(found, teacher_forced_loss(model.pronouncer, plain, smoothing=0.1))


def test_the_loss_of_the_stress_is_a_mean_over_places_that_are_not_padding():
    model, (plain, marked) = tiny(), both()
    per_unit = loss_with_stress(model, marked, smoothing=0.1, weight=1.0) - loss_with_stress(
        model, marked, smoothing=0.1, weight=0.0
    )
    logits = model(plain.source, plain.target[:, :-1])[..., len(SOUNDS) :]
    single = [
        F.cross_entropy(logits[i, t], marked.target[i, t + 1] // len(SOUNDS))
        for i in range(len(logits))
        for t in range(logits.shape[1])
        if plain.target[i, t + 1] != PAD_ID
    ]
    assert (plain.target[:, 1:] == PAD_ID).any()  # or nothing here tells the two apart
    torch.testing.assert_close(per_unit, torch.stack(single).mean())


@pytest.mark.parametrize("weight", [0.0, 0.3])
def test_a_recipe_trains_what_is_kept_and_what_is_not(weight, monkeypatch):
    words = dict(list(split("train").items())[:30])
    monkeypatch.setattr(recipes, "split", lambda name: words)
    recipe = recipes.PronunciationRecipe(torch.nn.Linear, {}, epochs=1, peak_rate=1e-3, stress_weight=weight)
    pronouncer = tiny().pronouncer
    learner = recipe.in_training(pronouncer)
    batches, loss, score = recipe.prepare()
    loss(learner, batches(0)[0]).backward()
    parameters = list(learner.parameters())
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in parameters)
    assert len(parameters) == len(list(pronouncer.parameters())) + (2 if weight else 0)
    assert score(learner) == score(pronouncer)
