# %% setup
import torch
MEANS = {"as trained": (0.0, 0.14, 0.45), "squeezed": (0.68, 0.73, 0.74), "larger base": (0.01, 0.04, 0.05)}
RUNS = {(way, n): [m + 0.003 * s for s in range(3)] for way in MEANS for n, m in zip((12, 48, 96), MEANS[way])}
TURNS = {("turn", "as trained"): [1.0, 1e-3], ("turn", "squeezed"): [0.125, 1.25e-4], ("turn", "larger base"): [1.0, 3.1623e-5]}
READ = {"best at 96": "larger base", "worst at 12": "squeezed"}

# %% wrong: only one number each
long_results = {**{k: v[:1] for k, v in RUNS.items()}, **TURNS, **READ}

# %% wrong: length 48 forgotten
long_results = {**{k: v for k, v in RUNS.items() if k[1] != 48}, **TURNS, **READ}

# %% wrong: squeeze and base exchanged
long_results = {**{(w, n): RUNS[{"squeezed": "larger base", "larger base": "squeezed"}.get(w, w), n] for w, n in RUNS}, **TURNS, **READ}

# %% right: as asked
long_results = {**RUNS, **TURNS, **READ}

# %% right: tensors, and turns computed
long_results = {k: torch.tensor(v) for k, v in RUNS.items()}
for way, base, s in (("as trained", 1e4, 1), ("squeezed", 1e4, 8), ("larger base", 1e6, 1)):
    long_results["turn", way] = torch.tensor([1 / s, base ** (-6 / 8) / s])
long_results |= READ

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

# %% right: turns rounded to three digits that count
long_results = RUNS | READ
long_results |= {key: [float(f"{turn:.3g}") for turn in turns] for key, turns in TURNS.items()}
