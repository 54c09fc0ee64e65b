# %% setup
BITS = {128: [2.10, 1.72, 1.95, 2.31, 1.60], 64: [1.98, 1.61, 1.84, 2.20, 1.52], 16: [1.93, 1.55, 1.80, 2.15, 1.47]}

# %% wrong: a stride is missing
window_results = {128: BITS[128], 16: BITS[16], "saved": 0.156, "first half": 0.679, "every": True, "cost": 8}

# %% wrong: the rows exchanged
window_results = {128: BITS[16], 64: BITS[64], 16: BITS[128], "saved": 0.156, "first half": 0.679, "every": True, "cost": 8}

# %% wrong: perplexities
window_results = {**{k: [2 ** (3 * x) for x in v] for k, v in BITS.items()}, "saved": 0.156, "first half": 0.679, "every": True, "cost": 8}

# %% right: as asked
window_results = {**BITS, "saved": 0.156, "first half": 0.679, "every": True, "cost": 8}

# %% right: tensors
import torch

window_results = {stride: torch.tensor(bits) for stride, bits in BITS.items()}
saved = window_results[128].mean() - window_results[16].mean()
window_results |= {
    "saved": saved, "first half": (window_results[128].mean() - window_results[64].mean()) / saved,
    "every": bool((window_results[128] > window_results[16]).all()), "cost": 8.0,
}

# %% setup
import numpy as np
import torch

PLAIN = [1.90, 1.31, 1.62, 1.48, 2.05]
HALF = [1.81, 1.22, 1.50, 1.40, 1.97]
FINE = [1.78, 1.19, 1.46, 1.36, 1.93]

# %% right: arrays of numpy, numbers of numpy, rounded to two places
window_results = {128: np.array(PLAIN), 64: np.array(HALF), 16: np.array(FINE)}
means = {stride: five.mean() for stride, five in window_results.items()}
window_results["saved"] = np.round(means[128] - means[16], 2)
window_results["first half"] = np.round((means[128] - means[64]) / (means[128] - means[16]), 2)
window_results["every"] = np.all(window_results[128] > window_results[16])
window_results["cost"] = 8
