"""Angles of positions and the rotation of feature pairs, made of steps, and what goes wrong in them."""

import torch

from ...probes.observe import observe_case
from ..compare import difference
from ..exercise import Fault
from ..symptoms.view import Told


def right_exponents(i, d):
    """The exponents of pairs ``i``, without their minus sign."""
    return 2 * i / d


def angles(places, i, d, *, base=10000.0, exponents=right_exponents):
    """One angle for each place and pair: ``(L, pairs)``, ``float64``."""
    if places.is_complex():  # the root of a negative position, which is tried on wrong answers
        raise TypeError("a position is a real number")
    return places.double()[:, None] * base ** -exponents(i.double(), d)


def halves(x):
    """Feature ``i`` and its partner ``i + d / 2``."""
    return x.chunk(2, dim=-1)


def neighbors(x):
    """Feature ``2 i`` and its partner ``2 i + 1``."""
    return x[..., 0::2], x[..., 1::2]


def side_by_side(a, b):
    """First features, then their partners."""
    return torch.cat([a, b], dim=-1)


def interleaved(a, b):
    """Each feature next to its partner."""
    return torch.stack([a, b], dim=-1).flatten(-2)


def counterclockwise(a, b, c, s):
    """The rotation of the plane."""
    return a * c - b * s, a * s + b * c


def clockwise(a, b, c, s):
    """The other way."""
    return a * c + b * s, b * c - a * s


def turned(x, angle, *, cut=halves, turn=counterclockwise, tables=lambda angle: (angle, angle), join=side_by_side):
    """``x`` ``(..., L, d)`` with each pair of features turned by its angle, ``(L, d / 2)``; each keyword is one step."""
    (first, _), (_, second) = (
        turn(*cut(x), one.cos().to(x.dtype), one.sin().to(x.dtype)) for one in tables(angle)
    )  # the angles of a feature and of its partner, which should be the same
    return join(first, second)


def exponent_faults(d):
    """What goes wrong in the exponents; ``d`` is what the size is called."""
    advice = (
        f"the exponent of pair i is -2 i / {d}: torch.arange(0, {d}, 2) holds the numbers 2 i; divide those by {d}."
    )
    return (
        Fault("exponent i/d",
            f"the exponent i / {d} instead of 2 i / {d}: from pair to pair the speeds fall half as fast.", advice,
            exponents=lambda i, d: i / d),
        Fault("exponent 4i/d", f"the exponent 4 i / {d}: the 2 is counted twice (2 i divided by {d} / 2, perhaps).",
            advice, exponents=lambda i, d: 4 * i / d),
        Fault("odd exponents",
            f"exponents that begin with 1 / {d}: even pair 0 turns by less than 1 radian a position.",
            "pair 0 has the exponent 0: count i from 0.", exponents=lambda i, d: (2 * i + 1) / d),
        Fault("up to the whole base", f"exponents that run from 0 to 1: 2 i divided by {d} - 2.",
            f"divide by {d}; the last exponent stays a little below 1.", exponents=lambda i, d: 2 * i / (d - 2)),
        Fault("one frequency", "all pairs turn at the same speed, that of pair 0.", advice,
            exponents=lambda i, d: 0 * i),
    )  # fmt: skip


def positive_exponents(place):
    """A symptom: the speeds grow. Seen in the case at ``place``; where angles are huge, rounding alone decides the rest."""

    def symptom(view):
        exercise, seen = view.exercise, view.cases[place]
        if seen["outcome"] != "returned" or not view.failing[place]:
            return None
        known = observe_case(exercise.with_parts(exponents=lambda i, d: -2 * i / d), view.inputs[place], exercise.probe)
        if difference(known["value"], seen["value"], exercise.returns, 1e-3, 1e-3):
            return None
        advice = "divide by that power, or make the exponent negative."
        return Told("fault", "frequencies growing", "a positive exponent: the pairs turn faster and faster.", advice)

    return symptom
