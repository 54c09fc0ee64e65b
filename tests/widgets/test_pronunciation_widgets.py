"""Alignment viewer and pronouncer: the model's own weights and beams, what the dictionary says, and what they refuse."""

import pytest
import torch
from controls import heatmap, move, texts

from course_utils import pretrained
from course_utils.decoding import Beams, beam_search, greedy_decode
from course_utils.models import Transformer, TransformerConfig
from course_utils.models.recurrent import RecurrentSeq2Seq
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING, align
from course_utils.recording import record_attention
from course_utils.widgets import alignment_viewer, pronouncer
from course_utils.widgets.alignment import describe_word
from course_utils.widgets.pronouncer import describe_beams

both = pytest.mark.parametrize("make", [alignment_viewer, pronouncer])


def small_model(attention=True, dropout=0.0):
    torch.manual_seed(0)
    return RecurrentSeq2Seq(len(SPELLING), len(SOUNDS), attention=attention, d_embed=5, d_hidden=6, dropout=dropout)


@pytest.fixture(scope="module")
def trained():
    """A model that has learned to come to an end."""
    return pretrained.load("recurrent_attention")


def sounds(widget):
    return [tick.get_text() for tick in widget.figure.axes[0].get_yticklabels()]


def names(ids):
    return [SOUNDS.symbols[i] for i in ids.tolist() if i]


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("word", ["box", "nation", "I"])
def test_weights_are_those_of_single_steps_as_a_student_writes_the_loop(trained, ends, word):
    model = trained if ends else small_model(dropout=0.5).train()  # decoded without dropout all the same
    symbols, weights, probability = align(model, word)
    model.eval()
    state, token = model.start_decoding(SPELLING.batch([word.lower()])), torch.tensor([1])
    expected, rows, total = [], [], 0.0
    with torch.no_grad():
        while len(expected) < 32 and (not expected or expected[-1] != "<end>"):
            log_probs, state = model.decode_step(state, token)
            best, token = log_probs.max(-1)
            expected.append(SOUNDS.symbols[token.item()])
            rows.append(state.weights[0])
            total += best.item()
    assert symbols == expected and ("<end>" in symbols) == ends
    torch.testing.assert_close(weights, torch.stack(rows))
    assert probability == pytest.approx(torch.tensor(total).exp().item(), rel=1e-4)


def test_the_word_that_is_typed_is_drawn_and_the_model_is_not_touched(trained):
    before = {name: tensor.clone() for name, tensor in trained.state_dict().items()}
    widget = alignment_viewer(trained, "box")
    for word in ("box", "Nation", "a" * 60):
        move(widget, word=word)
        symbols, weights, _ = align(trained, word)
        assert [tick.get_text() for tick in widget.figure.axes[0].get_xticklabels()] == list(word.lower())
        assert sounds(widget) == symbols
        torch.testing.assert_close(heatmap(widget), weights)
    assert all(torch.equal(before[name], tensor) for name, tensor in trained.state_dict().items())
    assert all(parameter.grad is None for parameter in trained.parameters())


@both
@pytest.mark.parametrize(("word", "reason"), [("", "is empty"), ("a" * 500, "500 letters"), ("a<b", "&lt;")])
def test_a_bad_word_is_refused_with_a_sentence(trained, make, word, reason):
    widget = make(trained, "box")
    before = bytes(widget.image.value)
    widget.controls["word"].value = word
    assert reason in widget.problem.value and "expected" in widget.problem.value and "<b" not in widget.problem.value
    assert "Traceback" not in widget.problem.value and len(widget.problem.value) < 300
    assert bytes(widget.image.value) == before
    move(widget, word="nation")
    assert bytes(widget.image.value) != before


@both
def test_a_model_without_attention_and_a_bad_first_word_are_refused(trained, make):
    with pytest.raises(ValueError, match="no attention"):
        make(small_model(attention=False))
    with pytest.raises(ValueError, match="expected letters"):
        make(trained, "x1")


