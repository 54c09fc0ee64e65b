"""A language model of characters: windows that overlap by one, losses and scores against sums written out."""

import math

import pytest
import torch

from course_utils.language_model import TEXT, decode_text, encode_text, next_symbol_loss, text_scores, windows
from course_utils.models import DecoderConfig, DecoderLM


class Bigram(torch.nn.Module):
    """Scores of the next symbol from the present one alone."""

    def __init__(self):
        super().__init__()
        self.table = torch.randn(len(TEXT), len(TEXT), generator=torch.Generator().manual_seed(3))

    def forward(self, tokens):
        return self.table[tokens]


def test_text_to_ids_and_back():
    assert decode_text(encode_text("def f(x):\n\treturn \u201cx\u201d \u00df")) == 'def f(x):\n    return "x" ?'
    assert len(TEXT) == 3 + 96


def test_windows_in_order_predict_every_symbol_once():
    ids = torch.arange(3, 3 + 23)
    found = torch.cat(windows(ids, 5, 3))
    assert found.tolist() == [list(range(first, first + 6)) for first in (3, 8, 13, 18)]  # 24 and 25 are left over
    assert [len(batch) for batch in windows(ids, 5, 3)] == [3, 1]


def test_windows_of_another_seed_are_cut_and_ordered_otherwise():
    ids = torch.arange(200)
    epochs = [torch.cat(windows(ids, 8, 4, seed=seed)) for seed in range(6)]
    for epoch in epochs:
        first = epoch[:, 0].sort().values
        assert (first.diff() == 8).all() and first[0] < 8 and len(first) >= 23
        assert (epoch.diff() == 1).all()
    assert len({tuple(epoch[:, 0].tolist()) for epoch in epochs}) == 6
    assert len({int(epoch[:, 0].min()) for epoch in epochs}) > 1
    assert torch.equal(epochs[0], torch.cat(windows(ids, 8, 4, seed=0)))


def test_loss_and_scores_written_out():
    model, text = Bigram(), encode_text("one or two or three, and so on and on")  # 37 symbols: 4 windows of 9
    log_probs = model.table.log_softmax(-1)
    nll = [-log_probs[a, b].item() for a, b in zip(text[:36], text[1:37], strict=True)]
    assert next_symbol_loss(model, text[None, :10]).item() == pytest.approx(sum(nll[:9]) / 9, rel=1e-5)
    scores = text_scores(model, text, length=9, batch_size=3)  # batches of 3 and 1: unequal
    assert scores["loss"] == pytest.approx(sum(nll) / 36, rel=1e-5)
    assert scores["perplexity"] == pytest.approx(math.exp(sum(nll) / 36), rel=1e-5)
    assert scores["bits"] == pytest.approx(sum(nll) / 36 / math.log(2), rel=1e-5)


def test_scores_are_taken_without_dropout():
    torch.manual_seed(0)
    model = DecoderLM(DecoderConfig(len(TEXT), num_layers=1, d_model=8, d_ff=8, num_heads=2, dropout=0.5)).train()
    text = encode_text("to be or not to be, that is the question")
    assert text_scores(model, text, length=6) == text_scores(model, text, length=6)


def test_bad_input_is_named(as_a_user):
    with pytest.raises(ValueError, match="text is empty"):
        encode_text("")
    with pytest.raises(ValueError, match=r"length \(0\)"):
        windows(torch.arange(30), 0, 2)
    with pytest.raises(ValueError, match="30 characters; expected at least two windows of length .20."):
        windows(torch.arange(30), 20, 2)
