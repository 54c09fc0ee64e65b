"""The alignment viewer: the model's own weights, what the dictionary says, and what it refuses."""

import pytest
import torch

from course_utils import pretrained
from course_utils.decoding import greedy_decode
from course_utils.models.recurrent import RecurrentSeq2Seq
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING, align
from course_utils.widgets import alignment_viewer
from course_utils.widgets.alignment import describe_word


def small_model(attention=True):
    torch.manual_seed(0)
    return RecurrentSeq2Seq(len(SPELLING), len(SOUNDS), attention=attention, d_embed=5, d_hidden=6)


def ending_model():
    """One that has learned to come to an end."""
    return pretrained.load("recurrent_attention")


def step_by_step(model, word):
    """Symbols, weights and log-probability from single steps, as a student writes the loop."""
    state, token = model.start_decoding(SPELLING.batch([word])), torch.tensor([1])
    sounds, rows, total = [], [], 0.0
    while len(sounds) < 32 and (not sounds or sounds[-1] != "<end>"):
        log_probs, state = model.decode_step(state, token)
        best, token = log_probs.max(-1)
        sounds.append(SOUNDS.symbols[token.item()])
        rows.append(state.weights[0])
        total += best.item()
    return sounds, torch.stack(rows), total


@pytest.mark.parametrize("make", [small_model, ending_model])
@pytest.mark.parametrize("word", ["box", "nation", "I"])
def test_weights_are_those_of_the_steps(make, word):
    model = make()
    sounds, weights, probability = align(model, word)
    model.eval()
    with torch.no_grad():
        expected, rows, total = step_by_step(model, word.lower())
    assert sounds == expected and ("<end>" in sounds) == (make is ending_model)
    assert weights.shape == (len(sounds), len(word))
    torch.testing.assert_close(weights, rows)
    assert probability == pytest.approx(torch.tensor(total).exp().item(), rel=1e-4)


def test_a_model_in_training_mode_is_decoded_without_dropout():
    torch.manual_seed(0)
    model = RecurrentSeq2Seq(len(SPELLING), len(SOUNDS), attention=True, d_embed=5, d_hidden=6, dropout=0.5).train()
    first, again = align(model, "box"), align(model, "box")
    assert first[0] == again[0] and torch.equal(first[1], again[1])


def test_the_word_that_is_typed_is_drawn():
    model = ending_model()
    widget = alignment_viewer(model, "box")
    assert not widget.problem.value and set(widget.controls) == {"word"}
    for word in ("box", "Nation", "a" * 60):
        widget.controls["word"].value = word
        assert not widget.problem.value
        ax = widget.figure.axes[0]
        sounds, weights, _ = align(model, word)
        assert [tick.get_text() for tick in ax.get_xticklabels()] == list(word.lower())
        assert [tick.get_text() for tick in ax.get_yticklabels()] == sounds
        torch.testing.assert_close(torch.tensor(ax.images[0].get_array().filled()).float(), weights)


@pytest.mark.parametrize(("word", "reason"), [("", "is empty"), ("two words", "holds"), ("x1", "1"), ("a<b", "&lt;")])
def test_a_bad_word_is_refused_with_a_sentence(word, reason):
    widget = alignment_viewer(small_model(), "box")
    before = bytes(widget.image.value)
    widget.controls["word"].value = word
    assert reason in widget.problem.value and "expected letters from a to z" in widget.problem.value
    assert "Traceback" not in widget.problem.value and "<b" not in widget.problem.value
    assert bytes(widget.image.value) == before
    widget.controls["word"].value = "nation"
    assert widget.problem.value == "" and bytes(widget.image.value) != before


def test_the_model_is_not_touched():
    model = ending_model().eval()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    alignment_viewer(model, "box").controls["word"].value = "nation"
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert greedy_decode(model, SPELLING.batch(["box"]), max_len=5).tokens.shape[0] == 1


@pytest.mark.parametrize(
    ("word", "sounds", "expected"),
    [
        ("nation", ["N", "EY", "SH", "AH", "N", "<end>"], ["dictionary, seen in training", "right"]),
        ("knights", ["N", "AY", "T", "<end>"], ["dictionary, held out (test)", "wrong"]),
        ("physics", ["F", "IH", "Z", "IH", "K", "S"], ["dictionary, held out (valid)", "right"]),
        ("enough", ["IY", "N", "AH", "F", "<end>"], ["  IH N AH F", "  IY N AH F", "right"]),
        ("zzzz", ["Z"], ["not in the dictionary"]),
    ],
)
def test_what_the_dictionary_says(word, sounds, expected):
    lines = describe_word(word, sounds, 0.25)
    assert lines[:3] == ["model says", f"  {' '.join(s for s in sounds if s != '<end>')}", "probability 0.25"]
    assert all(line in lines for line in expected) and ("right" in lines) + ("wrong" in lines) <= 1
    assert lines[-1] == expected[-1]


def test_long_pronunciations_are_wrapped():
    lines = describe_word("zzzz", ["AH"] * 19, 0.0)
    assert [line.count("AH") for line in lines[1:4]] == [8, 8, 3]


def test_a_model_without_attention_and_a_bad_first_word_are_refused():
    with pytest.raises(ValueError, match="no attention"):
        alignment_viewer(small_model(attention=False))
    with pytest.raises(ValueError, match="expected letters"):
        alignment_viewer(small_model(), "x1")
