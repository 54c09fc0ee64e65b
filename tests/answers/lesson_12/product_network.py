# %% setup
import torch
import torch.nn.functional as F

# %% wrong: a single feature, SiLU(z) u
def product_network(a, b):
    return {
        "gate_proj.weight": a[None],
        "up_proj.weight": b[None],
        "down_proj.weight": torch.ones(1, 1, dtype=a.dtype),
    }

# %% wrong: a gate and its opposite, and both added up: SiLU(z) u + SiLU(-z) u
def product_network(a, b):
    return {
        "gate_proj.weight": torch.stack((a, -a)),
        "up_proj.weight": torch.stack((b, b)),
        "down_proj.weight": torch.ones(1, 2, dtype=a.dtype),
    }

# %% wrong: both the up branch and the down matrix turn the sign, so it is turned twice
def product_network(a, b):
    return {
        "gate_proj.weight": torch.stack([a, -a]),
        "up_proj.weight": torch.stack([b, -b]),
        "down_proj.weight": torch.tensor([[1.0, -1.0]], dtype=a.dtype),
    }

# %% wrong: the mean of both ways round, SiLU(a x) (b x) and SiLU(b x) (a x)
def product_network(a, b):
    return {
        "gate_proj.weight": torch.stack((a, b)),
        "up_proj.weight": torch.stack((b, a)),
        "down_proj.weight": torch.full((1, 2), 0.5, dtype=a.dtype),
    }

# %% wrong: a half of the product, as if two features had to be averaged
def product_network(a, b):
    return {
        "gate_proj.weight": torch.stack((a, -a)),
        "up_proj.weight": torch.stack((b, b)),
        "down_proj.weight": torch.tensor([[0.5, -0.5]], dtype=a.dtype),
    }

# %% wrong: a tiny gate, where SiLU is nearly z / 2, and twice the inverse behind it: near, not exact
def product_network(a, b):
    tiny = 1e-2
    return {
        "gate_proj.weight": (tiny * a)[None],
        "up_proj.weight": b[None],
        "down_proj.weight": torch.full((1, 1), 2 / tiny, dtype=a.dtype),
    }

# %% wrong: a steep gate that is 0 for negative z, right only where a x is positive
def product_network(a, b):
    return {
        "gate_proj.weight": (1000 * a)[None],
        "up_proj.weight": b[None],
        "down_proj.weight": torch.full((1, 1), 1 / 1000, dtype=a.dtype),
    }

# %% wrong: a gate so small that rounding hides its bend for numbers of usual size, though not for large ones
def product_network(a, b):
    tiny = 1e-10
    return {
        "gate_proj.weight": (tiny * a)[None],
        "up_proj.weight": b[None],
        "down_proj.weight": torch.full((1, 1), 2 / tiny, dtype=a.dtype),
    }

# %% wrong: the down matrix stands as a column, (2, 1)
def product_network(a, b):
    return {
        "gate_proj.weight": torch.stack((a, -a)),
        "up_proj.weight": torch.stack((b, b)),
        "down_proj.weight": torch.tensor([[1.0], [-1.0]], dtype=a.dtype),
    }

# %% wrong: the down matrix is always float32
def product_network(a, b):
    return {
        "gate_proj.weight": torch.stack((a, -a)),
        "up_proj.weight": torch.stack((b, b)),
        "down_proj.weight": torch.tensor([[1.0, -1.0]]),
    }

# %% wrong: the keys have no ".weight"
def product_network(a, b):
    return {
        "gate_proj": torch.stack((a, -a)),
        "up_proj": torch.stack((b, b)),
        "down_proj": torch.tensor([[1.0, -1.0]], dtype=a.dtype),
    }

# %% wrong: the second feature opposes b instead of a, so it only gives the first one twice
def product_network(a, b):
    return {
        "gate_proj.weight": torch.stack((a, a)),
        "up_proj.weight": torch.stack((b, -b)),
        "down_proj.weight": torch.tensor([[1.0, -1.0]], dtype=a.dtype),
    }

# %% wrong: the square of (a + b) x less the square of (a - b) x, without the 4
def product_network(a, b):
    s, d = a + b, a - b
    return {
        "gate_proj.weight": torch.stack((s, -s, d, -d)),
        "up_proj.weight": torch.stack((s, s, d, d)),
        "down_proj.weight": torch.tensor([[1.0, -1.0, -1.0, 1.0]], dtype=a.dtype),
    }

# %% wrong: a square from a single feature each: SiLU(s) s - SiLU(d) d, a quarter of it
def product_network(a, b):
    s, d = a + b, a - b
    return {
        "gate_proj.weight": torch.stack((s, d)),
        "up_proj.weight": torch.stack((s, d)),
        "down_proj.weight": torch.tensor([[0.25, -0.25]], dtype=a.dtype),
    }

# %% two mistakes: a single feature, and the matrices as vectors without their second axis
def product_network(a, b):
    return {
        "gate_proj.weight": a,
        "up_proj.weight": b,
        "down_proj.weight": torch.ones(1, dtype=a.dtype),
    }

# %% two mistakes: both signs added up, and the down matrix always float32
def product_network(a, b):
    return {
        "gate_proj.weight": torch.stack((a, -a)),
        "up_proj.weight": torch.stack((b, b)),
        "down_proj.weight": torch.ones(1, 2),
    }

# %% right: four features, the squares of (a + b) x and (a - b) x
def product_network(a, b):
    s, d = a + b, a - b
    return {
        "gate_proj.weight": torch.stack((s, -s, d, -d)),
        "up_proj.weight": torch.stack((s, s, d, d)),
        "down_proj.weight": torch.tensor([[0.25, -0.25, -0.25, 0.25]], dtype=a.dtype),
    }

# %% right: b in the gate, and the sign in the up branch
def product_network(a, b):
    sign = torch.tensor([1, -1], dtype=a.dtype)
    return {
        "up_proj.weight": torch.outer(sign, a),
        "gate_proj.weight": torch.outer(sign, b),
        "down_proj.weight": sign.abs()[None],
    }

# %% right: three features, two of them with half the weight
def product_network(a, b):
    gate = torch.stack((a, a, -a), dim=0)
    up = b.expand(3, -1).contiguous()
    down = a.new_tensor([[0.5, 0.5, -1.0]])
    return dict(zip(("gate_proj.weight", "up_proj.weight", "down_proj.weight"), (gate, up, down)))

# %% right: the gate ten times as steep, the up branch half as large, and the down matrix makes up for both
def product_network(a, b):
    return {
        "gate_proj.weight": torch.stack((10 * a, -10 * a)),
        "up_proj.weight": torch.stack((b / 2, b / 2)),
        "down_proj.weight": torch.tensor([[0.2, -0.2]], dtype=a.dtype),
    }

# %% right: four features, both ways round, each with half
def product_network(a, b):
    return {
        "gate_proj.weight": torch.stack((a, -a, b, -b)), "up_proj.weight": torch.stack((b, -b, a, -a)),
        "down_proj.weight": torch.full((1, 4), 0.5, dtype=a.dtype),
    }
