import itertools

from matplotlib.colors import to_rgb

from course_utils.diagrams.palette import ROLES


def test_query_key_and_value_are_told_apart_without_green_or_red():
    """In the colors that are left to readers who cannot tell red from green: blue-yellow and lightness."""
    seen = {}
    for role in ("query", "key", "value", "weights", "output", "cache"):
        red, green, blue = to_rgb(ROLES[role])
        yellow = (red + green) / 2
        seen[role] = (yellow - blue, 0.3 * red + 0.6 * green + 0.1 * blue)
    for one, other in itertools.combinations(("query", "key", "value"), 2):
        assert max(abs(a - b) for a, b in zip(seen[one], seen[other], strict=True)) > 0.1, (one, other)
