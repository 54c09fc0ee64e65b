# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: takes keys and values to come from the same sequence
def roles(layer, L, d):
    x, memory = torch.randn(L, d).double(), torch.randn(L, d).double()
    values = "memory" if layer(x, torch.zeros_like(memory)).abs().max() < 1e-9 else "x"
    keys = values
    other = memory if values == "x" else x
    changed = other.clone()
    changed[0] += 1
    after = layer(x, changed) if values == "x" else layer(changed, memory)
    same = (after - layer(x, memory)).abs().max() < 1e-9
    queries = values if same else ("x" if values == "memory" else "memory")
    return [queries, keys, values]

# %% wrong: where all rows change it takes the queries to come from the values' sequence, without a further test
def roles(layer, L, d):
    x, memory = torch.randn(L, d).double(), torch.randn(L, d).double()
    base = layer(x, memory)
    if layer(x, memory * 0).abs().max() < 1e-9:
        values, other = "memory", "x"
        changed = x.clone()
        changed[0] = torch.randn(d).double()
        after = layer(changed, memory)
    else:
        values, other = "x", "memory"
        changed = memory.clone()
        changed[0] = torch.randn(d).double()
        after = layer(x, changed)
    rows = ((after - base).abs() > 1e-9).any(dim=1).sum().item()
    if rows == 0:
        return [values, values, values]
    if rows == 1:
        return [other, values, values]
    return [values, other, values]

# %% wrong: where all rows change it takes both queries and keys to come from the other sequence
def roles(layer, L, d):
    inputs = {"x": torch.randn(L, d).double(), "memory": torch.randn(L, d).double()}
    base = layer(inputs["x"], inputs["memory"])
    zero = layer(inputs["x"], torch.zeros(L, d).double())
    values = "memory" if zero.abs().max() < 1e-9 else "x"
    other = "x" if values == "memory" else "memory"
    inputs[other] = inputs[other].clone()
    inputs[other][1] *= 3
    rows = ((layer(inputs["x"], inputs["memory"]) - base).abs() > 1e-9).any(dim=1).sum()
    if rows == 0:
        return [values] * 3
    return [other, values, values] if rows == 1 else [other, other, values]

# %% wrong: gives memory the values as soon as another memory makes another output
def roles(layer, L, d):
    x, memory = torch.randn(L, d).double(), torch.randn(L, d).double()
    base = layer(x, memory)
    values = "memory" if not torch.allclose(layer(x, torch.randn(L, d).double()), base) else "x"

    def rows_that_change(name):
        new = {"x": x.clone(), "memory": memory.clone()}
        new[name][0] += 1
        return ((layer(new["x"], new["memory"]) - base).abs() > 1e-9).any(dim=1).sum().item()

    other = "x" if values == "memory" else "memory"
    rows = rows_that_change(other)
    if rows == 0:
        return [values] * 3
    if rows == 1:
        return [other, values, values]
    s = {"x": x, "memory": memory}
    s[values] = 2 * s[values]
    if torch.allclose(layer(s["x"], s["memory"]), 2 * base):
        return [other, other, values]
    return [values, other, values]

# %% wrong: sets x to 0 and takes rows that are all alike as a sign that x gives the queries, though it may also be the keys
def roles(layer, L, d):
    x, memory, zero = torch.randn(L, d), torch.randn(L, d), torch.zeros(L, d)
    values = "x" if layer(zero, memory).abs().max() < 1e-6 else "memory"

    def alike(out):
        return (out - out[0]).abs().max() < 1e-5

    if values == "memory":
        queries = "x" if alike(layer(zero, memory)) else "memory"
    else:
        queries = "memory" if alike(layer(x, zero)) else "x"
    other = "x" if values == "memory" else "memory"
    keys = values if queries == other else other
    return [queries, keys, values]

