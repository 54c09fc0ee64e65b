"""Lists, strings and dicts."""

import pytest
from toy_exercises import diagnosis

CASES = [{"n": 5, "word": "Ab"}, {"n": 8, "word": "xYz"}]


def counted(n, word):
    return [(7 * i) % n for i in range(n)]


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (lambda n, word: counted(n, word)[::-1], "reversed"),
        (lambda n, word: sorted(counted(n, word)), "sorted"),
        (lambda n, word: counted(n, word)[1:], "without the first"),
        (lambda n, word: counted(n, word)[:-1], "without the last"),
        (lambda n, word: counted(n, word)[:1], "only the first"),
        (lambda n, word: [*counted(n, word), 9, 9], "goes on after the right end"),
        (lambda n, word: counted(n, word)[:-2], "stops too early"),
        (lambda n, word: [9, *counted(n, word)], "begins too early"),
        (lambda n, word: counted(n, word)[2:], "lacks its beginning"),
    ],
)
def test_lists(answer, name):
    found_by, found_name, sentence = diagnosis(counted, answer, *CASES)
    assert (found_by, found_name) == ("symptom", name) and "`result`" in sentence


def test_the_right_items_in_another_order():
    def answer(n, word):
        right = counted(n, word)
        return [right[2], *right[:2], *right[3:]]

    assert diagnosis(counted, answer, *CASES)[1] == "another order"


@pytest.mark.parametrize(("answer", "name"), [(str.lower, "lower case"), (str.upper, "upper case")])
def test_strings(answer, name):
    assert diagnosis(lambda n, word: word + "Qq", lambda n, word: answer(word + "Qq"), *CASES)[1] == name


def test_keys():
    found_by, name, sentence = diagnosis(
        lambda n, word: {"a": n, "b": n}, lambda n, word: {"a": n, "c": n, "d": n}, {"n": 3, "word": ""}
    )
    assert name == "other keys" and "1 missing ('b'), 2 too many ('c', 'd')" in sentence