@pytest.mark.parametrize(
    ("word", "symbols", "expected"),
    [
        ("nation", ["N", "EY", "SH", "AH", "N", "<end>"], ["dictionary, seen in training", "right"]),
        ("knights", ["N", "AY", "T", "<end>"], ["dictionary, held out (test)", "wrong"]),
        ("physics", ["F", "IH", "Z", "IH", "K", "S"], ["dictionary, held out (valid)", "right"]),
        ("enough", ["IY", "N", "AH", "F", "<end>"], ["  IH N AH F", "  IY N AH F", "right"]),
        ("zzzz", ["Z"], ["not in the dictionary"]),
    ],
)
def test_what_the_dictionary_says(word, symbols, expected):
    lines = describe_word(word, symbols, 0.25)
    assert lines[:3] == ["model says", f"  {' '.join(s for s in symbols if s != '<end>')}", "probability 0.25"]
    assert all(line in lines for line in expected) and ("right" in lines) + ("wrong" in lines) <= 1
    assert lines[-1] == expected[-1]


def test_long_pronunciations_are_wrapped():
    lines = describe_word("zzzz", ["AH"] * 19, 0.0)
    assert [line.count("AH") for line in lines[1:4]] == [8, 8, 3]


# ---------------------------------------------------------------- beams


def test_the_best_sequence_is_drawn_and_all_are_listed(trained):
    widget = pronouncer(trained, "Nation")
    found = beam_search(trained, SPELLING.batch(["nation"]), max_len=32, beam_size=5)
    assert sounds(widget) == names(found.tokens[0, 0])
    previous = torch.tensor([[1, *found.tokens[0, 0, : len(sounds(widget)) - 1].tolist()]])
    with record_attention(trained) as seen:
        trained(SPELLING.batch(["nation"]), previous)
    torch.testing.assert_close(heatmap(widget), torch.cat(seen.calls("attention"), dim=1)[0])
    for tokens, log_prob in zip(found.tokens[0], found.log_probs[0].tolist(), strict=True):
        assert f"{100 * torch.tensor(log_prob).exp():.1f} %  {' '.join(SOUNDS.decode(tokens))}" in texts(widget)


def test_another_sequence_can_be_drawn(trained):
    widget = pronouncer(trained, "phoenix")
    move(widget, shown=3)
    found = beam_search(trained, SPELLING.batch(["phoenix"]), max_len=32, beam_size=5)
    assert sounds(widget) == names(found.tokens[0, 2]) and heatmap(widget).shape == (len(sounds(widget)), 7)
    assert texts(widget).split("\n")[3].endswith("< drawn") and texts(widget).count("drawn") == 1
    move(widget, beams=1)  # there is no third one any more: the last is drawn
    assert sounds(widget) == align(trained, "phoenix", decode=greedy_decode).sounds


def test_a_transformer_can_be_shown():
    torch.manual_seed(0)
    config = TransformerConfig(len(SPELLING), len(SOUNDS), 2, d_model=12, d_ff=10, num_heads=3, max_len=40)
    widget = pronouncer(Transformer(config).eval(), "box")
    assert widget.problem.value == "" and heatmap(widget).shape[1] == 3


def test_what_is_said_of_the_beams():
    tokens = SOUNDS.batch([["N", "AY", "T"], ["K", "N", "AY", "T"], ["AH"] * 15], end=True)[None]
    log_probs = torch.tensor([[0.5, 0.25, 0.125]]).log()
    beams = ["50.0 %  N AY T  (dictionary)", "25.0 %  K N AY T  < drawn", f"12.5 %  {'AH ' * 11}..."]
    lines = describe_beams("knight", Beams(tokens, log_probs, log_probs), 1)
    assert lines[1:] == [*beams, "", "the dictionary has", "N AY T"]
    missing = describe_beams("zzzz", Beams(tokens, torch.tensor([[0.0, -1.0, -torch.inf]]), log_probs), 0)
    assert len(missing) == 5 and missing[-1] == "not in the dictionary"
