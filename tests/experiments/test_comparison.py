"""The comparison of models: one budget, a decoder-only model called like the others, a table taken up where it stopped."""

import pytest
import torch

from course_utils.decoding import beam_search
from course_utils.metrics import word_error_rate
from course_utils.models import count_parameters
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING
from course_utils.tokenizers import START_ID
from experiments import comparison

WORDS = {"cat": (("K", "AE", "T"),), "act": (("AE", "K", "T"), ("AE", "K")), "tactics": (("T", "AE", "K", "T"),)}


def small(seed=0):
    torch.manual_seed(seed)
    model = comparison.decoder_only().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model


def test_all_have_nearly_as_many_parameters():
    sizes = [count_parameters(build()) for build, _ in comparison.VARIANTS.values()]
    assert max(sizes) < 1.03 * min(sizes)


def test_letters_and_sounds_are_one_text_without_gaps():
    model = small()
    source = SPELLING.batch(["cat", "scattering"])
    target = SOUNDS.batch([["K", "AE", "T"], ["S", "K"]], start=True)
    together = model(source, target)
    assert together.shape == (2, 4, len(SOUNDS))
    torch.testing.assert_close(together[:1], model(source[:1, :3], target[:1]))
    torch.testing.assert_close(together[1:, :3], model(source[1:], target[1:, :3]))
    changed = target.clone()
    changed[0, 2] = 30
    assert torch.equal(model(source, changed)[0, :2], together[0, :2])  # no sound sees those after it


def test_steps_are_what_teacher_forcing_scores():
    model = small()
    source, target = SPELLING.batch(["cat", "act"]), SOUNDS.batch([["K", "AE", "T"], ["S", "K", "AE"]], start=True)
    whole = model(source, target).log_softmax(-1)
    with torch.no_grad():
        state = model.start_decoding(source, max_len=5)
        for step in range(target.shape[1]):
            log_probs, state = model.decode_step(state, target[:, step])
            torch.testing.assert_close(log_probs, whole[:, step], atol=1e-4, rtol=1e-4)
    assert target[0, 0] == START_ID
    assert beam_search(model, source, max_len=5, beam_size=2).tokens.shape[:2] == (2, 2)


def test_padded_letters_are_refused():
    with pytest.raises(ValueError, match="one length"):
        small().start_decoding(SPELLING.batch(["cat", "cats"]), max_len=3)


def test_which_words_were_right_survives_writing():
    right = [False, False, True, False, True, True, False]
    assert comparison.which_right(comparison.as_text(right)).tolist() == right


def test_the_words_that_choose_a_rate_are_not_those_that_judge():
    assert not set(comparison.sweep_words()) & set(comparison.judged_words())


def test_every_word_is_said_in_its_place():
    model = small()
    said = comparison.say(model, WORDS)
    assert said == [comparison.pronounce(model, [word])[0] for word in WORDS]
    assert word_error_rate(said, list(WORDS.values())) == 1.0


def test_a_rate_needs_a_sweep(as_a_user):
    with pytest.raises(ValueError, match="no sweep of variant"):
        comparison.best_rate("GRU, Adam", [])
