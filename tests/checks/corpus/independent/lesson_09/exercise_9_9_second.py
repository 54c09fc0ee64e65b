# %% setup
import torch

SIZES = {
    "full": {2: [1.46, 1.47, 1.48, 1.46, 1.49], 8: [2.8, 2.83, 2.82, 2.79, 2.88], 32: [6.0, 6.12, 6.05, 6.2, 6.1]},
    "root": {2: [1.13, 1.12, 1.14, 1.13, 1.13], 8: [1.15, 1.14, 1.16, 1.15, 1.14], 32: [1.16, 1.15, 1.17, 1.16, 1.15]},
    "share": {2: [1.04, 1.03, 1.05, 1.04, 1.04], 8: [1.02, 1.01, 1.03, 1.02, 1.02], 32: [1.02, 1.01, 1.02, 1.02, 1.01]},
}


def table():
    return {(N, start): list(sizes) for start, row in SIZES.items() for N, sizes in row.items()}


# %% right: sizes kept as tuples, the size at 128 rounded to one digit
growth_results = {key: tuple(sizes) for key, sizes in table().items()}
growth_results |= {"law": "sqrt(N)", "size at 128": 12.2, "steady": "root"}

# %% right: sizes kept as tensors, the size at 128 as a tensor without a shape
growth_results = {key: torch.tensor(sizes) for key, sizes in table().items()}
growth_results |= {"law": "sqrt(N)", "size at 128": 2 * growth_results[32, "full"].mean(), "steady": "root"}

# %% wrong: takes the growth from 8 to 32 for a law in N
growth_results = table() | {"law": "N", "size at 128": 24.4, "steady": "root"}

# %% wrong: the law is right, the size at 128 goes by the number of layers
growth_results = table() | {"law": "sqrt(N)", "size at 128": 24.4, "steady": "root"}

# %% wrong: the steadiest start instead of the largest factor that is steady enough
growth_results = table() | {"law": "sqrt(N)", "size at 128": 12.2, "steady": "share"}

# %% wrong: keeps the mean of the five sizes only
growth_results = {key: sum(sizes) / 5 for key, sizes in table().items()}
growth_results |= {"law": "sqrt(N)", "size at 128": 12.2, "steady": "root"}

# %% wrong: the keys the other way around
growth_results = {(start, N): sizes for (N, start), sizes in table().items()}
growth_results |= {"law": "sqrt(N)", "size at 128": 12.2, "steady": "root"}

# %% wrong: one entry is invented, with a mean that such stacks have
growth_results = table() | {(8, "full"): [1, 2, 3, 4, 5], "law": "sqrt(N)", "size at 128": 12.2, "steady": "root"}

# %% wrong: one entry holds a single size, not five
growth_results = table() | {(8, "full"): 2.83, "law": "sqrt(N)", "size at 128": 12.2, "steady": "root"}
