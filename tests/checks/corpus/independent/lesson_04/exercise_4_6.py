# %% setup
import torch


def measured():
    """As a real run gave it."""
    return {
        (8, "none"): [1.0, 1.0, 1.0, 1.0, 1.0], (8, "root"): [1.0, 1.0, 1.0, 1.0, 1.0], (8, "d_k"): [1.0, 1.0, 1.0, 1.0, 1.0],
        (64, "none"): [1.0, 1.0, 1.0, 1.0, 1.0], (64, "root"): [1.0, 1.0, 1.0, 1.0, 1.0],
        (64, "d_k"): [1.0, 0.998, 0.981, 1.0, 1.0], (512, "none"): [0.87, 0.99, 0.75, 1.0, 0.93],
        (512, "root"): [1.0, 1.0, 1.0, 1.0, 1.0], (512, "d_k"): [0.62, 0.58, 0.56, 0.61, 0.6],
        "none fails at": 512, "root fails at": None, "d_k fails at": 64,
    }

# %% wrong: hands over the means in place of the five shares
scale_results = {key: sum(row) / 5 if isinstance(row, list) else row for key, row in measured().items()}

# %% wrong: leaves out the largest width, which takes longest
scale_results = {key: row for key, row in measured().items() if key[0] != 512}

# %% wrong: exchanges the two scales that divide
scale_results = measured() | {(512, "root"): measured()[512, "d_k"], (512, "d_k"): measured()[512, "root"]}

# %% wrong: copies one seed five times
scale_results = {key: [row[0]] * 5 if isinstance(row, list) else row for key, row in measured().items()}

# %% wrong: reads off the width from the mean, not from the worst seed
scale_results = measured() | {"d_k fails at": 512}

# %% wrong: writes the largest width at which it still works
scale_results = measured() | {"none fails at": 64}

# %% wrong: gives percent
scale_results = {key: [100 * one for one in row] if isinstance(row, list) else row for key, row in measured().items()}

# %% two mistakes: two seeds only; and a word in place of None
scale_results = {key: row[:2] if isinstance(row, list) else row for key, row in measured().items()} | {"root fails at": "never"}

# %% right: as measured
scale_results = measured()

# %% right: tensors of shares, and another run in which no scale fails a width earlier
scale_results = {key: torch.tensor(row) if isinstance(row, list) else row for key, row in measured().items()}
scale_results |= {(64, "none"): torch.tensor([1.0, 1.0, 0.88, 1.0, 1.0]), "none fails at": 64}
