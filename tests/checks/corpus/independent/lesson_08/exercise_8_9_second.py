# %% setup
import torch

RUNS = {
    ("as trained", 12): [0.0, 0.0, 0.001], ("as trained", 48): [0.14, 0.16, 0.15], ("as trained", 96): [0.44, 0.46, 0.47],
    ("squeezed", 12): [0.69, 0.68, 0.69], ("squeezed", 48): [0.73, 0.73, 0.74], ("squeezed", 96): [0.74, 0.74, 0.75],
    ("larger base", 12): [0.01, 0.005, 0.004], ("larger base", 48): [0.02, 0.02, 0.01], ("larger base", 96): [0.02, 0.02, 0.015],
}  # fmt: skip
SETTINGS = {"as trained": (1e4, 1), "squeezed": (1e4, 8), "larger base": (1e6, 1)}
TURNS = {("turn", way): (1 / s, b ** (-6 / 8) / s) for way, (b, s) in SETTINGS.items()}
READ = {"best at 96": "larger base", "worst at 12": "squeezed"}
WAYS = list(SETTINGS)


# %% right: tuples, turns as tuples, read off by min and max
long_results = {key: tuple(runs) for key, runs in RUNS.items()}
long_results.update(TURNS)
long_results["best at 96"] = min(WAYS, key=lambda way: sum(RUNS[way, 96]))
long_results["worst at 12"] = max(WAYS, key=lambda way: sum(RUNS[way, 12]))

# %% right: turns rounded to three digits that count
long_results = RUNS | READ
long_results |= {key: [float(f"{turn:.3g}") for turn in turns] for key, turns in TURNS.items()}

# %% wrong: the loop's length forgotten, 96 tokens in every entry
long_results = {(way, n): RUNS[way, 96] for way, n in RUNS} | TURNS | READ

# %% wrong: the entries for 48 hold the runs at 96
long_results = {(way, n): RUNS[way, 96 if n == 48 else n] for way, n in RUNS} | TURNS | READ

# %% wrong: means in place of the three numbers
long_results = {key: sum(runs) / 3 for key, runs in RUNS.items()} | TURNS | READ

# %% wrong: keys the other way about, length first
long_results = {(n, way): runs for (way, n), runs in RUNS.items()} | TURNS | READ

# %% wrong: all four pairs' turns
long_results = RUNS | READ | {("turn", way): [b ** (-2 * i / 8) / s for i in range(4)] for way, (b, s) in SETTINGS.items()}

# %% wrong: pair 3 taken as the exponent 3/8, two forgotten
long_results = RUNS | READ | {("turn", way): [1 / s, b ** (-3 / 8) / s] for way, (b, s) in SETTINGS.items()}

# %% wrong: wavelengths in place of turns
long_results = RUNS | READ | {key: [6.28318 / turn for turn in turns] for key, turns in TURNS.items()}

# %% wrong: the squeeze is forgotten in the turns
long_results = RUNS | READ | {("turn", way): [1, b ** (-6 / 8)] for way, (b, s) in SETTINGS.items()}

# %% wrong: the turns of 12 tokens together
long_results = RUNS | READ | {key: [12 * turn for turn in turns] for key, turns in TURNS.items()}

# %% wrong: as trained thought best at 96
long_results = RUNS | TURNS | READ | {"best at 96": "as trained"}

# %% wrong: the best way at 12 in place of the worst
long_results = RUNS | TURNS | READ | {"worst at 12": "as trained"}

# %% wrong: the number in place of the way's name
long_results = RUNS | TURNS | READ | {"worst at 12": 0.69}

# %% wrong: nothing filled in
long_results = {}
