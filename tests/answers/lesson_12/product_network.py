# %% setup
import torch

# %% wrong: one feature, as if the gate were not bent
def product_network(a, b):
    return {
        "gate_proj.weight": a[None], "up_proj.weight": b[None],
        "down_proj.weight": torch.ones(1, 1, dtype=a.dtype),
    }

# %% wrong: the second feature has the opposite gate but the same other branch
def product_network(a, b):
    return {
        "gate_proj.weight": torch.stack((a, -a)), "up_proj.weight": torch.stack((b, b)),
        "down_proj.weight": torch.ones(1, 2, dtype=a.dtype),
    }

# %% wrong: a times b and b times a, one feature each
def product_network(a, b):
    return {
        "gate_proj.weight": torch.stack((a, b)), "up_proj.weight": torch.stack((b, a)),
        "down_proj.weight": torch.full((1, 2), 0.5, dtype=a.dtype),
    }

# %% wrong: a large factor in the gate, so that it is nearly a ReLU: right for positive a x only
def product_network(a, b):
    return {
        "gate_proj.weight": 100 * a[None], "up_proj.weight": b[None],
        "down_proj.weight": torch.full((1, 1), 0.01, dtype=a.dtype),
    }

# %% right: the minus stands in the matrix that leads down
def product_network(a, b):
    return {
        "gate_proj.weight": torch.stack((a, -a)), "up_proj.weight": b.repeat(2, 1),
        "down_proj.weight": torch.tensor([[1.0, -1.0]], dtype=a.dtype),
    }

# %% right: four features, both ways round, each with half
def product_network(a, b):
    return {
        "gate_proj.weight": torch.stack((a, -a, b, -b)), "up_proj.weight": torch.stack((b, -b, a, -a)),
        "down_proj.weight": torch.full((1, 4), 0.5, dtype=a.dtype),
    }
