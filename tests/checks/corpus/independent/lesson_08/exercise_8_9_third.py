# %% setup
MEANS = {"as trained": ([0.0, 0.0, 0.0], [0.12222, 0.14726, 0.17074], [0.4428, 0.46022, 0.47215]), "squeezed": ([0.67667, 0.69259, 0.68852], [0.72904, 0.7323, 0.73481], [0.73892, 0.7457, 0.74444]), "larger base": ([0.00444, 0.01148, 0.00259], [0.01267, 0.02074, 0.01585], [0.01419, 0.02186, 0.01695])}
RUNS = {(way, n): row for way in MEANS for n, row in zip((12, 48, 96), MEANS[way])}
TURNS = {("turn", "as trained"): [1.0, 1e-3], ("turn", "squeezed"): [0.125, 1.25e-4], ("turn", "larger base"): [1.0, 3.1623e-5]}
READ = {"best at 96": "larger base", "worst at 12": "squeezed"}

# %% right: as one machine gave it
long_results = {**RUNS, **TURNS, **READ}

# %% wrong: stretched in place of squeezed, squeeze 1/8
long_results = {**RUNS, ("squeezed", 12): [0.74815, 0.74593, 0.74815], ("squeezed", 48): [0.75593, 0.75311, 0.75511], ("squeezed", 96): [0.75154, 0.75452, 0.75566], **TURNS, **READ}

# %% wrong: the base raised to 100,000 only
long_results = {**RUNS, ("larger base", 12): [0.00037, 0.0, 0.00037], ("larger base", 48): [0.00067, 7e-05, 0.00015], ("larger base", 96): [0.18896, 0.22075, 0.23348], **TURNS, **READ}

# %% wrong: as trained and larger base exchanged at 12 tokens
long_results = {**RUNS, ("larger base", 12): RUNS["as trained", 12], ("as trained", 12): RUNS["larger base", 12], **TURNS, **READ}

# %% wrong: a turn rounded to one digit
long_results = {**RUNS, **TURNS, **READ, ("turn", "larger base"): [1.0, 0.00003]}
