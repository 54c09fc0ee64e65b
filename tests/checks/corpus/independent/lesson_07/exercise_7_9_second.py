# %% setup
from statistics import mean

import torch

FOUR, TWO, ONE = [0.79, 0.71, 0.84, 0.69, 0.77], [0.61, 0.64, 0.66, 0.60, 0.67], [0.52, 0.49, 0.46, 0.5, 0.54]

# %% right: computed from the lists, the readings as an expression
sharing_results = {4: FOUR, 2: TWO, 1: ONE, "guessing": 1 / 6}
sharing_results["apart"] = min(FOUR) > max(ONE)
sharing_results["closer to"] = 4 if abs(mean(TWO) - mean(FOUR)) < abs(mean(TWO) - mean(ONE)) else 1

# %% wrong: the keys of the three lists are words
sharing_results = {"4": FOUR, "2": TWO, "1": ONE, "guessing": 1 / 6, "apart": True, "closer to": 1}

# %% wrong: the means only, in place of five accuracies
sharing_results = {4: mean(FOUR), 2: mean(TWO), 1: mean(ONE), "guessing": 1 / 6, "apart": True, "closer to": 1}

# %% wrong: the guess in percent
sharing_results = {4: FOUR, 2: TWO, 1: ONE, "guessing": 16.7, "apart": True, "closer to": 4}
sharing_results["closer to"] = 4 if abs(mean(TWO) - mean(FOUR)) < abs(mean(TWO) - mean(ONE)) else 1

# %% wrong: guessing all four at once
sharing_results = {4: FOUR, 2: TWO, 1: ONE, "guessing": (1 / 6) ** 4, "apart": True, "closer to": 4}
sharing_results["closer to"] = 4 if abs(mean(TWO) - mean(FOUR)) < abs(mean(TWO) - mean(ONE)) else 1

# %% wrong: the accuracies of all four measurements of one run
sharing_results = {4: [0.33, 0.46, 0.6, 0.79], 2: [0.3, 0.4, 0.5, 0.61], 1: [0.28, 0.37, 0.46, 0.52], "guessing": 1 / 6, "apart": True, "closer to": 1}
