"""Lists and strings."""

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
        (lambda n, word: counted(n, word)[1:] + counted(n, word)[:1], "shifted"),
        (lambda n, word: [*counted(n, word), 9, 9], "goes on after the right end"),
        (lambda n, word: counted(n, word)[:-2], "stops too early"),
        (lambda n, word: [9, *counted(n, word)], "begins too early"),
        (lambda n, word: counted(n, word)[2:], "lacks its beginning"),
    ],
)
def test_lists(answer, name):
    found_by, found_name, sentence = diagnosis(counted, answer, *CASES)
    assert (found_by, found_name) == ("symptom", name) and "`result`" in sentence
