"""Edit distance, error rates, perplexity."""

import itertools
import math
import random

import pytest

from course_utils.metrics import edit_distance, perplexity, phoneme_error_rate, word_error_rate


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


def test_not_per_hypothesis_and_not_averaged_per_word():
    assert phoneme_error_rate([["A"] * 6], [[["A", "A"]]]) == 2.0  # 4 edits over 2, not over 6
    assert phoneme_error_rate([["A"], ["B"] * 9], [[["C"]], [["B"] * 9]]) == pytest.approx(1 / 10)  # not (1 + 0) / 2


def test_of_equally_near_references_the_first_counts():
    assert phoneme_error_rate([["A", "B"]], [[["A"], ["A", "B", "C"]]]) == 1.0
    assert phoneme_error_rate([["A", "B"]], [[["A", "B", "C"], ["A"]]]) == pytest.approx(1 / 3)


def test_tuples_and_lists_are_the_same_pronunciation():
    assert word_error_rate([("R", "EH", "D")], [READ]) == 0.0


def test_perplexity():
    assert perplexity(5 * math.log(7), 5) == pytest.approx(7)
    assert perplexity(0.0, 3) == 1.0


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
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises(ValueError, match=words):
        call()
