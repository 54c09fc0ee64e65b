# %% setup
import torch

# %% wrong: a sublayer of zeros, which does not tell a fresh sandwich from pre-norm
def wiring_of(connection, d_model):
    x, seen = torch.randn(1, 3, d_model) * 2 + 1, []

    def nothing(y):
        seen.append(y)
        return torch.zeros_like(y)

    out = connection(x, nothing)
    if torch.allclose(seen[0], x):
        return "no norm" if torch.allclose(out, x) else "post-norm"
    if torch.allclose(out, x):
        return "pre-norm"
    return "lost path" if torch.allclose(out, seen[0]) else "sandwich"

# %% wrong: takes what comes out of a norm to have mean 0
def wiring_of(connection, d_model):
    x, seen = torch.randn(2, 3, d_model) * 2 + 1, []

    def spy(y):
        seen.append(y)
        return 5 + torch.arange(float(d_model)).expand_as(y)

    def normed(y):
        return y.mean(-1).abs().max() < 1e-3

    out = connection(x, spy)
    if normed(out):
        return "post-norm"
    if not normed(seen[0]):
        return "no norm"
    if normed(out - x):
        return "sandwich"
    return "lost path" if normed(out - spy(x)) else "pre-norm"

# %% wrong: never looks at what the sublayer got
def wiring_of(connection, d_model):
    x, change = torch.randn(1, 3, d_model), torch.randn(1, 3, d_model)
    out = connection(x, lambda y: change)
    if torch.allclose(out, x + change, atol=1e-5):
        return "pre-norm"
    return "post-norm"

# %% wrong: judges by what ten times the input does to the output
def wiring_of(connection, d_model):
    x = torch.randn(1, 3, d_model)
    small, large = connection(x, lambda y: 0 * y), connection(10 * x, lambda y: 0 * y)
    return "post-norm" if torch.allclose(small, large, atol=1e-3) else "pre-norm"

# %% two mistakes: zeros from the sublayer; and "no norm" never considered
def wiring_of(connection, d_model):
    x, seen = torch.randn(1, 3, d_model), []
    out = connection(x, lambda y: (seen.append(y), 0 * y)[1])
    if torch.allclose(seen[0], x):
        return "post-norm"
    return "pre-norm" if torch.allclose(out, x) else "sandwich"

# %% right: three sublayers, and what is left when their sum is taken off
def wiring_of(connection, d_model):
    x = torch.randn(2, 4, d_model)
    given = []
    change = 10 * torch.randn(2, 4, d_model)
    left = connection(x, lambda y: given.append(y) or change) - change
    reads = (given[0] - x).abs().max() < 1e-3
    keeps = (left - x).abs().max() < 1e-3
    if keeps:
        return "no norm" if reads else "pre-norm"
    if (left - given[0]).abs().max() < 1e-3:
        return "lost path"
    return "post-norm" if reads else "sandwich"

# %% right: by whether the output follows the sublayer and the input when they grow
def wiring_of(connection, d_model):
    x, base = torch.randn(1, 2, d_model), torch.randn(1, 2, d_model)
    seen = []

    def make(scale):
        def sublayer(y):
            seen.append(y)
            return scale * base

        return sublayer

    one, two = connection(x, make(1.0)), connection(x, make(2.0))
    linear = torch.allclose(two - one, base, atol=1e-4)
    same = torch.allclose(seen[0], x, atol=1e-5)
    if not linear:
        return "post-norm" if same else "sandwich"
    if same:
        return "no norm"
    return "pre-norm" if torch.allclose(one - base, x, atol=1e-4) else "lost path"
