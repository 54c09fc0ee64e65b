# %% setup
import torch

# %% wrong: moves only the last position, so leaks from other later positions are not found
def leaks(attend, x):
    torch.manual_seed(0)
    changed = x.clone()
    changed[:, -1] = torch.randn_like(changed[:, -1])
    difference = (attend(changed) - attend(x))[:, :-1].abs().max()
    return bool(difference > 1e-5)

# %% wrong: moves all entries of a token by the same number, which functions that normalize each token do not notice
def leaks(attend, x):
    before = attend(x)
    for t in range(1, x.shape[1]):
        changed = x.clone()
        changed[:, t:] += 3.0
        after = attend(changed)
        if (after - before)[:, :t].abs().max() > 1e-5:
            return True
    return False

# %% wrong: changes x itself in place instead of a copy
def leaks(attend, x):
    torch.manual_seed(0)
    before = attend(x).clone()
    for t in range(x.shape[1] - 1, 0, -1):
        x[:, t] = torch.randn_like(x[:, t])
        if ((attend(x) - before)[:, :t].abs() > 1e-5).any():
            return True
    return False

# %% wrong: compares with a tolerance of 1e-2, so faint leaks of a few ten-thousandths are not found
def leaks(attend, x):
    torch.manual_seed(0)
    before = attend(x)
    for t in range(1, x.shape[1]):
        changed = x.clone()
        changed[:, t:] = torch.randn_like(changed[:, t:])
        if not torch.allclose(attend(changed)[:, :t], before[:, :t], rtol=0.0, atol=1e-2):
            return True
    return False

# %% wrong: adds up the signed differences over all outputs, which cancel where the outputs are normalized, instead of taking absolute values
def leaks(attend, x):
    torch.manual_seed(0)
    before = attend(x)
    for t in range(1, x.shape[1]):
        changed = x.clone()
        changed[:, t:] = torch.randn_like(changed[:, t:])
        change = (attend(changed)[:, :t] - before[:, :t]).sum()
        if abs(change.item()) > 1e-5:
            return True
    return False

# %% wrong: counts the changed position itself among the earlier outputs (off by one in the slice), so functions that use their own input are said to leak
def leaks(attend, x):
    torch.manual_seed(0)
    before = attend(x)
    for t in range(1, x.shape[1]):
        changed = x.clone()
        changed[:, t:] = torch.randn_like(changed[:, t:])
        after = attend(changed)
        if (after[:, : t + 1] - before[:, : t + 1]).abs().max() > 1e-5:
            return True
    return False

# %% two mistakes: looks at the first item of the batch only; and demands exact equality, so mere rounding counts as a leak
def leaks(attend, x):
    torch.manual_seed(0)
    before = attend(x)
    for t in range(1, x.shape[1]):
        changed = x.clone()
        changed[0, t:] = torch.randn_like(changed[0, t:])
        after = attend(changed)
        if not torch.equal(after[0, :t], before[0, :t]):
            return True
    return False

# %% right: replaces all later positions by random numbers, several times with several sizes, from an own generator
def leaks(attend, x):
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        before = attend(x.clone()).clone()
        for size in (0.5, 1.0, 2.0, 4.0):
            for t in range(1, x.shape[1]):
                noise = torch.randn(x[:, t:].shape, generator=generator, dtype=x.dtype) * size
                after = attend(torch.cat([x[:, :t], x[:, t:] + noise], dim=1))
                if (after[:, :t] - before[:, :t]).abs().max().item() > 1e-5:
                    return True
    return False

# %% right: moves one position at a time and looks at all outputs before it, with a table of who depends on whom
def leaks(attend, x):
    generator = torch.Generator().manual_seed(11)
    B, L, d = x.shape
    base = attend(x.clone()).detach().clone()
    moved = torch.zeros(L, L, dtype=x.dtype)  # moved[i, j]: how far output i goes when input j changes
    for trial in range(6):
        for j in range(L):
            other = x.detach().clone()
            other[:, j] += torch.randn(B, d, generator=generator).to(x.dtype) * (1 + trial / 2)
            change = (attend(other).detach() - base).abs().amax(dim=(0, 2))
            moved[:, j] = torch.maximum(moved[:, j], change)
    return bool((torch.triu(moved, diagonal=1) > 1e-5).any())

# %% right: changes every single number of the input by itself, up and down, without random numbers
def leaks(attend, x):
    B, L, d = x.shape
    before = attend(x.clone()).detach().clone()
    found = False
    for b in range(B):
        for t in range(1, L):
            for c in range(d):
                for step in (-2.5, -0.7, 0.9, 3.0):
                    other = x.detach().clone()
                    other[b, t, c] = other[b, t, c] + step
                    gap = attend(other)[:, :t].detach() - before[:, :t]
                    found = found or gap.abs().max().item() > 2e-5
    return found


# %% wrong: named in the review: compares exactly, so rounding counts as a leak
def leaks(attend, x):
    before = attend(x)
    for t in range(x.shape[1] - 1):
        changed = x.clone()
        changed[:, t + 1 :] = torch.randn(changed[:, t + 1 :].shape, generator=torch.Generator().manual_seed(t), dtype=x.dtype)
        if not torch.equal(attend(changed)[:, : t + 1], before[:, : t + 1]):
            return True
    return False


# %% wrong: named in the review: compares the means of the outputs, in which opposite changes cancel
def leaks(attend, x):
    before = attend(x)
    for t in range(x.shape[1] - 1):
        changed = x.clone()
        changed[:, t + 1 :] = torch.randn(changed[:, t + 1 :].shape, generator=torch.Generator().manual_seed(t), dtype=x.dtype)
        if abs((attend(changed)[:, : t + 1].mean() - before[:, : t + 1].mean()).item()) > 1e-5:
            return True
    return False


# %% wrong: named in the review: compares the sums of the outputs, in which opposite changes cancel
def leaks(attend, x):
    before = attend(x)
    for t in range(x.shape[1] - 1):
        changed = x.clone()
        changed[:, t + 1 :] = torch.randn(changed[:, t + 1 :].shape, generator=torch.Generator().manual_seed(t), dtype=x.dtype)
        if abs((attend(changed)[:, : t + 1].sum() - before[:, : t + 1].sum()).item()) > 1e-5:
            return True
    return False


# %% wrong: named in the review: compares the lengths (norms) of the outputs
def leaks(attend, x):
    before = attend(x)
    for t in range(x.shape[1] - 1):
        changed = x.clone()
        changed[:, t + 1 :] = torch.randn(changed[:, t + 1 :].shape, generator=torch.Generator().manual_seed(t), dtype=x.dtype)
        if ((attend(changed)[:, : t + 1].norm(dim=-1) - before[:, : t + 1].norm(dim=-1)).abs() > 1e-5).any():
            return True
    return False


# %% wrong: named in the review: compares with a relative tolerance of 1e-2 (allclose)
def leaks(attend, x):
    before = attend(x)
    for t in range(x.shape[1] - 1):
        changed = x.clone()
        changed[:, t + 1 :] = torch.randn(changed[:, t + 1 :].shape, generator=torch.Generator().manual_seed(t), dtype=x.dtype)
        if not torch.allclose(attend(changed)[:, : t + 1], before[:, : t + 1], rtol=1e-2):
            return True
    return False


# %% wrong: named in the review: takes the gradient of the plain sum of each output, in which opposite entries cancel
def leaks(attend, x):
    for t in range(x.shape[1] - 1):
        leaf = x.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(attend(leaf)[:, t].sum(), leaf)
        if (gradient[:, t + 1 :].abs() > 1e-5).any():
            return True
    return False
