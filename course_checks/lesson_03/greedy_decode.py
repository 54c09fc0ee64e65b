"""3.4 · Greedy decoding with an end symbol."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import DECODING
from ..deciding.wrong_answer import stops_with

OWN_PADDING = "the model itself says `pad_id` or `start_id`"
# the steps at which the rows say the end symbol, V, (start, end, pad), max_len, what rows say otherwise, labels
CASES = (
    ((2,), 5, (1, 2, 0), 6, (), ()),
    ((4, 2, 0), 8, (1, 2, 0), 9, (), ()),
    ((1, 5, 3, 9), 9, (3, 7, 5), 6, ((1, 2, "pad"), (3, 1, "start")), (OWN_PADDING,)),
    ((6, 9), 7, (6, 0, 4), 5, (), ("no row ends",)),
    ((0, 1), 7, (2, 4, 6), 8, (), ()),
    ((1, 9), 7, (5, 3, 2), 4, ((1, 3, "pad"),), (OWN_PADDING, "the only row that goes on says `pad_id`")),
    ((0, 0), 6, (3, 1, 5), 4, (), ("all rows end in the first step",)),
    ((4, 2, 0), 8, (1, 2, 0), 9, (), ()),  # sizes seen before, other numbers
)


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    return [make_case(rng, *each) for each in CASES]


def make_case(rng, stops, V, special, max_len, says, labels):
    start_id, end_id, pad_id = special
    B, steps = len(stops), max_len + 2
    table = torch.randn(B, steps, V, V, generator=rng)  # scores by row, step, last symbol
    table[..., list(special)] -= 20.0  # nothing special, except at the chosen steps
    for row, stop in enumerate(stops):
        for again in {stop, stop + 2}:
            if again < steps:
                table[row, again, :, end_id] += 60.0
    for row, step, name in says:
        table[row, step, :, pad_id if name == "pad" else start_id] += 60.0
    state = torch.stack((torch.arange(B), torch.zeros(B, dtype=torch.long)), dim=1)  # row, steps made
    ids = {"start_id": start_id, "end_id": end_id, "pad_id": pad_id}
    return Case(*labels, state=state, **ids, max_len=max_len, driver={"table": table})


EXERCISE = Exercise(
    cases,
    returns=("tokens",),
    driver="drive_greedy_decode",
    off_limits=DECODING,
    symptoms=(
        stops_with(
            "step was called more than",
            "your loop goes on: some row never ends, or its end is not remembered, and max_len does not stop it.",
            "make at most max_len steps, and leave the loop earlier.",
            "goes on",
        ),
    ),
    pairs=100,
    advice="follow one row by hand: print the chosen symbols and your record of which rows have ended, step by step.",
)
