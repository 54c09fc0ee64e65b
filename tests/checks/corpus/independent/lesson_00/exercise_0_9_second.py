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


# %% wrong: compares the recurrence with the equal share itself, so it fades at 4
reach = measured() | {"fades at": 4}

# %% wrong: the factor upside down
reach = measured() | {"attention loses": 0.0209 / 0.343}

# %% wrong: the factor from the means, not from the medians
reach = measured() | {"attention loses": sum(measured()["attention", 4]) / sum(measured()["attention", 32])}

# %% wrong: counts the runs above the equal share
reach = measured() | {"below equal": 2}

# %% wrong: one seed only, written five times
reach = measured() | {key: [row[0]] * 5 for key, row in shared(measured()).items()}
reach |= {"attention loses": 0.118 / 0.0354, "below equal": 0}

# %% wrong: the two kinds exchanged
reach = measured() | {
    (("attention" if kind == "recurrence" else "recurrence"), n): row for (kind, n), row in shared(measured()).items()
}

# %% wrong: keys as text, not as pairs
reach = {(f"{key[0]}, {key[1]}" if isinstance(key, tuple) else key): row for key, row in measured().items()}

# %% two mistakes: three seeds; and nothing read off
reach = {key: row[:3] for key, row in shared(measured()).items()}

# %% two mistakes: medians in place of the lists; and the last length at which it fades
reach = {key: median(row) for key, row in shared(measured()).items()} | {
    "fades at": 32, "attention loses": 0.343 / 0.0209, "below equal": 3,
}

# %% right: as measured with seeds 5 to 9
reach = measured()

# %% right: one layer, five times other tokens, as tensors; the factor rounded
reach = {
    ("recurrence", 4): torch.tensor([0.073, 0.0672, 0.0363, 0.0495, 0.0398]),
    ("recurrence", 8): torch.tensor([0.00163, 0.00191, 0.000703, 0.00177, 0.00145]),
    ("recurrence", 16): torch.tensor([2.75e-06, 5.15e-06, 1.61e-06, 4.57e-06, 7.71e-06]),
    ("recurrence", 32): torch.tensor([4.63e-12, 3.14e-11, 4.21e-11, 9.37e-12, 8.54e-12]),
    ("attention", 4): torch.tensor([0.00922, 0.472, 0.403, 0.329, 0.0214]),
    ("attention", 8): torch.tensor([0.117, 0.0896, 0.0553, 0.0974, 0.214]),
    ("attention", 16): torch.tensor([0.283, 0.0177, 0.0226, 0.165, 0.029]),
    ("attention", 32): torch.tensor([0.0151, 0.00343, 0.0271, 0.0143, 0.00348]),
    "fades at": 8,
    "attention loses": 23.0,
    "below equal": 5,
}

# %% right: tuples of shares, with notes of the student's own beside them
reach = {key: tuple(row) if isinstance(row, list) else row for key, row in measured().items()}
reach |= {"guess": "faster", "medians": {n: median(reach["attention", n]) for n in (4, 8, 16, 32)}}
