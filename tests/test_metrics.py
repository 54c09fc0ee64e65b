"""Edit distance, error rates, perplexity."""

import itertools
import math
import random

import pytest
import torch

from course_utils.datasets.text_windows import TEXT, encode_text
from course_utils.metrics import edit_distance, perplexity, phoneme_error_rate, text_scores, word_error_rate
from course_utils.models import DecoderConfig, DecoderLM
from course_utils.training import next_symbol_loss


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("sunday", "saturday", 3), ("ab", "ba", 2)],
)
def test_published_distances(a, b, distance):
    assert edit_distance(a, b) == distance == edit_distance(list(b), tuple(a))


def by_search(a, b):
    """The shortest way, tried out: one edit more at a time."""
    reached, distance = {a}, 0
    while b not in reached:
        distance += 1
        more = set()
        for s in reached:
            for i, c in itertools.product(range(len(s) + 1), "xy"):
                more |= {s[:i] + c + s[i:], s[:i] + s[i + 1 :], s[:i] + c + s[i + 1 :]}
        reached = more
    return distance


def test_distance_is_the_shortest_way():
    rng = random.Random(0)
    for _ in range(20):
        a, b = ("".join(rng.choices("xy", k=rng.randint(0, 4))) for _ in range(2))
        assert edit_distance(a, b) == by_search(a, b)


READ = [["R", "EH", "D"], ["R", "IY", "D"]]


def test_error_rates_by_hand():
    hypotheses = [["R", "IY", "D"], ["K", "AE", "T", "S"], []]
    references = [READ, [["K", "AE", "T"]], [["AH"]]]
    # 0 + 1 + 1 edits over 3 + 3 + 1 phonemes of the nearest references; two of three words wrong
    assert phoneme_error_rate(hypotheses, references) == pytest.approx(2 / 7)
    assert word_error_rate(hypotheses, references) == pytest.approx(2 / 3)
    assert word_error_rate([("R", "EH", "D")], [READ]) == 0.0  # a tuple is the same pronunciation


def test_not_per_hypothesis_and_not_averaged_per_word():
    assert phoneme_error_rate([["A"] * 6], [[["A", "A"]]]) == 2.0  # 4 edits over 2, not over 6
    assert phoneme_error_rate([["A"], ["B"] * 9], [[["C"]], [["B"] * 9]]) == pytest.approx(1 / 10)  # not (1 + 0) / 2
    # Of equally near references the first counts.
    assert phoneme_error_rate([["A", "B"]], [[["A"], ["A", "B", "C"]]]) == 1.0
    assert phoneme_error_rate([["A", "B"]], [[["A", "B", "C"], ["A"]]]) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: word_error_rate([], []), "empty"),
        (lambda: word_error_rate([["A"]], []), "1 hypotheses.*0 words"),
        (lambda: phoneme_error_rate([["A"]], [[]]), r"references\[0\]"),
        (lambda: phoneme_error_rate([["A"]], [[[]]]), r"references\[0\].*empty"),
        (lambda: phoneme_error_rate([["A"]], [["A", "B"]]), r"one pronunciation.*\[\['A', 'B'\]\]"),
        (lambda: perplexity(1.0, 0), r"num_tokens \(0\)"),
        (lambda: perplexity(-1.0, 3), r"total_nll \(-1.0\)"),
        (
            lambda: text_scores(Counting(), torch.zeros(23).long(), length=8, stride=9),
            r"stride \(9\) must be from 1 to length",
        ),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises(ValueError, match=words):
        call()


class Bigram(torch.nn.Module):
    """Scores of the next symbol from the present one alone."""

    def __init__(self):
        super().__init__()
        self.table = torch.randn(len(TEXT), len(TEXT), generator=torch.Generator().manual_seed(3))

    def forward(self, tokens):
        return self.table[tokens]


def test_loss_and_scores_written_out():
    model, text = Bigram(), encode_text("one or two or three, and so on and on")  # 37 symbols: 4 windows of 9
    log_probs = model.table.log_softmax(-1)
    nll = [-log_probs[a, b].item() for a, b in zip(text[:36], text[1:37], strict=True)]
    assert next_symbol_loss(model, text[None, :10]).item() == pytest.approx(sum(nll[:9]) / 9, rel=1e-5)
    scores = text_scores(model, text, length=9, batch_size=3)  # batches of 3 and 1: unequal
    assert scores["loss"] == pytest.approx(sum(nll) / 36, rel=1e-5)
    assert scores["perplexity"] == pytest.approx(math.exp(sum(nll) / 36), rel=1e-5)
    assert scores["bits"] == pytest.approx(sum(nll) / 36 / math.log(2), rel=1e-5)


class Counting(torch.nn.Module):
    """The surer of symbol 0 the more symbols stand before it in the window."""

    def forward(self, tokens):
        logits = torch.zeros(*tokens.shape, len(TEXT))
        logits[..., 0] = torch.arange(1.0, tokens.shape[1] + 1)  # grows with what stands before
        return logits


@pytest.mark.parametrize(("length", "stride"), [(8, 8), (8, 3), (8, 1), (5, 4)])
def test_overlapping_windows_score_each_character_once_with_enough_before_it(length, stride):
    text = torch.zeros(23, dtype=torch.long)
    scores = text_scores(Counting(), text, length=length, stride=stride, batch_size=2)
    before = [*range(1, length + 1)]  # of the characters of the first window
    while len(before) + stride <= len(text) - 1:
        before += range(length - stride + 1, length + 1)
    nll = [math.log(math.exp(n) + len(TEXT) - 1) - n for n in before]
    assert scores["loss"] == pytest.approx(sum(nll) / len(nll), rel=1e-5)


def test_scores_are_taken_without_dropout():
    torch.manual_seed(0)
    model = DecoderLM(DecoderConfig(len(TEXT), num_layers=1, d_model=8, d_ff=8, num_heads=2, dropout=0.5)).train()
    text = encode_text("to be or not to be, that is the question")
    assert text_scores(model, text, length=6) == text_scores(model, text, length=6)
