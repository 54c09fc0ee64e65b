# %% setup
import torch

ONE = 1.0
RIGHT = {
    (8, "none"): [ONE] * 5,
    (8, "root"): [ONE] * 5,
    (8, "d_k"): [ONE] * 5,
    (64, "none"): [ONE, ONE, ONE, 0.9657, ONE],
    (64, "root"): [ONE] * 5,
    (64, "d_k"): [ONE, 0.9987, 0.9907, 0.9777, ONE],
    (512, "none"): [0.9, 0.9207, 0.9223, ONE, 0.9927],
    (512, "root"): [ONE] * 5,
    (512, "d_k"): [0.6763, 0.5697, 0.5613, 0.596, 0.8103],
}
READ = {"none fails at": 64, "root fails at": None, "d_k fails at": 64}

# %% wrong: takes the mean of the five seeds, which is above 0.99 at 64
scale_results = {**RIGHT, "none fails at": 512, "root fails at": None, "d_k fails at": 64}

# %% wrong: the keys are turned, scale first and width second
scale_results = {(scale, d): v for (d, scale), v in RIGHT.items()} | READ

# %% wrong: the largest width at which it fails
scale_results = {**RIGHT, "none fails at": 512, "root fails at": None, "d_k fails at": 512}

# %% wrong: 0 for never, where None is asked
scale_results = {**RIGHT, **READ, "root fails at": 0}

# %% wrong: the largest width at which it still works, not the first at which it fails
scale_results = {**RIGHT, "none fails at": 8, "root fails at": 512, "d_k fails at": 8}

# %% wrong: keeps the mean of the seeds in place of the list
scale_results = {key: sum(v) / 5 for key, v in RIGHT.items()} | READ

# %% wrong: the width 512 was left out to save time
scale_results = {key: v for key, v in RIGHT.items() if key[0] != 512} | READ

# %% wrong: the divisors of root and d_k exchanged
scale_results = {
    (d, {"root": "d_k", "d_k": "root"}.get(scale, scale)): v for (d, scale), v in RIGHT.items()
} | {"none fails at": 64, "root fails at": 64, "d_k fails at": None}

# %% two mistakes: three seeds alone, and the first width that works
scale_results = {key: v[:3] for key, v in RIGHT.items()} | {
    "none fails at": 8, "root fails at": 8, "d_k fails at": 8
}

# %% two mistakes: the answers are texts, and "root" is said to fail at 512
scale_results = {**RIGHT, "none fails at": "64", "root fails at": "512", "d_k fails at": "64"}

# %% right: tensors, and the answers found by code
scale_results = {key: torch.tensor(v) for key, v in RIGHT.items()}
for scale in ("none", "root", "d_k"):
    bad = [d for d in (8, 64, 512) if scale_results[d, scale].min() < 0.99]
    scale_results[f"{scale} fails at"] = min(bad, default=None)

# %% right: tuples, the answers first
scale_results = dict(READ)
for key, v in RIGHT.items():
    scale_results[key] = tuple(v)

# %% right: another machine, on which none holds at 64 and d_k at 64 too
scale_results = {
    **RIGHT,
    (64, "none"): [ONE, 0.995, ONE, 0.992, ONE],
    (64, "d_k"): [ONE, 0.9987, 0.9907, 0.991, ONE],
    "none fails at": 512,
    "root fails at": None,
    "d_k fails at": 512,
}

# %% wrong: invents the table, with models at 64 without a divisor that learn less than they do
scale_results = {(d_k, scale): [1.0, 1.0, 1.0, 1.0, 1.0] for d_k in (8, 64, 512) for scale in ("none", "root", "d_k")}
scale_results |= {(64, "none"): [1.0, 0.9, 0.97, 0.95, 1.0], (512, "none"): [0.8, 0.9, 0.85, 0.8, 0.9]}
scale_results |= {(512, "d_k"): [0.5, 0.6, 0.55, 0.5, 0.6], "none fails at": 64, "root fails at": None, "d_k fails at": 512}
