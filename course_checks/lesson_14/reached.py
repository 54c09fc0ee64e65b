"""14.4 · What can still matter."""

import torch

from ..deciding.exercise import Case, Exercise

SINKS, FULL, SHORT, MEET = (
    "a layer has sinks",
    "a layer has no limit",
    "the stretch reaches the beginning",
    "the sinks meet the stretch",
)


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def drawn(low, high):
        return int(torch.randint(low, high, (), generator=rng))

    def case(layers, position, *labels):
        return Case(*labels, layers=layers, position=position)

    windows = [drawn(2, 40) for _ in range(5)]
    several = [(drawn(5, 20), sinks) for sinks in (2, drawn(7, 12), 0, 4)]
    together = sum(window - 1 for window, _ in several)
    large = [(drawn(10**6, 10**7), drawn(1, 9)) for _ in range(30)]
    return [
        case([(4, 0), (3, 1)], 20, SINKS),
        case([(4, 0), (3, 1)], 6, SINKS, MEET),
        case([(3, 0)], 10),
        case([(window, 0) for window in windows], 1000),
        case([(1, 0), (1, 0)], 5),
        case([(5, 0), (None, 0), (3, 0)], 100, FULL, SHORT),
        case([(None, 0), (4, 0)], 50, FULL, SHORT),
        case([(9, 0), (2, 0)], 4, SHORT),
        case(several, 500, SINKS),
        case(several[::-1], 500, SINKS),
        case([(4, 3), (4, 3)], 30, SINKS),
        case(several, together + 6, SINKS, MEET),
        case([(4, 2), (4, 0)], 8, SINKS, MEET),  # the sinks 0 and 1, the stretch from 2 on
        case([(4, 2), (4, 0)], 9, SINKS),  # a gap of one
        case([(2, 10), (2, 0)], 5, SINKS, MEET),
        case([(2, 10), (2, 0)], 0, SINKS, MEET),
        case(large, 10**15 + drawn(0, 1000), SINKS),
    ]


EXERCISE = Exercise(
    cases,
    returns=("first", "count"),
    rtol=0.0,
    atol=0.0,
    advice="draw two layers with windows of 3 as two rows of dots, and go from the last dot of the upper row to what it sees.",
)
