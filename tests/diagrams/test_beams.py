import math

import pytest

from course_utils.diagrams import Beam, beam_tree, looked_at

STEPS = [
    [Beam(("K",), math.log(0.5), True), Beam(("S",), math.log(0.25), True), Beam(("T",), math.log(0.1), False)],
    [
        Beam(("K", "AE"), math.log(0.2), True),
        Beam(("S", "end"), math.log(0.24), True, ended=True),
        Beam(("K", "EY"), math.log(0.01), False),
    ],
]


def test_each_hypothesis_is_joined_with_what_it_came_from():
    ax = beam_tree(STEPS)
    assert len(ax.lines) == 6
    assert "best that ended: S end   p = 0.24" in ax.get_label()


def test_the_most_probable_stands_on_top():
    ax = beam_tree(STEPS)
    heights = {text.get_text(): text.get_position()[1] for text in ax.texts}
    assert heights["end  0.24"] > heights["AE  0.2"] > heights["EY  0.01"]


def test_all_that_were_kept_are_drawn_and_few_others():
    many = [[Beam((str(n),), -float(n), n == 19) for n in range(20)]]
    assert sum(text.get_text().startswith("19") for text in beam_tree(many, most=2).texts) == 1
    assert len(beam_tree(many, most=2).lines) == 3


def test_nothing():
    with pytest.raises(ValueError, match="steps is empty"):
        beam_tree([])


def test_a_search_of_two_misses_what_three_find():
    after = {(): {"X": 0.4, "Y": 0.35, "Z": 0.25}, ("Z",): {"end": 0.95, "X": 0.05}}

    def log_probs(tokens):
        shares = after.get(tokens, {"end": 0.5 if tokens == ("Y",) else 0.4, "X": 0.2})
        return {token: math.log(share) for token, share in shares.items()}

    found = {}
    for size in (1, 2, 3):
        steps = looked_at(log_probs, size, max_len=2)
        found[size] = [beam.tokens for beam in steps[-1] if beam.kept and beam.ended]
        assert all(sum(beam.kept for beam in step) <= 2 * size for step in steps)
    assert ("Z", "end") in found[3] and ("Z", "end") not in found[2]
    assert len(looked_at(lambda tokens: {"a": -1.0}, 1, max_len=3)) == 3
