# %% setup
plain = [0.781624972820282, 0.7605000138282776, 0.7892500162124634]
key = [0.7931249737739563, 0.7911249995231628, 0.6082500219345093]
value = [0.8255000114440918, 0.8256250023841858, 0.8396250009536743]

# %% wrong: three of four lookups without the guess
wider_results = {"plain": plain, "key": key, "value": value, "three solved": 3 / 4, "above": ["value"], "too narrow": "value"}

# %% wrong: guesses one of four lookups instead of one of six contents
wider_results = {"plain": plain, "key": key, "value": value, "three solved": (3 + 1 / 4) / 4, "above": [], "too narrow": "value"}

# %% wrong: names what was not widened when the accuracy rose
wider_results = {"plain": plain, "key": key, "value": value, "three solved": (3 + 1 / 6) / 4, "above": ["value"], "too narrow": "key"}

# %% wrong: only the first seed of each
wider_results = {"plain": plain[:1], "key": key[:1], "value": value[:1], "three solved": (3 + 1 / 6) / 4, "above": ["value"], "too narrow": "value"}

# %% wrong: the best seed instead of the worst, with the level alone, so the wider key is listed
wider_results = {"plain": plain, "key": key, "value": value, "three solved": (3 + 1 / 6) / 4, "above": ["key", "value"], "too narrow": "value"}

# %% wrong: percent instead of shares
wider_results = {
    "plain": [100 * a for a in plain], "key": [100 * a for a in key], "value": [100 * a for a in value],
    "three solved": 100 * (3 + 1 / 6) / 4, "above": ["value"], "too narrow": "value",
}

# %% wrong: the mean of each setting instead of the list
wider_results = {
    "plain": sum(plain) / 3, "key": sum(key) / 3, "value": sum(value) / 3,
    "three solved": (3 + 1 / 6) / 4, "above": ["value"], "too narrow": "value",
}

# %% wrong: the settings never reached the model, all three are the plain one
wider_results = {"plain": plain, "key": list(plain), "value": list(plain), "three solved": (3 + 1 / 6) / 4, "above": [], "too narrow": "value"}

# %% right: everything worked out from the lists
wider_results = {"plain": plain, "key": key, "value": value}
wider_results["three solved"] = (1 + 1 + 1 + 1 / 6) / 4
wider_results["above"] = [n for n in ("plain", "key", "value") if min(wider_results[n]) > wider_results["three solved"] + 0.02]
wider_results["too narrow"] = max(("key", "value"), key=lambda n: sum(wider_results[n]))

# %% right: rounded to three digits by hand
wider_results = {
    "plain": [0.782, 0.761, 0.789], "key": [0.793, 0.791, 0.608], "value": [0.826, 0.826, 0.840],
    "three solved": 0.792, "above": ["value"], "too narrow": "value",
}
