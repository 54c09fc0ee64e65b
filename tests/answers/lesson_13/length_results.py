# %% setup
# what the statement's code measures
BITS = {
    ("only 16", 16): ([0.014, 0.010], [0.022, 0.002], [0.006, 0.0004]),
    ("only 16", 10): ([10.926, 12.504], [12.622, 14.755], [17.404, 17.942]),
    ("15 and 16", 16): ([1.087, 0.893], [0.821, 0.494], [0.002, 0.025]),
    ("15 and 16", 10): ([6.707, 7.164], [9.186, 10.743], [4.373, 14.971]),
    ("12 to 16", 16): ([3.142, 3.828], [0.492, 2.497], [0.077, 0.074]),
    ("12 to 16", 10): ([4.13, 4.728], [2.95, 6.569], [0.195, 0.277]),
}
RESULTS = {(name, letters, step): row for (name, letters), rows in BITS.items() for step, row in zip((100, 200, 400), rows)}
RESULTS |= {("score", "only 16"): [0.937, 0.936], ("score", "15 and 16"): [0.896, 0.705], ("score", "12 to 16"): [0.868, 0.828]}
RESULTS |= {"first": "only 16", "rule": ["12 to 16"], "fooled": ["only 16", "15 and 16"], "improving": ["12 to 16"]}

# %% wrong: a name in place of a list of names
length_results = RESULTS | {"rule": "12 to 16"}

# %% wrong: who has the best score is taken to be fooled, alone
length_results = RESULTS | {"fooled": ["only 16"]}

# %% wrong: 16 and 10 letters exchanged in the keys
length_results = dict(RESULTS)
for name in ("only 16", "15 and 16", "12 to 16"):
    for step in (100, 200, 400):
        length_results[name, 16, step], length_results[name, 10, step] = RESULTS[name, 10, step], RESULTS[name, 16, step]

# %% wrong: one seed only
length_results = {key: value[:1] if isinstance(key, tuple) else value for key, value in RESULTS.items()}

# %% wrong: who knows 16 letters after 400 updates has learned the rule
length_results = RESULTS | {"rule": ["only 16", "15 and 16", "12 to 16"]}

# %% wrong: the score of 12 to 16 is left out
length_results = {key: value for key, value in RESULTS.items() if key != ("score", "12 to 16")}

# %% right: as measured
length_results = RESULTS

# %% right: tuples in place of lists
length_results = {key: tuple(value) if isinstance(value, list) else value for key, value in RESULTS.items()}
