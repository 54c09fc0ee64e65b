"""Word vectors made from the documentation."""

import pytest
import torch

from course_utils.datasets.word_vectors import cooccurrence_counts, positive_pmi, two_halves, word_vectors

# Pairs that every Python from 3.10 on puts among the five nearest: the lesson's sentences rest on them.
SENSIBLE = {
    "float": {"complex", "int", "nan", "numbers"},
    "int": {"float", "complex"},
    "true": {"false"},
    "left": {"right"},
    "try": {"finally", "except"},
    "tuple": {"list", "range"},
    "list": {"tuple", "set"},
    "exception": {"typeerror", "valueerror", "raised", "attributeerror", "raise"},
    "bytes": {"bytearray"},
    "import": {"imported", "module"},
    "string": {"literal", "literals"},
    "generator": {"coroutine", "asynchronous", "function"},
}


def test_counts_by_hand():
    words = "cats chase mice dogs chase cats".split()
    counts = cooccurrence_counts(words, ["cats", "chase", "dogs", "mice"], window=1)
    assert counts.tolist() == [[0, 2, 0, 0], [2, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]]


def test_counts_with_a_wider_window_and_unknown_words():
    counts = cooccurrence_counts(["a", "rare", "b"], ["a", "b"], window=1)
    assert counts.sum() == 0  # the unknown word keeps its place between them
    assert cooccurrence_counts(["a", "rare", "b"], ["a", "b"], window=2).tolist() == [[0, 1], [1, 0]]


def test_ppmi_by_hand():
    counts = torch.tensor([[0.0, 2.0], [2.0, 4.0]])
    # Without smoothing P(0, 1) = 1/4, P(0) = 1/4, P(1) = 3/4, so log(4/3); P(1, 1) = 1/2 < 9/16, so 0.
    expected = torch.tensor([[0.0, 4 / 3], [4 / 3, 1.0]]).log().clamp(min=0)
    torch.testing.assert_close(positive_pmi(counts, smoothing=1.0), expected)


@pytest.mark.parametrize("word", SENSIBLE)
def test_neighbors_are_sensible(word):
    nearest = {neighbor for neighbor, _ in word_vectors().nearest(word, 5)}
    assert nearest & SENSIBLE[word] and word not in nearest, nearest


def test_vectors_do_not_depend_on_the_sign_that_the_svd_picks():
    vectors = word_vectors().vectors
    largest = torch.gather(vectors, 0, vectors.abs().argmax(0, keepdim=True))
    assert (largest > 0).all() and vectors.shape[1] == 100
    assert torch.equal(word_vectors()["float"], vectors[word_vectors().index("float")])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: word_vectors().index("flaot"), "flaot.*float"),
        (lambda: word_vectors().nearest("float", 0), r"k \(0\)"),
        (lambda: word_vectors(d=100_000), r"d \(100000\)"),
        (lambda: cooccurrence_counts(["a"], ["a"], 0), r"window \(0\)"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises((KeyError, ValueError), match=words):
        call()


def test_two_halves_share_words_but_no_paragraph():
    first, second = two_halves(seed=0)
    assert first.shape == second.shape and not torch.equal(first, second)
    assert torch.equal(first, first.T) and torch.equal(two_halves(seed=0)[0], first)
    assert first.sum(dim=1).min() > 0 and second.sum(dim=1).min() > 0
    fewer = two_halves(seed=0, min_count=50)[0]
    assert len(fewer) < len(first) < len(two_halves(seed=0, min_count=3)[0])
