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


# %% wrong: says that the measure gains more, against its own numbers
found_shares = measured() | {"larger gain": "measure"}

# %% wrong: judges by the means, so calls the cosine reliably better although one split says otherwise
found_shares = measured() | {"cosine reliably better": True}

# %% wrong: counts the splits in which the dot product wins
found_shares = measured() | {"seeds where cosine wins": 1}

# %% wrong: counts with raw counts and not with PPMI, where the cosine wins all five
found_shares = measured() | {"seeds where cosine wins": 5, "cosine reliably better": True}

# %% wrong: the first half looks for its words in itself, so that the cosine finds each
found_shares = {
    ("counts", "dot product"): [0.0073, 0.0120, 0.0074, 0.0099, 0.0074],
    ("counts", "cosine"): [1.0] * 5,
    ("ppmi", "dot product"): [1.0] * 5,
    ("ppmi", "cosine"): [1.0] * 5,
    "larger gain": "table",
    "seeds where cosine wins": 0,
    "cosine reliably better": False,
}

# %% wrong: percent in place of shares
found_shares = measured() | {key: [100 * x for x in row] for key, row in shares(measured()).items()}

# %% wrong: the two measures exchanged
found_shares = {
    ("counts", "cosine"): [0.0071, 0.0048, 0.0073, 0.0049, 0.0049],
    ("counts", "dot product"): [0.7102, 0.7119, 0.7233, 0.7617, 0.7322],
    ("ppmi", "cosine"): [0.9097, 0.8976, 0.8835, 0.9115, 0.8968],
    ("ppmi", "dot product"): [0.9002, 0.9071, 0.9029, 0.9238, 0.9091],
    "larger gain": "table",
    "seeds where cosine wins": 1,
    "cosine reliably better": False,
}

# %% wrong: numbers of words found, not shares
found_shares = measured() | {key: [round(420 * x) for x in row] for key, row in shares(measured()).items()}

# %% two mistakes: one mean for each pair in place of the five shares; and the count of wins is of the means
found_shares = {key: mean(row) for key, row in shares(measured()).items()} | {
    "larger gain": "table",
    "seeds where cosine wins": 1,
    "cosine reliably better": True,
}

# %% two mistakes: one split, written down five times; and the larger gain names the combination
found_shares = {key: [row[0]] * 5 for key, row in shares(measured()).items()} | {
    "larger gain": ("ppmi", "dot product"),
    "seeds where cosine wins": 0,
    "cosine reliably better": False,
}

# %% right: as measured with seeds 5 to 9
found_shares = measured()

# %% right: tensors for the shares, the wins a tensor, the verdict a tensor of one truth value
found_shares = {key: torch.tensor(row) for key, row in shares(measured()).items()}
wins = (found_shares["ppmi", "cosine"] > found_shares["ppmi", "dot product"]).sum()
found_shares |= {"larger gain": "table", "seeds where cosine wins": wins, "cosine reliably better": wins == 5}

# %% right: tuples of numbers without dimensions, keys in another order, all read off by code
rows = {key: tuple(torch.tensor(x) for x in row) for key, row in reversed(shares(measured()).items())}
average = {key: mean(x.item() for x in row) for key, row in rows.items()}
pairs = zip(rows["ppmi", "cosine"], rows["ppmi", "dot product"], strict=True)
wins = [bool(a > b) for a, b in pairs]
found_shares = {
    "cosine reliably better": all(wins),
    "seeds where cosine wins": sum(wins),
    "larger gain": "table" if average["ppmi", "dot product"] > average["counts", "cosine"] else "measure",
    **rows,
}
