# %% setup
counts_dot, counts_cosine = [0.004, 0.004, 0.004, 0.006, 0.004], [0.70, 0.69, 0.71, 0.70, 0.68]
ppmi_dot, ppmi_cosine = [0.88, 0.87, 0.85, 0.86, 0.88], [0.90, 0.86, 0.88, 0.88, 0.89]
runs = {("counts", "dot product"): counts_dot, ("counts", "cosine"): counts_cosine,
        ("ppmi", "dot product"): ppmi_dot, ("ppmi", "cosine"): ppmi_cosine}
read = {"larger gain": "table", "seeds where cosine wins": 4, "cosine reliably better": False}

# %% wrong: compares a half with itself, so every word finds itself
found_shares = {**runs, ("ppmi", "cosine"): [1.0] * 5, ("counts", "cosine"): [1.0] * 5, **read}

# %% wrong: gives percent in the place of shares
found_shares = {**{key: [100 * share for share in shares] for key, shares in runs.items()}, **read}

# %% wrong: splits once for all five runs, so the numbers of every entry are the same
found_shares = {**{key: [shares[0]] * 5 for key, shares in runs.items()}, **read}

# %% right: other numbers, in which the measure gains more
found_shares = {**runs, ("counts", "cosine"): [0.88, 0.88, 0.89, 0.88, 0.88], **read, "larger gain": "measure"}

# %% setup
from statistics import mean

import torch


def measured():
    """As seeds 5 to 9 gave it."""
    return {
        ("counts", "dot product"): [0.0071, 0.0048, 0.0073, 0.0049, 0.0049],
        ("counts", "cosine"): [0.7102, 0.7119, 0.7233, 0.7617, 0.7322],
        ("ppmi", "dot product"): [0.9097, 0.8976, 0.8835, 0.9115, 0.8968],
        ("ppmi", "cosine"): [0.9002, 0.9071, 0.9029, 0.9238, 0.9091],
        "larger gain": "table",
        "seeds where cosine wins": 4,
        "cosine reliably better": False,
    }


def shares(table):
    return {key: row for key, row in table.items() if isinstance(key, tuple)}

# %% right: as measured with seeds 5 to 9
found_shares = measured()

# %% right: tensors for the shares, the wins a tensor, the verdict a tensor of one truth value
found_shares = {key: torch.tensor(row) for key, row in shares(measured()).items()}
wins = (found_shares["ppmi", "cosine"] > found_shares["ppmi", "dot product"]).sum()
found_shares |= {"larger gain": "table", "seeds where cosine wins": wins, "cosine reliably better": wins == 5}
