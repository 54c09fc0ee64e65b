"""Pronouncing words: order kept, every word alone, bad words named; error rates on a model that knows its lines."""

import pytest
import torch

from course_utils.pronounce import (
    SOUNDS,
    SPELLING,
    error_rates,
    error_rates_by_length,
    pronounce,
    require_word,
    teacher_forced_loss,
)
from course_utils.recurrent import RecurrentSeq2Seq


class Reader(torch.nn.Module):
    """Says K for every c, AE for every a, T for every t, and nothing else."""

    SAYS = {SPELLING.encode(a)[0]: SOUNDS.encode([b])[0] for a, b in (("c", "K"), ("a", "AE"), ("t", "T"))}

    def start_decoding(self, source, *, max_len):
        return [[self.SAYS[i] for i in row.tolist() if i in self.SAYS] for row in source], 0

    def decode_step(self, state, tokens):
        rows, step = state
        scores = torch.full((len(rows), len(SOUNDS)), -9.0)
        for b, row in enumerate(rows):
            scores[b, row[step] if step < len(row) else 2] = 0.0
        return scores, (rows, step + 1)


def test_the_order_of_the_words_is_kept():
    words = ["tact", "at", "Cat", "ox", "attack"]
    assert pronounce(Reader(), words, batch_size=2) == [
        ("T", "AE", "K", "T"),
        ("AE", "T"),
        ("K", "AE", "T"),
        (),
        ("AE", "T", "T", "AE", "K"),
    ]


def test_error_rates_by_hand():
    words = {
        "cat": (("K", "AE", "T"),),
        "act": (("AE", "K", "S"), ("AE", "K", "T")),
        "attack": (("AH", "T", "AE", "K"),),
    }
    assert error_rates(Reader(), words) == pytest.approx({"WER": 1 / 3, "PER": 2 / 10})
    short, long = error_rates_by_length(Reader(), words, [(1, 3), (4, 9)])
    assert short == {"words": 2, "WER": 0.0, "PER": 0.0} and long == {"words": 1, "WER": 1.0, "PER": 0.5}


def test_loss_is_of_the_next_symbol_and_padding_does_not_count():
    torch.manual_seed(0)
    model = RecurrentSeq2Seq(len(SPELLING), len(SOUNDS), attention=True, d_embed=5, d_hidden=7)
    source, target = torch.tensor([[3, 4, 5], [6, 0, 0]]), torch.tensor([[1, 9, 8, 7, 2], [1, 5, 2, 0, 0]])
    losses = []
    for row, (s, t) in enumerate(((3, 5), (1, 3))):
        log_probs = model(source[row : row + 1, :s], target[row : row + 1, : t - 1]).log_softmax(-1)[0]
        losses += [-log_probs[i, target[row, i + 1]] for i in range(t - 1)]
    torch.testing.assert_close(teacher_forced_loss(model, (source, target)), torch.stack(losses).mean())


@pytest.mark.parametrize(
    ("word", "reason"),
    [("", "is empty"), ("caf\u00e9", "'\u00e9'"), ("b2b", "'2'"), ("two words", "' '"), ("a" * 500, "500 letters")],
)
def test_words_that_cannot_be_read_are_named(as_a_user, word, reason):
    with pytest.raises(ValueError, match=reason) as caught:
        pronounce(Reader(), ["cat", word])
    assert len(str(caught.value)) < 150
    assert require_word("KnighT") == "knight"


def test_an_empty_group_is_named():
    with pytest.raises(ValueError, match="20 to 30 letters"):
        error_rates_by_length(Reader(), {"cat": (("K",),)}, [(20, 30)])
