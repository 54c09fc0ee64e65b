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

# %% wrong: says that the cosine is reliably better because its mean is larger
found_shares = {**runs, **read, "cosine reliably better": True}

# %% wrong: reads the larger gain off the wrong rows
found_shares = {**runs, **read, "larger gain": "measure"}

# %% wrong: leaves out one of the four combinations
found_shares = {key: value for key, value in {**runs, **read}.items() if key != ("ppmi", "dot product")}

# %% two mistakes: three splits only; and every reading missing
found_shares = {key: shares[:3] for key, shares in runs.items()}

# %% two mistakes: normalizes the columns, so that the cosine of counts is no better than the dot product; and says it wins
found_shares = {**runs, ("counts", "cosine"): [0.02, 0.03, 0.02, 0.02, 0.03], **read, "larger gain": "measure"}

# %% right: as tuples
found_shares = {**{key: tuple(shares) for key, shares in runs.items()}, **read}

# %% right: other numbers, in which the cosine wins every split
found_shares = {**runs, ("ppmi", "cosine"): [0.90, 0.89, 0.88, 0.88, 0.91], "larger gain": "table",
                "seeds where cosine wins": 5, "cosine reliably better": True}

# %% right: other numbers, in which the measure gains more
found_shares = {**runs, ("counts", "cosine"): [0.88, 0.88, 0.89, 0.88, 0.88], **read, "larger gain": "measure"}
