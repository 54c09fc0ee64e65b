# %% setup
import numpy as np
import torch

NARROW = {
    "all": [0.0935, 0.0723, 0.0814, 0.0677, 0.0917],
    1: [0.1211, 0.1164, 0.1058, 0.1116, 0.1171],
    2: [0.0962, 0.0794, 0.0825, 0.0640, 0.0874],
    4: [0.0930, 0.0729, 0.0809, 0.0677, 0.0906],
    "best hidden": [1.3028, 1.2120, 1.1661, 1.0620, 1.2176],
    "enough": 2,
    "worse with one": 5,
    "hiding against one": 10.42,
}
ROWS = ("all", 1, 2, 4, "best hidden")

# %% wrong: calls 1 enough, judging by eye
narrow_results = NARROW | {"enough": 1}

# %% wrong: takes the row with the lowest mean for enough
narrow_results = NARROW | {"enough": 4}

# %% wrong: gives a share of the samples in place of their number
narrow_results = NARROW | {"worse with one": 1.0}

# %% right: tensors for the rows and for what was read off
narrow_results = {key: torch.tensor(value) for key, value in NARROW.items()}

# %% right: tuples, and the ratio to one decimal
narrow_results = {key: tuple(row) if key in ROWS else row for key, row in NARROW.items()} | {"hiding against one": 10.4}

# %% right: arrays, with the number of letters as a float
narrow_results = {key: np.array(row) if key in ROWS else float(row) for key, row in NARROW.items()}
