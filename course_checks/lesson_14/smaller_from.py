"""14.8 · When the hybrid is smaller."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import stops_with

TOO_MANY = "so many steps are needed by trying one length after another"
AGAIN, NEVER, ALWAYS, EQUAL = (
    "the smaller one changes several times",
    "there is no such length",
    "the hybrid is smaller at every length",
    "both are equal at some lengths",
)


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def drawn(low, high):
        return int(torch.randint(low, high, (), generator=rng))

    def case(label, hybrid, other, *sizes):
        labels = (label,) if label else ()
        sizes = dict(zip(("num_heads", "num_kv_heads", "d_head"), sizes or (1, 1, 1), strict=True))
        return Case(*labels, hybrid=hybrid, other=other, **sizes)

    full, large = ("full",), drawn(10**6, 10**7)
    return [
        case("", [full, ("state", 4, 4)], [full, full]),
        case(NEVER, [full, ("state", 4, 4)], [full, ("window", 12, 4)]),
        case(EQUAL, [full, ("window", 3, 0)], [full, ("window", 8, 0)]),
        case("", [full, ("state", 8, 6)], [full, full], 4, 2, 3),
        case("", [("window", drawn(20, 40), 4), full], [full] * 2, 6, 3, 8),
        case("", [("state", 16, drawn(10, 30))] * 3, [full, ("window", 9, 2), ("window", 7, 1)], 4, 2, 5),
        # three windows against one full layer and a state: smaller, larger, smaller for good
        case(AGAIN, [("window", 20, 0)] * 3, [full, ("state", 4, 8)]),
        case(AGAIN, [("window", drawn(15, 25), 2)] * 4 + [("state", 2, 2)], [full, ("state", 6, 4)], 2, 1, 1),
        # smaller in between only
        case(NEVER, [full, ("state", 3, 3)], [("window", 30, 0)] * 3),
        # larger, smaller, larger, and smaller for good
        case(AGAIN, [("window", 58, 2)] * 3 + [("state", 3, 3)], [("window", 10, 0)] * 5 + [full]),
        case("", [full, ("state", 3, 3), ("window", 5, 1)], [("window", 30, 0)] * 3 + [full]),
        case(ALWAYS, [("state", 1, 1)], [full, ("state", 1, 1)]),
        case(ALWAYS, [full, ("window", 1, 0)], [full, full, ("state", 2, 2)]),
        case(NEVER, [full, ("window", 8, 2)], [full, ("window", 8, 2)]),
        case(NEVER, [full, ("window", 6, 4)], [("window", 10, 0), full]),
        case(EQUAL, [full, ("window", 9, 3)], [full, full]),
        case("", [full] * 4 + [("state", 128, 128)] * 28, [full] * 32, 32, 8, 128),
        case(AGAIN, [("window", large, 4)] * 5, [full, ("state", 512, 4096)], 4, 2, 2),
    ]


EXERCISE = Exercise(
    cases,
    returns=("length",),
    rtol=0.0,
    atol=0.0,
    most_operations=20_000,
    too_many=TOO_MANY,
    symptoms=(
        stops_with(
            TOO_MANY,
            "the answer takes very many steps, as if it tried one length after another.",
            "ask where the difference of the two sizes can change its direction, and look only there.",
            "takes too many steps",
        ),
    ),
    advice="take the first example, and print the bytes of both models for the lengths 1, 16, 17 and 18.",
)
