# %% setup
# what the statement's code measures
RESULTS = {
    ("linear", 4, 8): [0.481, 0.469], ("linear", 4, 32): [0.288, 0.287], ("linear", 4, 64): [0.161, 0.164],
    ("linear", 16, 8): [0.498, 0.535], ("linear", 16, 32): [0.49, 0.467], ("linear", 16, 64): [0.435, 0.442],
    ("delta", 4, 8): [0.786, 0.78], ("delta", 4, 32): [0.281, 0.283], ("delta", 4, 64): [0.157, 0.162],
    ("delta", 16, 8): [0.9961, 0.9956], ("delta", 16, 32): [0.855, 0.879], ("delta", 16, 64): [0.55, 0.597],
    ("linear", 4, "half way"): [0.136, 0.155], ("linear", 16, "half way"): [0.4, 0.398],
    ("delta", 4, "half way"): [0.137, 0.131], ("delta", 16, "half way"): [0.503, 0.529],
}
FORMS = [("linear", 4), ("linear", 16), ("delta", 4), ("delta", 16)]
mean = lambda key: sum(RESULTS[key]) / 2
KNOWN = {("known", *form): max(n / 2 * mean((*form, n)) for n in (8, 32, 64)) for form in FORMS}
RESULTS |= KNOWN | {("more", 8): ("delta", 4), ("more", 64): ("linear", 16)}
RESULTS |= {"size helps": ["linear", "delta"], "learning": []}

# %% wrong: the larger state is expected to recall more everywhere
recall_results = RESULTS | {("more", 8): ("linear", 16)}

# %% wrong: the better rule is expected to recall more everywhere
recall_results = RESULTS | {("more", 64): ("delta", 4)}

# %% wrong: one seed only
recall_results = {key: value[:1] if isinstance(value, list) and key[-1] != "learning" and len(value) == 2 and isinstance(key, tuple) else value for key, value in RESULTS.items()}

# %% wrong: pairs are counted, not different keys
recall_results = RESULTS | {key: 2 * value for key, value in KNOWN.items()}

# %% wrong: the share, not the number of values
recall_results = RESULTS | {("known", *form): max(mean((*form, n)) for n in (8, 32, 64)) for form in FORMS}

# %% wrong: 100 and 200 updates exchanged
recall_results = RESULTS | {(*form, 64): RESULTS[*form, "half way"] for form in FORMS} | {(*form, "half way"): RESULTS[*form, 64] for form in FORMS}

# %% wrong: a kind in place of a list
recall_results = RESULTS | {"size helps": "delta"}

# %% wrong: every key once
recall_results = RESULTS | {("linear", 16, 8): [1.0, 1.0], ("linear", 4, 8): [0.9, 0.89]}

# %% wrong: all that got better are still learning
recall_results = RESULTS | {"learning": FORMS}

# %% right: as measured
recall_results = RESULTS

# %% right: lists as tuples
recall_results = {key: tuple(value) if isinstance(value, list) else value for key, value in RESULTS.items()}

# %% right: as many right answers from both seeds where nearly all are right
recall_results = RESULTS | {("delta", 16, 8): [0.9956, 0.9956]}
