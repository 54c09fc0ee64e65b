# %% setup
import torch

# %% wrong: keys and values are taken to come from the same sequence
def roles(layer, L, d):
    x, memory = torch.randn(2, L, d, dtype=torch.float64)
    source = "x" if layer(torch.zeros_like(x), memory).abs().max() == 0 else "memory"
    return ["memory" if source == "x" else "x", source, source]

# %% wrong: always the lesson's cross-attention
def roles(layer, L, d):
    return ["x", "memory", "memory"]

# %% wrong: whoever moves the output when it becomes zero is taken for queries and keys alike
def roles(layer, L, d):
    x, memory = torch.randn(2, L, d, dtype=torch.float64)
    out = layer(x, memory)
    values = "x" if layer(0 * x, memory).abs().max() == 0 else "memory"
    by_x = not torch.allclose(layer(torch.flip(x, (0,)), memory), out)
    by_memory = not torch.allclose(layer(x, torch.flip(memory, (0,))), out)
    return ["x" if by_x else "memory", "memory" if by_memory else "x", values]

# %% two mistakes: exchanges queries and keys; and takes the values from where the keys come
def roles(layer, L, d):
    x, memory = torch.randn(2, L, d, dtype=torch.float64)
    moved = x.clone()
    moved[1] += 1
    rows = (layer(moved, memory) - layer(x, memory)).abs().amax(-1) > 1e-9
    first = "x" if rows[0] else "memory"
    return [first, "x" if rows[1] else "memory", first]

# %% right: equal weights if the queries or the keys are zero, and finite differences of single tokens
def roles(layer, L, d):
    torch.manual_seed(1)
    x, memory = torch.randn(2, L, d, dtype=torch.float64)
    names = ("x", "memory")
    inputs = {"x": x, "memory": memory}

    def call(**new):
        return layer(**{**inputs, **new})

    base = call()
    values = next(name for name in names if not call(**{name: torch.zeros_like(x)}).any())
    asks_or_offers = "memory" if values == "x" else "x"
    changed = inputs[asks_or_offers].clone()
    changed[-1] *= -1.5
    moved = [bool((a - b).abs().max() > 1e-9) for a, b in zip(call(**{asks_or_offers: changed}), base)]
    keys = asks_or_offers if moved[0] else values
    if keys == values:
        queries = asks_or_offers if moved[-1] else values
    else:
        three = call(**{values: 3 * inputs[values]})
        queries = asks_or_offers if (three - 3 * base).abs().max() < 1e-9 else values
    return [queries, keys, values]

# %% right: by derivatives
def roles(layer, L, d):
    gen = torch.Generator().manual_seed(7)
    x, memory = (torch.randn(L, d, generator=gen, dtype=torch.float64) for _ in range(2))
    zero = torch.zeros(L, d, dtype=torch.float64)
    values = "x" if float(layer(zero, memory).norm()) < 1e-12 else "memory"
    J_x, J_m = torch.autograd.functional.jacobian(layer, (x, memory))
    other, J = ("memory", J_m) if values == "x" else ("x", J_x)
    across = J[0, :, 1].abs().max() > 1e-10
    own = J[0, :, 0].abs().max() > 1e-10
    if not across:
        return [other if own else values, values, values]
    flipped = layer(-x, memory) if values == "x" else layer(x, -memory)
    same = torch.allclose(flipped, -layer(x, memory), rtol=1e-7, atol=1e-10)
    return [other if same else values, other, values]
