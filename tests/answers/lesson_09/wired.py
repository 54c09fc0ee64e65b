# %% setup
import torch

# %% wrong: parallel as plain pre-norm, one sublayer after the other
def wired(x, attend, network, norms, wiring):
    if wiring == "parallel":
        x = x + attend(norms[0](x))
        return x + network(norms[0](x))
    x = x + norms[1](attend(norms[0](x)))
    return x + norms[3](network(norms[2](x)))

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

# %% wrong: in parallel x is overwritten by its norm
def wired(x, attend, network, norms, wiring):
    if wiring == "parallel":
        x = norms[0](x)
        return x + attend(x) + network(x)
    x = x + norms[1](attend(norms[0](x)))
    return x + norms[3](network(norms[2](x)))

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

# %% wrong: in parallel the network reads what attention gave
def wired(x, attend, network, norms, wiring):
    if wiring == "parallel":
        return x + network(attend(norms[0](x)))
    x = x + norms[1](attend(norms[0](x)))
    return x + norms[3](network(norms[2](x)))

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
