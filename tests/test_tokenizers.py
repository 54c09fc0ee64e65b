"""Symbols to ids and back."""

import pytest
import torch

from course_utils.tokenizers import LETTERS, PHONEMES, Tokenizer, pad


def test_ids_by_hand():
    letters = Tokenizer(LETTERS)
    assert len(letters) == 29 and letters.symbols[:4] == ("<pad>", "<start>", "<end>", "a")
    assert letters.encode("cab", start=True, end=True) == [1, 5, 3, 4, 2]
    assert len(Tokenizer(PHONEMES)) == 42 and tuple(sorted(set(PHONEMES))) == PHONEMES


@pytest.mark.parametrize("sequence", ["", "z", "attention", list("abc")])
def test_what_is_encoded_is_decoded(sequence):
    letters = Tokenizer(LETTERS)
    assert letters.decode(letters.encode(sequence, start=True, end=True)) == list(sequence)


def test_decoding_stops_at_the_first_end_symbol():
    letters = Tokenizer(LETTERS)
    assert letters.decode(torch.tensor([1, 3, 2, 4, 2, 0])) == ["a"]
    assert letters.decode([3, 0, 4]) == ["a", "b"]


def test_batches_are_padded_on_the_right():
    words = Tokenizer(["no", "yes"])
    assert words.batch([["yes"], ["no", "no", "yes"], []], end=True).tolist() == [
        [4, 2, 0, 0],
        [3, 3, 4, 2],
        [2, 0, 0, 0],
    ]
    assert pad([[7], [8, 9]]).dtype == torch.long


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Tokenizer("abca"), "'a' twice"),
        (lambda: Tokenizer(["<pad>"]), "<pad>"),
        (lambda: Tokenizer(LETTERS).encode("caf\u00e9"), "'\u00e9' at place 3.*26 symbols"),
        (lambda: Tokenizer(LETTERS).decode([3, 99]), "99.*29"),
        (lambda: Tokenizer(LETTERS).decode([-1]), "-1"),
        (lambda: Tokenizer(LETTERS).batch([]), "sequences is empty"),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises(ValueError, match=words):
        call()
