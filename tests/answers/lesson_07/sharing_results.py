# %% setup
RIGHT = {4: [0.82, 0.68, 0.81, 0.66, 0.81], 2: [0.62, 0.63, 0.64, 0.62, 0.69], 1: [0.53, 0.48, 0.47, 0.51, 0.55]}

# %% wrong: the guesser forgotten
sharing_results = {**RIGHT, "apart": True, "closer to": 4}

# %% wrong: only three seeds
sharing_results = {**{k: v[:3] for k, v in RIGHT.items()}, "guessing": 1 / 6, "apart": True, "closer to": 1}

# %% wrong: the seed was never set, one run copied
sharing_results = {4: [0.8] * 5, 2: [0.63] * 5, 1: [0.5] * 5, "guessing": 1 / 6, "apart": True, "closer to": 1}

# %% wrong: the rows of 4 and 1 exchanged
sharing_results = {4: RIGHT[1], 2: RIGHT[2], 1: RIGHT[4], "guessing": 1 / 6, "apart": False, "closer to": 4}

# %% wrong: guessing is one of four kinds
sharing_results = {**RIGHT, "guessing": 0.25, "apart": True, "closer to": 1}

# %% wrong: apart compares the means
sharing_results = {4: [0.9, 0.55, 0.8, 0.85, 0.7], 2: [0.62, 0.6, 0.62, 0.65, 0.6], 1: [0.5, 0.52, 0.6, 0.47, 0.49], "guessing": 1 / 6, "apart": True, "closer to": 1}

# %% wrong: percent in place of shares
sharing_results = {**{k: [100 * x for x in v] for k, v in RIGHT.items()}, "guessing": 1 / 6, "apart": True, "closer to": 1}

# %% wrong: the last accuracies are pairs of steps and accuracy
sharing_results = {**{k: [(180, x) for x in v] for k, v in RIGHT.items()}, "guessing": 1 / 6, "apart": True, "closer to": 1}

# %% wrong: closer to the wrong one
sharing_results = {**RIGHT, "guessing": 1 / 6, "apart": True, "closer to": 1}

# %% wrong: 90 updates in place of 180
sharing_results = {4: [0.487, 0.395, 0.422, 0.445, 0.471], 2: [0.378, 0.396, 0.402, 0.409, 0.389], 1: [0.388, 0.35, 0.406, 0.34, 0.343], "guessing": 1 / 6, "apart": False, "closer to": 1}

# %% wrong: the same seed five times for one of the three
sharing_results = {**RIGHT, 2: [0.618] * 5, "guessing": 1 / 6, "apart": True, "closer to": 1}

# %% wrong: the list of 4 copied to 2
sharing_results = {**RIGHT, 2: RIGHT[4], "guessing": 1 / 6, "apart": True, "closer to": 4}

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
