# %% setup
from statistics import median

LENGTHS = (4, 8, 16, 32)
SEEDS = (0.7, 0.9, 1.0, 1.2, 1.6)
ROWS = {("recurrence", n): [s * 0.2 * 0.42 ** (n - 3) for s in SEEDS] for n in LENGTHS}
ROWS |= {("attention", n): [s / n for s in SEEDS] for n in LENGTHS}
READ = {"fades at": 8, "attention loses": 8.0, "below equal": 2}

# %% wrong: one seed
reach = {key: row[:1] for key, row in ROWS.items()} | READ

# %% wrong: attention was not measured
reach = {key: row for key, row in ROWS.items() if key[0] == "recurrence"} | READ

# %% wrong: the same layer and the same tokens five times
reach = {key: [row[2]] * 5 for key, row in ROWS.items()} | READ

# %% right: influences so far away that they are 0 in floating point
reach = ROWS | {("recurrence", 32): [0.0, 0.0, 1e-40, 1e-38, 1e-37]} | READ

# %% setup
from statistics import median

import torch


def measured():
    """As seeds 5 to 9 gave it."""
    return {
        ("recurrence", 4): [0.0521, 0.0767, 0.048, 0.0335, 0.0823],
        ("recurrence", 8): [0.00115, 0.00164, 0.00214, 0.00185, 0.00214],
        ("recurrence", 16): [8.22e-07, 2.48e-06, 1.99e-05, 2.85e-06, 2.26e-06],
        ("recurrence", 32): [3.43e-12, 5.72e-11, 1.87e-10, 1.81e-12, 1.45e-09],
        ("attention", 4): [0.118, 0.0773, 0.4, 0.343, 0.494],
        ("attention", 8): [0.0393, 0.0612, 0.0879, 0.0327, 0.0255],
        ("attention", 16): [0.102, 0.0331, 0.00381, 0.0148, 0.0444],
        ("attention", 32): [0.0354, 0.0355, 0.00827, 0.0209, 0.0142],
        "fades at": 8,
        "attention loses": 0.343 / 0.0209,
        "below equal": 3,
    }


def shared(table):
    return {key: row for key, row in table.items() if isinstance(key, tuple)}

# %% right: as measured with seeds 5 to 9
reach = measured()

# %% right: tuples of shares, with notes of the student's own beside them
reach = {key: tuple(row) if isinstance(row, list) else row for key, row in measured().items()}
reach |= {"guess": "faster", "medians": {n: median(reach["attention", n]) for n in (4, 8, 16, 32)}}
