"""Lesson 08: the course's own positions are off limits; a score is a function that reads a table."""

import operator

from ..probe import Probe

NAMES = "rotary_angles SinusoidalPositions shift_matrix apply_rope RotaryPositions alibi_slopes alibi_bias"
POSITIONS = tuple(f"course_utils.positions.{name}" for name in NAMES.split())


def _with_a_score(answer, arguments):
    """The answer gets a function in place of the table of scores."""
    table, length = arguments["scores"].tolist(), arguments["length"]

    def score(m, n):
        m, n = operator.index(m), operator.index(n)
        if not (0 <= m < length and 0 <= n < length):
            raise ValueError(f"score({m}, {n}): positions run from 0 to {length - 1}")
        return table[m][n]

    return answer(score, length)


PROBES = {
    "sinusoidal_table": Probe(off_limits=POSITIONS),
    "shift_matrix": Probe(off_limits=POSITIONS),
    "rope": Probe(off_limits=POSITIONS, gradients=True),
    "distance_only": Probe(call=_with_a_score),
    "to_neighbors": Probe(),
    "alibi_bias": Probe(off_limits=POSITIONS),
    "rotary_scores": Probe(off_limits=POSITIONS, gradients=True),
    "long_results": Probe(expects="value"),
}
