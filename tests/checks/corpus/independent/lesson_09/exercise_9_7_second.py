# %% setup
import torch

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

# %% wrong: in parallel each branch brings its own x, so x counts twice
def wired(x, attend, network, norms, wiring):
    if wiring == "parallel":
        seen = norms[0](x)
        return (x + attend(seen)) + (x + network(seen))
    x = x + norms[1](attend(norms[0](x)))
    return x + norms[3](network(norms[2](x)))

# %% wrong: in parallel the norm is on the sum, and the branches read x as it came
def wired(x, attend, network, norms, wiring):
    if wiring == "parallel":
        return norms[0](x + attend(x) + network(x))
    x = x + norms[1](attend(norms[0](x)))
    return x + norms[3](network(norms[2](x)))

# %% wrong: in the sandwich the network reads only what attention added, not the sum
def wired(x, attend, network, norms, wiring):
    if wiring == "parallel":
        seen = norms[0](x)
        return x + attend(seen) + network(seen)
    change = norms[1](attend(norms[0](x)))
    return x + change + norms[3](network(norms[2](change)))

# %% wrong: in the sandwich the last norm is on the last sum
def wired(x, attend, network, norms, wiring):
    if wiring == "parallel":
        seen = norms[0](x)
        return x + attend(seen) + network(seen)
    x = x + norms[1](attend(norms[0](x)))
    return norms[3](x + network(norms[2](x)))

# %% wrong: the sandwich has the pair of norms around both sublayers together
def wired(x, attend, network, norms, wiring):
    if wiring == "parallel":
        seen = norms[0](x)
        return x + attend(seen) + network(seen)
    return x + norms[3](network(norms[2](norms[1](attend(norms[0](x))))))

# %% wrong: in parallel only attention is added, the network reads the same and is forgotten
def wired(x, attend, network, norms, wiring):
    if wiring == "parallel":
        seen = norms[0](x)
        return x + attend(seen)
    x = x + norms[1](attend(norms[0](x)))
    return x + norms[3](network(norms[2](x)))

# %% wrong: in the sandwich the norm on what a sublayer gives is left out
def wired(x, attend, network, norms, wiring):
    if wiring == "parallel":
        seen = norms[0](x)
        return x + attend(seen) + network(seen)
    x = x + attend(norms[0](x))
    return x + network(norms[2](x))
