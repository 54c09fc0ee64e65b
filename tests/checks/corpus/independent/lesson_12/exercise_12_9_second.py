# %% setup
import numpy as np
import torch

PLAIN = [1.90, 1.31, 1.62, 1.48, 2.05]
HALF = [1.81, 1.22, 1.50, 1.40, 1.97]
FINE = [1.78, 1.19, 1.46, 1.36, 1.93]

# %% right: arrays of numpy, numbers of numpy, rounded to two places
window_results = {128: np.array(PLAIN), 64: np.array(HALF), 16: np.array(FINE)}
means = {stride: five.mean() for stride, five in window_results.items()}
window_results["saved"] = np.round(means[128] - means[16], 2)
window_results["first half"] = np.round((means[128] - means[64]) / (means[128] - means[16]), 2)
window_results["every"] = np.all(window_results[128] > window_results[16])
window_results["cost"] = 8

# %% right: a list of tensors; the cost counted in the whole test text of 46,517 characters
window_results = {128: [torch.tensor(x) for x in PLAIN], 64: [torch.tensor(x) for x in HALF], 16: [torch.tensor(x) for x in FINE]}
window_results["saved"] = torch.tensor(PLAIN).mean() - torch.tensor(FINE).mean()
window_results["first half"] = sum(a - b for a, b in zip(PLAIN, HALF, strict=True)) / sum(a - b for a, b in zip(PLAIN, FINE, strict=True))
window_results["every"] = (torch.tensor(PLAIN) > torch.tensor(FINE)).all()
window_results["cost"] = (128 * 2901) / (128 * 364)

# %% wrong: cost is counted in a stretch of 641 characters, where the first window weighs much
window_results = {128: PLAIN, 64: HALF, 16: FINE, "saved": 0.128, "first half": 0.719, "every": True, "cost": 33 / 5}

# %% wrong: cost is how often a character is scored, once with every stride
window_results = {128: PLAIN, 64: HALF, 16: FINE, "saved": 0.128, "first half": 0.719, "every": True, "cost": 1}

# %% wrong: first half is what stride 16 saves beyond stride 64, as a share of what stride 64 saves
window_results = {128: PLAIN, 64: HALF, 16: FINE, "saved": 0.128, "first half": 0.391, "every": True, "cost": 8}

# %% wrong: first half is the mean of the five shares, not the share of the means
window_results = {
    128: [2.40, 1.31, 1.62, 1.48, 2.05], 64: [1.95, 1.30, 1.60, 1.46, 2.03], 16: [1.90, 1.19, 1.46, 1.36, 1.93],
    "saved": 0.204, "every": True, "cost": 8,
}
shares = [(a - b) / (a - c) for a, b, c in zip(*(window_results[stride] for stride in (128, 64, 16)), strict=True)]
window_results["first half"] = sum(shares) / 5

# %% wrong: saved is a share of the bits of stride 128 instead of bits
window_results = {128: PLAIN, 64: HALF, 16: FINE, "saved": 0.128 / 1.672, "first half": 0.719, "every": True, "cost": 8}

# %% wrong: every holds a list of five answers instead of one
window_results = {128: PLAIN, 64: HALF, 16: FINE, "saved": 0.128, "first half": 0.719, "every": [True] * 5, "cost": 8}

# %% two mistakes: the strides exchanged, and so a saving below 0
window_results = {128: FINE, 64: HALF, 16: PLAIN, "saved": -0.128, "first half": 0.281, "every": False, "cost": 1 / 8}
