"""The pronouncer: the sequences of beam search with their probabilities, the alignment of the chosen one, and what it refuses."""

import pytest
import torch

from course_utils import pretrained
from course_utils.decoding import Beams, beam_search, greedy_decode
from course_utils.models import Transformer, TransformerConfig
from course_utils.models.recurrent import RecurrentSeq2Seq
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING, align
from course_utils.recording import record_attention
from course_utils.widgets import pronouncer
from course_utils.widgets.pronouncer import describe_beams


@pytest.fixture(scope="module")
def trained():
    return pretrained.load("recurrent_attention")


def shown(widget):
    """Sounds, weights and text of the figure."""
    ax = widget.figure.axes[0]
    sounds = [tick.get_text() for tick in ax.get_yticklabels()]
    return sounds, torch.tensor(ax.images[0].get_array().filled()).float(), widget.figure.texts[0].get_text()


def test_the_best_sequence_is_drawn_and_all_are_listed(trained):
    widget = pronouncer(trained, "Nation")
    found = beam_search(trained, SPELLING.batch(["nation"]), max_len=32, beam_size=5)
    sounds, weights, text = shown(widget)
    assert sounds == [SOUNDS.symbols[i] for i in found.tokens[0, 0].tolist() if i]
    previous = torch.tensor([[1, *found.tokens[0, 0, : len(sounds) - 1].tolist()]])
    with record_attention(trained) as seen:
        trained(SPELLING.batch(["nation"]), previous)
    torch.testing.assert_close(weights, torch.cat(seen.calls("attention"), dim=1)[0])
    for tokens, log_prob in zip(found.tokens[0], found.log_probs[0].tolist(), strict=True):
        assert f"{100 * torch.tensor(log_prob).exp():.1f} %  {' '.join(SOUNDS.decode(tokens))}" in text


def test_another_sequence_can_be_drawn(trained):
    widget = pronouncer(trained, "phoenix")
    widget.controls["shown"].value = 3
    found = beam_search(trained, SPELLING.batch(["phoenix"]), max_len=32, beam_size=5)
    sounds, weights, text = shown(widget)
    assert sounds == [SOUNDS.symbols[i] for i in found.tokens[0, 2].tolist() if i]
    assert weights.shape == (len(sounds), 7) and text.split("\n")[3].endswith("< drawn") and text.count("drawn") == 1
    widget.controls["beams"].value = 1  # there is no third one any more: the last is drawn
    assert shown(widget)[0] == align(trained, "phoenix", decode=greedy_decode).sounds
    assert widget.problem.value == ""


def test_a_transformer_can_be_shown():
    torch.manual_seed(0)
    config = TransformerConfig(len(SPELLING), len(SOUNDS), 2, d_model=12, d_ff=10, num_heads=3, max_len=40)
    model = Transformer(config).eval()
    widget = pronouncer(model, "box")
    assert widget.problem.value == "" and shown(widget)[1].shape[1] == 3


def test_what_is_said_of_the_beams():
    tokens = SOUNDS.batch([["N", "AY", "T"], ["K", "N", "AY", "T"], ["AH"] * 15], end=True)[None]
    log_probs = torch.tensor([[0.5, 0.25, 0.125]]).log()
    lines = describe_beams("knight", Beams(tokens, log_probs, log_probs), 1)
    assert lines[1:] == [
        "50.0 %  N AY T  (dictionary)",
        "25.0 %  K N AY T  < drawn",
        f"12.5 %  {'AH ' * 11}...",
        "",
        "the dictionary has",
        "N AY T",
    ]
    missing = Beams(tokens, torch.tensor([[0.0, -1.0, -torch.inf]]), log_probs)
    assert (
        len(describe_beams("zzzz", missing, 0)) == 5
        and describe_beams("zzzz", missing, 0)[-1] == "not in the dictionary"
    )


@pytest.mark.parametrize(
    ("word", "reason"),
    [("", "is empty"), ("b2b", "2"), ("caf\u00e9", "\u00e9"), ("a" * 500, "500 letters"), ("a<b", "&lt;")],
)
def test_a_bad_word_is_refused_with_a_sentence(trained, word, reason):
    widget = pronouncer(trained, "box")
    before = bytes(widget.image.value)
    widget.controls["word"].value = word
    assert reason in widget.problem.value and "expected" in widget.problem.value
    assert "Traceback" not in widget.problem.value and len(widget.problem.value) < 300
    assert bytes(widget.image.value) == before
    widget.controls["word"].value = "nation"
    assert widget.problem.value == "" and bytes(widget.image.value) != before


def test_a_model_without_attention_and_a_bad_first_word_are_refused(trained):
    with pytest.raises(ValueError, match="no attention"):
        pronouncer(RecurrentSeq2Seq(len(SPELLING), len(SOUNDS), attention=False, d_embed=5, d_hidden=6))
    with pytest.raises(ValueError, match="expected letters"):
        pronouncer(trained, "x1")