# %% wrong: tries inputs of ones, where all tokens are alike and the weights never change
def roles(layer, L, d):
    one, zero = torch.ones(L, d).double(), torch.zeros(L, d).double()
    values = "memory" if layer(one, zero).abs().max() < 1e-9 else "x"
    other = "x" if values == "memory" else "memory"
    base = layer(one, one)
    after = layer(2 * one, one) if other == "x" else layer(one, 2 * one)
    rows = ((after - base).abs() > 1e-9).any(dim=1).sum()
    if rows == 0:
        return [values] * 3
    return [other, values, values] if rows == 1 else [values, other, values]

# %% wrong: gives the answer in the order queries, values, keys
def roles(layer, L, d):
    x, memory = torch.randn(L, d).double(), torch.randn(L, d).double()
    base = layer(x, memory)
    source = {"x": x, "memory": memory}

    def call(**new):
        both = {**source, **new}
        return layer(both["x"], both["memory"])

    values = "x" if call(x=0 * x).abs().max() < 1e-9 else "memory"
    other = "memory" if values == "x" else "x"
    changed = source[other].clone()
    changed[0] += 1
    rows = ((call(**{other: changed}) - base).abs() > 1e-9).any(dim=1).sum()
    if rows == 0:
        queries, keys = values, values
    elif rows == 1:
        queries, keys = other, values
    else:
        keys = other
        doubled = call(**{values: 2 * source[values]})
        queries = other if torch.allclose(doubled, 2 * base) else values
    return [queries, values, keys]

# %% wrong: mixes up x and memory in the test for the values, so all three are the other way round
def roles(layer, L, d):
    x, memory = torch.randn(L, d).double(), torch.randn(L, d).double()
    source = {"x": x, "memory": memory}

    def call(**new):
        both = {**source, **new}
        return layer(both["x"], both["memory"])

    base = call()
    values = "x" if call(x=0 * x).abs().max() > 1e-9 else "memory"
    other = "memory" if values == "x" else "x"
    changed = source[other].clone()
    changed[0] += 1
    rows = ((call(**{other: changed}) - base).abs() > 1e-9).any(dim=1).sum()
    if rows == 0:
        return [values, values, values]
    if rows == 1:
        return [other, values, values]
    doubled = call(**{values: 2 * source[values]})
    return [other if torch.allclose(doubled, 2 * base) else values, other, values]

# %% wrong: changes every number of both inputs one at a time, which takes more than 50 calls
def roles(layer, L, d):
    x, memory = torch.randn(L, d).double(), torch.randn(L, d).double()
    base = layer(x, memory)
    effect = {"x": torch.zeros(L, L), "memory": torch.zeros(L, L)}
    for i in range(L):
        for j in range(d):
            for name in effect:
                new = {"x": x.clone(), "memory": memory.clone()}
                new[name][i, j] += 0.1
                out = layer(new["x"], new["memory"])
                effect[name][i] += (out - base).abs().sum(dim=1).float()
    values = "x" if layer(0 * x, memory).abs().max() < 1e-9 else "memory"
    other = "memory" if values == "x" else "x"
    rows = (effect[other] > 1e-7).sum(dim=1).max()
    if rows == 0:
        return [values] * 3
    if rows == 1:
        return [other, values, values]
    double = layer(2 * x, memory) if values == "x" else layer(x, 2 * memory)
    return [other if torch.allclose(double, 2 * base) else values, other, values]

# %% wrong: changes a token by 1e-8 in float32, which no rounding lets through
def roles(layer, L, d):
    x, memory = torch.randn(L, d), torch.randn(L, d)
    source = {"x": x, "memory": memory}
    base = layer(x, memory)
    values = "x" if layer(torch.zeros(L, d), memory).abs().max() == 0 else "memory"
    other = "memory" if values == "x" else "x"
    new = {name: t.clone() for name, t in source.items()}
    new[other][0] += 1e-8
    rows = (layer(new["x"], new["memory"]) != base).any(dim=1).sum()
    if rows == 0:
        return [values] * 3
    if rows == 1:
        return [other, values, values]
    double = {**source, values: 2 * source[values]}
    linear = torch.allclose(layer(double["x"], double["memory"]), 2 * base)
    return [other if linear else values, other, values]

