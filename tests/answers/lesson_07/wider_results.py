# %% setup
RIGHT = {"plain": [0.78, 0.79, 0.76], "key": [0.79, 0.78, 0.79], "value": [0.86, 0.85, 0.88]}
LEVEL = (3 + 1 / 6) / 4

# %% wrong: the level of three lookups without the guess
wider_results = {**RIGHT, "three solved": 0.75, "above": ["value"], "too narrow": "value"}

# %% wrong: only one seed
wider_results = {**{k: v[:1] for k, v in RIGHT.items()}, "three solved": LEVEL, "above": ["value"], "too narrow": "value"}

# %% wrong: read off the other way round
wider_results = {**RIGHT, "three solved": LEVEL, "above": ["value"], "too narrow": "key"}

# %% wrong: the sizes were never handed over, all three are the plain model
wider_results = {"plain": [0.78, 0.79, 0.76], "key": [0.77, 0.79, 0.76], "value": [0.78, 0.78, 0.76], "three solved": LEVEL, "above": [], "too narrow": "value"}

# %% wrong: every setting that is not below the level is listed
wider_results = {**RIGHT, "three solved": LEVEL, "above": ["key", "value"], "too narrow": "value"}

# %% right: as asked
wider_results = {**RIGHT, "three solved": LEVEL, "above": ["value"], "too narrow": "value"}

# %% right: computed from the lists, the settings as a tuple
wider_results = {**RIGHT, "three solved": 0.7917, "too narrow": "value"}
wider_results["above"] = tuple(name for name, row in RIGHT.items() if min(row) > 0.7917 + 0.02)
