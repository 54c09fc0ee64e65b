# %% setup
RIGHT = {4: [0.82, 0.68, 0.81, 0.66, 0.81], 2: [0.62, 0.63, 0.64, 0.62, 0.69], 1: [0.53, 0.48, 0.47, 0.51, 0.55]}

# %% wrong: the guesser forgotten
sharing_results = {**RIGHT, "apart": True, "closer to": 4}

# %% wrong: only three seeds
sharing_results = {**{k: v[:3] for k, v in RIGHT.items()}, "guessing": 1 / 6, "apart": True, "closer to": 1}

# %% wrong: the seed was never set, one run copied
sharing_results = {4: [0.8] * 5, 2: [0.63] * 5, 1: [0.5] * 5, "guessing": 1 / 6, "apart": True, "closer to": 1}

# %% right: as asked
sharing_results = {**RIGHT, "guessing": 1 / 6, "apart": True, "closer to": 4}

# %% right: other numbers, which say otherwise
sharing_results = {4: [0.9, 0.55, 0.8, 0.85, 0.7], 2: [0.8, 0.7, 0.62, 0.75, 0.7], 1: [0.5, 0.52, 0.6, 0.47, 0.49], "guessing": 0.16666, "apart": False, "closer to": 4}

# %% setup
from statistics import mean

import torch

FOUR, TWO, ONE = [0.79, 0.71, 0.84, 0.69, 0.77], [0.61, 0.64, 0.66, 0.60, 0.67], [0.52, 0.49, 0.46, 0.5, 0.54]

# %% right: computed from the lists, the readings as an expression
sharing_results = {4: FOUR, 2: TWO, 1: ONE, "guessing": 1 / 6}
sharing_results["apart"] = min(FOUR) > max(ONE)
sharing_results["closer to"] = 4 if abs(mean(TWO) - mean(FOUR)) < abs(mean(TWO) - mean(ONE)) else 1