# %% two mistakes: takes keys and values to come from the same sequence; and gives x and memory the other way round
def roles(layer, L, d):
    x, memory = torch.randn(L, d).double(), torch.randn(L, d).double()
    values = "memory" if layer(x, 0 * memory).abs().max() > 1e-9 else "x"
    one = x.clone()
    one[0] += 1
    same = ((layer(one, memory) - layer(x, memory)).abs() < 1e-9).all()
    return ["memory" if same else "x", values, values]

# %% right: by the gradients of one output row, and by linearity
def roles(layer, L, d):
    x = torch.randn(L, d, dtype=torch.float64, requires_grad=True)
    memory = torch.randn(L, d, dtype=torch.float64, requires_grad=True)
    out = layer(x, memory)
    touched = {}
    for name, t in (("x", x), ("memory", memory)):
        grad = torch.autograd.grad(out[0].sum(), t, retain_graph=True, allow_unused=True)[0]
        touched[name] = 0 if grad is None else (grad.abs() > 1e-12).any(dim=1).sum().item()
    with torch.no_grad():
        if layer(0 * x, memory).abs().max() < 1e-9:
            values, other = "x", "memory"
            linear = torch.allclose(layer(3 * x, memory), 3 * out)
        else:
            values, other = "memory", "x"
            linear = torch.allclose(layer(x, 3 * memory), 3 * out)
    if linear:
        return [other, other, values]
    if touched[other] == 0:
        return [values, values, values]
    return [other, values, values] if touched[other] == 1 else [values, other, values]

# %% right: makes layers of all eight kinds itself and looks which of them behaves the same
def roles(layer, L, d):
    x, memory = torch.randn(L, d).double(), torch.randn(L, d).double()

    def behavior(f):
        base = f(x, memory)
        signs = [bool(f(0 * x, memory).abs().max() < 1e-9)]
        signs.append(torch.allclose(f(2 * x, memory), 2 * base, atol=1e-9))
        signs.append(torch.allclose(f(x, 2 * memory), 2 * base, atol=1e-9))
        for which in (0, 1):
            new = [x.clone(), memory.clone()]
            new[which][0] += torch.randn(d).double()
            rows = ((f(*new) - base).abs() > 1e-9).any(dim=1).sum().item()
            signs.append(min(rows, 2))
        return signs

    wanted = behavior(layer)
    for queries in ("x", "memory"):
        for keys in ("x", "memory"):
            for values in ("x", "memory"):
                W = [torch.randn(d, d).double() / d**0.5 for _ in range(3)]

                def own(a, b):
                    given = {"x": a, "memory": b}
                    q, k, v = (given[n] @ w for n, w in zip((queries, keys, values), W))
                    return torch.softmax(q @ k.T / d**0.5, dim=-1) @ v

                if behavior(own) == wanted:
                    return [queries, keys, values]

# %% right: by additivity and by swapping two tokens of the sequence that doesn't give the values
def roles(layer, L, d):
    source = {name: torch.randn(L, d).double() for name in ("x", "memory")}

    def call(**new):
        both = {**source, **new}
        return layer(both["x"], both["memory"])

    def near(a, b):
        return (a - b).abs().max().item() < 1e-8

    values = "x" if near(call(x=0 * source["x"]), 0 * call()) else "memory"
    other = "memory" if values == "x" else "x"
    more = torch.randn(L, d).double()
    if near(call(**{values: source[values] + more}), call() + call(**{values: more})):
        return [other, other, values]
    order = [1, 0, *range(2, L)]
    swapped = call(**{other: source[other][order]})
    if near(swapped, call()):
        return [values, values, values]
    if near(swapped, call()[order]):
        return [other, values, values]
    return [values, other, values]
