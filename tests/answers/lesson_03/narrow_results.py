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

# %% wrong: divides the other way round
narrow_results = NARROW | {"hiding against one": 0.096}

# %% wrong: compares the hidden letter with all weights
narrow_results = NARROW | {"hiding against one": 14.66}

# %% wrong: takes one argmax of the whole batch, so the best letter of one word only is hidden
narrow_results = NARROW | {"best hidden": [0.1020, 0.0930, 0.0885, 0.0894, 0.1012], "hiding against one": 0.83}

# %% wrong: compares with the largest weight whatever k is, so all the rows hold one letter
narrow_results = NARROW | {2: NARROW[1], 4: NARROW[1], "enough": 0}

# %% wrong: puts ones for the weights that stay, so all of them count alike
narrow_results = NARROW | {1: [0.1211, 0.1164, 0.1058, 0.1116, 0.1171], 2: [0.1648, 0.1544, 0.1597, 0.1473, 0.1789], 4: [0.4489, 0.4889, 0.4714, 0.4642, 0.5130], "enough": 0}

# %% wrong: keeps the mean of each row only
narrow_results = {key: sum(row) / 5 if key in ROWS else row for key, row in NARROW.items()}

# %% two mistakes: in percent; and calls 4 enough
narrow_results = {key: [100 * one for one in row] if key in ROWS else row for key, row in NARROW.items()} | {"enough": 4}

# %% two mistakes: hides the smallest weight; and calls 1 enough
narrow_results = NARROW | {"best hidden": NARROW["all"], "hiding against one": 0.71, "enough": 1}

# %% wrong: keeps one letter more than k everywhere, and so finds one letter enough
narrow_results = NARROW | {1: NARROW[2], 2: [0.0930, 0.0740, 0.0793, 0.0667, 0.0911], 4: [0.0930, 0.0723, 0.0809, 0.0677, 0.0938], "enough": 1, "worse with one": 3, "hiding against one": 14.56}

# %% right: tensors for the rows and for what was read off
narrow_results = {key: torch.tensor(value) for key, value in NARROW.items()}

# %% right: tuples, and the ratio to one decimal
narrow_results = {key: tuple(row) if key in ROWS else row for key, row in NARROW.items()} | {"hiding against one": 10.4}

# %% right: arrays, with the number of letters as a float
narrow_results = {key: np.array(row) if key in ROWS else float(row) for key, row in NARROW.items()}
