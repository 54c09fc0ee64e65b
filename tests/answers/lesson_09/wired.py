# %% setup
import torch

# %% wrong: in the sandwich the second norm is on the sum
def wired(x, attend, network, norms, wiring):
    if wiring == "parallel":
        return x + attend(norms[0](x)) + network(norms[0](x))
    x = norms[1](x + attend(norms[0](x)))
    return norms[3](x + network(norms[2](x)))

# %% wrong: the network of the sandwich reads x as it came
def wired(x, attend, network, norms, wiring):
    if wiring == "parallel":
        return x + attend(norms[0](x)) + network(norms[0](x))
    return x + norms[1](attend(norms[0](x))) + norms[3](network(norms[2](x)))

# %% wrong: takes the norms in the order before, before, after, after
def wired(x, attend, network, norms, wiring):
    if wiring == "parallel":
        return x + attend(norms[0](x)) + network(norms[0](x))
    x = x + norms[2](attend(norms[0](x)))
    return x + norms[3](network(norms[1](x)))

# %% two mistakes: no norm behind the sublayers in the sandwich, and in parallel the network reads x without the norm
def wired(x, attend, network, norms, wiring):
    if wiring == "parallel":
        return x + attend(norms[0](x)) + network(x)
    x = x + attend(norms[0](x))
    return x + network(norms[2](x))

# %% right: a small function for the branch of the sandwich
def wired(x, attend, network, norms, wiring):
    def branch(y, f, first, last):
        return last(f(first(y)))

    if wiring == "sandwich":
        x = x + branch(x, attend, norms[0], norms[1])
        x = x + branch(x, network, norms[2], norms[3])
        return x
    seen = norms[0](x)
    return torch.stack([x, attend(seen), network(seen)]).sum(0)

# %% right: the norm is called anew for each sublayer
def wired(x, attend, network, norms, wiring):
    if wiring == "parallel":
        return x + network(norms[0](x)) + attend(norms[0](x))
    before_a, after_a, before_n, after_n = norms
    half = x + after_a(attend(before_a(x)))
    return half + after_n(network(before_n(half)))

# %% right: a loop over two branches, with the norms taken in pairs
def wired(x, attend, network, norms, wiring):
    if wiring == "parallel":
        (norm,) = norms
        branches = [f(norm(x)) for f in (attend, network)]
        return sum(branches, x)
    for n, f in enumerate((attend, network)):
        before, after = norms[2 * n : 2 * n + 2]
        x = torch.add(after(f(before(x))), x)
    return x
