"""Needed, doubled or idle: what the errors without one head and without two say."""

import torch

from ...exercise import Case, Exercise
from ...kit.parts import faults_of


def head_roles(
    whole, alone, pairs, tolerance, *, alone_rise=lambda alone, whole: alone - whole, over=torch.gt,
    pair_rise=lambda pairs, alone, whole: pairs - alone[:, None], among=lambda over, needed: over.any(0),
    say=lambda needed, doubled: "needed" if needed else "doubled" if doubled else "idle",
):  # fmt: skip
    """A word for each head; each keyword is one step."""
    needed = over(alone_rise(alone, whole), tolerance)
    doubled = among(over(pair_rise(pairs, alone, whole), tolerance), needed)
    return [say(n, d) for n, d in zip(needed.tolist(), doubled.tolist(), strict=True)]


_PLAN = (  # whole, alone, those pairs that are not the larger of the two errors alone, tolerance; all exact in binary
    (0.0, [0.0, 0.0, 2.0, 0.0], {(0, 1): 1.0}, 0.5),
    (0.5, [0.75, 1.0, 0.75, 2.5, 0.5], {(0, 2): 1.5, (3, 4): 2.5, (0, 3): 2.75, (1, 4): 1.25}, 0.5),
    (1.0, [1.0, 2.0, 1.0, 1.25, 0.75, 1.0], {(0, 1): 3.5, (2, 3): 1.5, (4, 5): 1.125}, 0.25),
    (0.25, [0.5, 0.5, 0.5, 0.25], {(0, 1): 1.0, (1, 2): 0.75, (2, 3): 0.75, (0, 3): 0.5}, 0.25),
    (2.0, [3.0, 3.5, 3.0, 2.0, 4.0], {(0, 2): 3.75, (1, 4): 1.5, (0, 3): 3.0}, 1.0),
    (2.0, [2.5, 2.0, 0.5], {(0, 1): 3.25, (0, 2): 1.0, (1, 2): 0.5}, 1.0), (0.0, [0.0, 0.125], {(0, 1): 1.0}, 0.5),
    (0.5, [0.5, 1.5, 0.75], {(0, 1): 2.25}, 0.5),
)  # fmt: skip


def _cases(seed):
    """The example as it stands; in the others the order of the heads is drawn."""
    rng, cases = torch.Generator().manual_seed(seed), []
    for whole, errors, known, tolerance in _PLAN:
        alone = torch.tensor(errors, dtype=torch.float64 if len(cases) % 2 else torch.float32)
        pairs = torch.maximum(alone[:, None], alone[None, :])
        for (g, h), error in known.items():
            pairs[g, h] = pairs[h, g] = error
        order = torch.randperm(len(alone), generator=rng) if cases else torch.arange(len(alone))
        cases.append(Case(whole=whole, alone=alone[order], pairs=pairs[order][:, order], tolerance=tolerance))
    return cases


EXERCISE = Exercise(
    answer="head_roles", cases=_cases, reference=head_roles, returns=("roles",),
    faults=(
        *faults_of("pair_rise", "for each other head g, take pairs[g, h] less alone[g]: what is added once g is gone.",
            ("pairs against the whole", "the error without two is compared with that of the whole model: an idle head beside "
             "a needed one passes for doubled.", lambda pairs, alone, whole: (pairs - whole).fill_diagonal_(-torch.inf)),
            ("against its own error", "the error without two is compared with the error without this head itself.",
             lambda pairs, alone, whole: pairs - alone[None, :]),
            ("more than the larger", "the larger of the two errors without one is taken off, whichever head comes first.",
             lambda pairs, alone, whole: pairs - torch.maximum(alone[:, None], alone[None, :])),
            ("more than the smaller", "the smaller of the two errors without one is taken off: beside a needed head an idle "
             "one passes for doubled.", lambda pairs, alone, whole: (pairs - torch.minimum(
                 alone[:, None], alone[None, :])).fill_diagonal_(-torch.inf)),
            ("more than the sum", "both single rises are taken off the error without two.",
             lambda pairs, alone, whole: pairs - alone[:, None] - alone[None, :] + whole)),
        *faults_of("alone_rise", "take the error of the whole model off first: a rise is meant.",
            ("errors themselves", "the errors without one are compared with the tolerance as they are.",
             lambda alone, whole: alone)),
        *faults_of("over", "ask for a rise of more than the tolerance: difference > tolerance.",
            ("tolerance itself counts", "a rise of the tolerance itself is counted.", torch.ge, "use >, not >=."),
            ("either direction", "a fall of the error is counted as well as a rise.", lambda rise, least: rise.abs() > least)),
        *faults_of("say", "needed comes first, then doubled, and what is left is idle.",
            ("never doubled", "no head is called doubled.", lambda needed, doubled: "needed" if needed else "idle"),
            ("doubled before needed", "a head that is needed is called doubled where both hold.",
             lambda needed, doubled: "doubled" if doubled else "needed" if needed else "idle")),
        *faults_of("among", "any other head g will do, needed or not, and one of them is enough.",
            ("with every other", "a head counts as doubled only if it is missed beside every other head.",
             lambda over, needed: (over | torch.eye(len(over), dtype=torch.bool)).all(0)),
            ("needed ones left out", "only heads that aren't needed themselves are tried as the other head.",
             lambda over, needed: (over & ~needed[:, None]).any(0))),
    ),
    advice="print pairs[g, h] - alone[g] for all g and h of failing_case(): what taking out h adds once g is gone.",
)  # fmt: skip
