"""15.9 · Experiment: which division when?"""

import torch

from course_utils.distributed.layouts import layout
from course_utils.distributed.simulation import pair_table

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import number, numbers, one_of

LENGTH, TILE, RANKS = 96, 4, (3, 4)
NAMES = ("contiguous", "zigzag", "striped")
JOBS = ("full", "half", "window")
FINE = "window, tile 1"
BEHIND = 1.05  # how far a division of one's own may be behind the best of the three


def mask_of(case):
    """What may be seen in a case, (96, 96)."""
    query, key = torch.arange(LENGTH)[:, None], torch.arange(LENGTH)
    seen = key <= query
    if case == "half":
        return seen & (query < LENGTH // 2)
    return seen & (query - key < 16) if case.startswith("window") else seen


def table_of(positions, case):
    """The pairs of each rank in each step."""
    return pair_table(positions, mask_of(case), 1 if case == FINE else TILE)


def divided(name, ranks):
    """Positions of one of the three, (P, 96 / P)."""
    of = layout(name, LENGTH, ranks)
    return torch.stack([of.positions(rank) for rank in range(ranks)])


def time_of(table):
    """All ranks wait for one another after each step."""
    return int(table.amax(dim=0).sum())


def _measured(case, name):
    """The claim that the two times under a key are what the simulator counts."""

    def problem(results):
        given = numbers(results[case, name])
        if len(given) != len(RANKS):
            many = f"{len(given)} number{'s' * (len(given) != 1)}"
            return f"entry {(case, name)} holds {many}; it must be two, for 3 ranks and for 4."
        tables = [table_of(divided(name, ranks), case) for ranks in RANKS]
        right = [time_of(table) for table in tables]
        if given == right:
            return None
        if given == right[::-1]:
            return f"entry {(case, name)} has the time with 4 ranks first."
        for count, wrong in _OTHERS.items():
            if given == [wrong(table) for table in tables]:
                return f"entry {(case, name)} is {count}."
        for other, told in _other_runs(case, name):
            if given == other:
                return f"entry {(case, name)} holds {told}."
        return f"entry {(case, name)} is {given[0]:g} and {given[1]:g}, and the simulator counts something else there."

    return Claim(f"{case}, {name}", problem, _TIME)


_TIME = "pair_table(divided(name, P), seen[case], tile): take the largest number of each column, and add these up."
_OTHERS = {
    "the largest sum of a row: the work of one rank, as if it never waited for another": lambda t: int(
        t.sum(dim=1).max()
    ),
    "each rank's longest step added up, so rows and columns are exchanged": lambda t: int(t.amax(dim=1).sum()),
    "the work of all ranks together": lambda t: int(t.sum()),
    "the longest step alone": lambda t: int(t.max()),
}


def _other_runs(case, name):
    """What the same key holds if another tile, division or mask was taken, each with its words."""
    for other in (c for c in (*JOBS, FINE) if c != case):
        yield [time_of(table_of(divided(name, ranks), other)) for ranks in RANKS], f"the times of {other!r}"
    tile = TILE if case == FINE else 1
    seen = mask_of(case)
    yield [time_of(pair_table(divided(name, ranks), seen, tile)) for ranks in RANKS], f"the times in tiles of {tile}"
    for other in (n for n in NAMES if n != name):
        yield [time_of(table_of(divided(other, ranks), case)) for ranks in RANKS], f"the times of {other!r}"


def _best(case):
    """The claim which division is done first with 4 ranks."""

    def problem(results):
        if wrong := one_of(results, ("best", case), NAMES):
            return wrong
        times = {name: numbers(results[case, name])[1] for name in NAMES}
        if times[results["best", case]] == min(times.values()):
            return None
        listed = ", ".join(f"{name} {time:g}" for name, time in times.items())
        return f"entry {('best', case)} is {results['best', case]!r}, but by your numbers the times with 4 ranks are: {listed}."

    return Claim(f"best, {case}", problem, "the smallest time with 4 ranks, which is the second number of each list.")


def _times_as_fast(results):
    alone = time_of(table_of(divided("contiguous", 1), "half"))
    right, answer = alone / numbers(results["half", "zigzag"])[1], number(results["times as fast"])
    if abs(answer - right) <= 0.01:
        return None
    told = f"entry 'times as fast' is {answer:.3g}"
    full = time_of(table_of(divided("contiguous", 1), "full"))
    if abs(answer - 1 / right) <= 0.01:
        return f"{told}: that is the time on 4 ranks divided by the time of one. Turn it over."
    if abs(answer - full / numbers(results["half", "zigzag"])[1]) <= 0.02:
        return f"{told}: there the single rank computes a full text, and the four half a text."
    if abs(answer - alone / numbers(results["half", "zigzag"])[0]) <= 0.01:
        return f"{told}: that is for 3 ranks."
    return f"{told}; a single rank takes another time in the case 'half' in tiles of 4."


def _own(results):
    mine = torch.as_tensor(results["mine"])
    if mine.shape != (4, LENGTH // 4):
        return f"entry 'mine' has shape {tuple(mine.shape)}; it must be (4, 24), the places of each of 4 ranks."
    if sorted(mine.flatten().tolist()) != list(range(LENGTH)):
        return "entry 'mine' must hold each of the places 0 to 95 once."
    mine = mine.long()
    for case in JOBS:
        time, best = time_of(table_of(mine, case)), min(time_of(table_of(divided(name, 4), case)) for name in NAMES)
        if time > BEHIND * best:
            above = f"{time / best - 1:.0%} above the {best} of the best of the three"
            return f"in the case {case!r} your division takes {time}, which is {above}."
    return None


EXERCISE = Experiment(
    claims=(
        *(_measured(case, name) for case in (*JOBS, FINE) for name in NAMES),
        *(_best(case) for case in (*JOBS, FINE)),
        Claim(
            "times as fast",
            _times_as_fast,
            'pair_table(divided("contiguous", 1), seen["half"], 4) is the table of a single rank.',
        ),
        Claim(
            "mine",
            _own,
            "a tile should hold neighbors, and each rank needs some of every part of the text. How large is a chunk then, and "
            "must the same rank always get the later one?",
        ),
    )
)
