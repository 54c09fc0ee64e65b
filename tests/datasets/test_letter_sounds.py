"""The sound of c: which words are taken, and what their vectors count."""

import pytest
import torch

from course_utils.datasets.letter_sounds import PLACES, SOUNDS, letters_around, sounds_of_c


def test_words_with_one_certain_sound():
    words, sounds = sounds_of_c("valid")
    assert len(words) == len(sounds) > 300 and set(sounds.tolist()) == {0, 1, 2, 3}
    assert all(word.count("c") == 1 and not set("kqsxz") & set(word) for word in words)
    known = dict(zip(*sounds_of_c("train"), strict=True))
    said = {word: SOUNDS[known[word]] for word in ("face", "nice", "fact", "victim")}
    assert said == {"face": "S", "nice": "S", "fact": "K", "victim": "K"}
    assert "accent" not in known and "disc" not in known


def test_dot_products_count_the_places_that_agree():
    rows = letters_around(["face", "pace", "fact"], reach=1)
    assert rows.shape == (3, 2 * len(PLACES))
    assert (rows @ rows.T).tolist() == [[2, 2, 1], [2, 2, 1], [1, 1, 2]]


def test_outside_the_word_is_a_letter_of_its_own():
    row = letters_around(["cat"], reach=2)[0].view(4, len(PLACES))
    assert "".join(PLACES[i] for i in row.argmax(-1)) == "..at" and torch.equal(row.sum(-1), torch.ones(4))


@pytest.mark.parametrize("word", ["bat", "accent", "Cat", ""])
def test_other_words_are_refused(word):
    with pytest.raises(ValueError, match="exactly one c"):
        letters_around([word])
