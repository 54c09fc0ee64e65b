"""RoPE."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit import rotation
from ...symptoms.beside import remembers
from ...symptoms.view import Told


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [Case(x=torch.tensor([[[[1.0, 0.0, 0.0, 1.0]]]]), positions=torch.tensor([1]), base=100.0)]
    again = "an earlier call had the same sizes and base"
    for (B, H, L, d), base, dtype, *labels in (
        ((2, 3, 1, 4), 100.0, torch.float32),
        ((2, 4, 5, 6), 10000.0, torch.float32),
        ((3, 2, 7, 8), 10000.0, torch.float64),
        ((1, 5, 4, 10), 500.0, torch.float32),
        ((3, 2, 8, 6), 200.0, torch.float32),  # d_head 6 came first with base 10000: a fault below knows it
        ((2, 4, 5, 6), 10000.0, torch.float32, again),
        ((1, 2, 3, 2), 10000.0, torch.float32, "the positions are large"),  # turned by 1: exact in float32 too
    ):
        places = torch.randint(3, 1500 if "the positions are large" in labels else 40, (L,), generator=rng)
        cases.append(Case(*labels, x=torch.randn(B, H, L, d, generator=rng).to(dtype), positions=places, base=base))
    return cases


def rope(
    x, positions, base, *,
    places=lambda given: given, bases=lambda base, d: base, exponents=rotation.right_exponents,
    cut=rotation.halves, turn=rotation.counterclockwise, tables=lambda angle: (angle, angle),
    join=rotation.side_by_side,
):  # fmt: skip
    """RoPE (Su et al. 2021, equation 34, with halves for pairs); each keyword is one step."""
    d = x.shape[-1]
    angle = rotation.angles(places(positions), torch.arange(d // 2), d, base=bases(base, d), exponents=exponents)
    return rotation.turned(x, angle, cut=cut, turn=turn, tables=tables, join=join)


def _first_already_new(a, b, c, s):
    a = a * c - b * s
    return a, a * s + b * c


def angles_in_float32(view):
    """Right but for rounding, and only where x is float64."""
    for index in view.wrong:
        want, have = view.expected[index]["value"], view.cases[index].get("value", {})
        if view.inputs[index]["x"].dtype != torch.float64 or have.get("dtype") != "float64":
            return None
        if have["shape"] != want["shape"] or not torch.allclose(have["value"], want["value"], rtol=1e-4, atol=1e-4):
            return None
    said = "right but for rounding where x is float64: the angles, or what they are made of, are float32."
    advice = "compute the angles in float64: torch.arange(0, d_head, 2, dtype=torch.float64)."
    return Told("symptom", "angles in float32", said, advice)


_TURN = "(a, b) becomes (a cos - b sin, a sin + b cos)."

EXERCISE = Exercise(
    answer="rope", cases=_cases, reference=rope, returns=("turned",),
    symptoms=(remembers, angles_in_float32, rotation.positive_exponents(1)), faults=(
        Fault("neighbors", "pairs of neighbors (2 i, 2 i + 1), as in the paper; asked for are pairs (i, i + d_head / 2).",
            "cut the last axis into halves; entry i of each half makes pair i.", cut=rotation.neighbors,
            join=rotation.interleaved),
        Fault("halves cut, put back interleaved",
            "pairs of halves turned, and then put back as neighbors: the features end up in another order.",
            "torch.cat([new first half, new second half], dim=-1).", join=rotation.interleaved),
        Fault("neighbors cut, put back as halves", "pairs of neighbors turned, and then put back as halves.",
            "cut the last axis into halves, and put the halves side by side again.", cut=rotation.neighbors),
        Fault("halves, tables of neighbors", "paired as halves, but with the angles of neighbors: the two features of "
            "a pair turn by different angles.", "repeat the table of angles for both halves: torch.cat([angle, angle], "
            "dim=-1).", tables=lambda angle: rotation.halves(rotation.interleaved(angle, angle))),
        Fault("neighbors, tables of halves",
            "paired as neighbors, but with the angles of halves: the two features of a pair turn by different angles.",
            "pair the halves: the partner of feature i is i + d_head / 2.", cut=rotation.neighbors,
            join=rotation.interleaved, tables=lambda angle: rotation.neighbors(rotation.side_by_side(angle, angle))),
        Fault("backward", "turned the other way: clockwise.", f"{_TURN} The minus stands in the first half.",
            turn=rotation.clockwise),
        Fault("minus sign missing", "no minus sign: that is no rotation, and lengths change.", _TURN,
            turn=lambda a, b, c, s: (a * c + b * s, a * s + b * c)),
        Fault("two minus signs", "a minus sign in both halves: that is no rotation, and lengths change.", _TURN,
            turn=lambda a, b, c, s: (a * c - b * s, b * c - a * s)),
        Fault("sine and cosine exchanged", "sine and cosine exchanged: at position 0 nothing should turn, yours turns "
            "a quarter.", _TURN, turn=lambda a, b, c, s: rotation.counterclockwise(a, b, s, c)),
        Fault("second half not turned", "only the first half of the features is turned.",
            "the second half becomes a sin + b cos.", turn=lambda a, b, c, s: (a * c - b * s, b)),
        Fault("first half already new", "the second half is computed from the new first half.",
            "give the new first half another name; both are computed from the old a and b.", turn=_first_already_new),
        Fault("cosines only", "only the cosine part: features are made smaller, and nothing is turned.",
            f"each new feature takes from both of its pair: {_TURN}", turn=lambda a, b, c, s: (a * c, b * c)),
        Fault("added", "sines and cosines are added to x, as for sinusoidal positions.",
            "RoPE adds nothing: it turns pairs of features.", cut=rotation.neighbors, join=rotation.interleaved,
            turn=lambda a, b, c, s: (a + s, b + c)),
        *rotation.exponent_faults("d_head"),
        Fault("base 10000 always", "the base 10000, whatever base says.", "use the argument base.",
            bases=lambda base, d: 10000.0),
        Fault("angles kept from an earlier call", "angles kept from an earlier call with the same d_head; base is "
            "another now.", "compute the angles anew in each call, or keep them by d_head and base.",
            bases=lambda base, d: 10000.0 if d == 6 else base),
        Fault("positions not used", "positions 0, 1, 2 ..., whatever positions says. With a cache that is the restart at 0.",
            "use the argument positions: it says where each token stands.", places=lambda given: torch.arange(len(given))),
        Fault("from the first position on", "only the first position is used, and counted on from there.",
            "each token has its own entry in positions, in any order.",
            places=lambda given: given[0] + torch.arange(len(given))),
        Fault("relative to the first", "positions counted from the first token of the call.",
            "use the positions as they are given.", places=lambda given: given - given[0]),
        Fault("relative to the smallest", "positions counted from the smallest one of the call.",
            "use the positions as they are given.", places=lambda given: given - given.min()),
        Fault("positions from 1", "every position is one too large.",
            "use the positions as they are given; position 0 does not turn at all.", places=lambda given: given + 1),
    ),
    advice="turn [1, 0] at position 2 with base 1: it must be [cos 2, sin 2]. Then print your table of angles: (L, d_head / 2).",
)  # fmt: skip
