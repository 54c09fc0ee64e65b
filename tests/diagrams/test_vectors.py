import math

import pytest
import torch

from course_utils.diagrams import clock_hands, projection, rotation, word_map
from course_utils.positions import RotaryPositions, SinusoidalPositions


def test_shadow_times_length_is_the_dot_product():
    said = projection(torch.tensor([3.0, 4.0]), torch.tensor([2.0, 0.0])).get_label()
    assert "a · b = 6" in said and "shadow of a 3 × length of b 2" in said and "angle 53°, cosine 0.6" in said


def test_a_vector_that_is_zero(as_a_user):
    assert "a · b = 0" in projection(torch.zeros(2), torch.tensor([2.0, 0.0])).get_label()
    with pytest.raises(ValueError, match="b is zero"):
        projection(torch.ones(2), torch.zeros(2))
    with pytest.raises(ValueError, match=r"a has shape \(3,\)"):
        projection(torch.ones(3), torch.ones(2))


def test_the_dot_product_follows_from_the_distance_as_in_the_library():
    query, key, places = torch.tensor([1.0, 0.4]), torch.tensor([0.8, 0.9]), [(3, 1), (9, 7), (5, 0)]
    said = rotation(
        query, key, places, frequency=1.0
    ).get_label()  # a head of two features turns by one radian a position
    rotary = RotaryPositions(2)
    for m, n in places:
        score = float(rotary(query.view(1, 1, 1, 2), m) @ rotary(key.view(1, 1, 1, 2), n).mT)
        assert f"query at {m}, key at {n}: {score:.2f}".rstrip("0").replace("-", "−") in said
    assert said.count(": 0.82") == 2 or len(set(said.split("; ")[1:3])) == 2


def test_a_map_shows_the_directions_in_which_words_differ():
    vectors = torch.zeros(4, 9)
    vectors[:, 3] = torch.tensor([-1.0, 1.0, -1.0, 1.0])
    vectors[:, 7] = torch.tensor([-0.5, -0.5, 0.5, 0.5])
    ax = word_map(vectors, ["a", "b", "c", "d"], near=[("a", "b")])
    assert "(100% of the variance)" in ax.get_label() and "Joined: a and b" in ax.get_label()
    centers = [patch.center for patch in ax.patches]
    assert math.isclose(math.dist(centers[0], centers[1]), math.dist(centers[2], centers[3]))


def test_what_does_not_fit(as_a_user):
    with pytest.raises(ValueError, match=r"words \(1\)"):
        word_map(torch.ones(1, 3), ["a"])
    with pytest.raises(ValueError, match=r"near \('a', 'x'\)"):
        word_map(torch.rand(2, 3), ["a", "b"], near=[("a", "x")])
    with pytest.raises(ValueError, match="places is empty"):
        rotation(torch.ones(2), torch.ones(2), [])
    with pytest.raises(ValueError, match="not both zero"):
        rotation(torch.zeros(2), torch.ones(2), [(0, 0)])


def test_hands_point_where_the_library_says(as_a_user):
    ax = clock_hands([0, 3], 4)
    x = torch.zeros(1, 4, 4)
    sine, cosine = SinusoidalPositions(4, 4)(x)[0, 3, 2:]  # pair 1 at position 3: the last hand drawn
    hand = ax.patches[-1]
    start, end = hand._posA_posB
    turned = math.atan2(end[0] - start[0], end[1] - start[1])
    assert math.isclose(turned, math.atan2(sine, cosine), abs_tol=1e-5)
    assert "turned by 172, 2 degrees" in ax.get_label()
    with pytest.raises(ValueError, match=r"d \(3\) must be even"):
        clock_hands([1], 3)
