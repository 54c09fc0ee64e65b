# %% setup
BITS = {
    "all": [1.65, 2.67, 1.84, 0.93, 1.42], "layers 128": [1.66, 2.68, 1.84, 0.96, 1.42],
    "layers 16": [1.87, 2.99, 1.99, 1.13, 1.64], "model 16": [1.86, 2.99, 2.01, 1.13, 1.65],
}

# %% wrong: the way that cuts off the model is missing
context_results = {k: v for k, v in BITS.items() if k != "model 16"} | {"lost at 128": 0.01, "reach": 61, "handed on": 0.018, "clear": False}

# %% wrong: nats
context_results = {k: [0.6931 * x for x in v] for k, v in BITS.items()} | {"lost at 128": 0.007, "reach": 61, "handed on": 0.018, "clear": False}

# %% wrong: four times the window
context_results = BITS | {"lost at 128": 0.01, "reach": 64, "handed on": 0.0177, "clear": False}

# %% wrong: the share that stays lost
context_results = BITS | {"lost at 128": 0.01, "reach": 61, "handed on": 0.982, "clear": False}

# %% right: as asked
context_results = BITS | {"lost at 128": 0.01, "reach": 61, "handed on": 0.0177, "clear": False}

# %% right: tensors
import torch

context_results = {way: torch.tensor(bits) for way, bits in BITS.items()}
means = {way: bits.mean() for way, bits in context_results.items()}
context_results |= {
    "lost at 128": means["layers 128"] - means["all"], "reach": torch.tensor(61),
    "handed on": (means["model 16"] - means["layers 16"]) / (means["model 16"] - means["all"]),
    "clear": bool((context_results["layers 16"] < context_results["model 16"]).all()),
}
