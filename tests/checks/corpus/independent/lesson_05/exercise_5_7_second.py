# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: takes the gradient of the sum of a position's outputs, so leaks whose effects on the entries cancel are missed
def leaks(attend, x):
    x = x.detach().clone().requires_grad_(True)
    out = attend(x)
    for t in range(x.shape[1] - 1):
        (grad,) = torch.autograd.grad(out[:, t].sum(), x, retain_graph=True)
        if (grad[:, t + 1 :].abs() > 1e-6).any():
            return True
    return False

# %% wrong: adds the same number to all entries of the later tokens, so functions that normalize each token first are not noticed
def leaks(attend, x):
    with torch.no_grad():
        before = attend(x)
        for t in range(1, x.shape[1]):
            other = x.clone()
            other[:, t:] += 3.0
            if (attend(other)[:, :t] - before[:, :t]).abs().max() > 1e-5:
                return True
    return False

# %% wrong: changes only the last token, so leaks from any other later position are missed
def leaks(attend, x):
    other = x.clone()
    other[:, -1] = torch.randn_like(other[:, -1])
    with torch.no_grad():
        difference = (attend(other) - attend(x))[:, :-1].abs()
    return bool((difference > 1e-5).any())

# %% wrong: compares with a tolerance of 1e-2, so faint leaks of a few ten-thousandths are missed
def leaks(attend, x):
    with torch.no_grad():
        before = attend(x)
        for t in range(1, x.shape[1]):
            other = torch.cat([x[:, :t], torch.randn_like(x[:, t:])], dim=1)
            if not torch.allclose(attend(other)[:, :t], before[:, :t], rtol=0, atol=1e-2):
                return True
    return False

# %% two mistakes: looks at the first item of the batch only; and writes the changed tokens into x itself
def leaks(attend, x):
    with torch.no_grad():
        before = attend(x).clone()
        for t in range(x.shape[1] - 1, 0, -1):
            x[:, t] = torch.randn_like(x[:, t])
            after = attend(x)
            if (after[0, :t] - before[0, :t]).abs().max() > 1e-5:
                return True
    return False

# %% right: replaces the whole tail by random tokens several times, also larger ones, with its own random generator
def leaks(attend, x):
    rng = torch.Generator().manual_seed(7)
    x = x.detach()
    with torch.no_grad():
        before = attend(x.clone()).clone()
        for t in range(1, x.shape[1]):
            for size in (1.0, 1.0, 3.0, 10.0):
                tail = size * torch.randn(x[:, t:].shape, generator=rng)
                other = torch.cat([x[:, :t], tail.to(x)], dim=1)
                if ((attend(other)[:, :t] - before[:, :t]).abs() > 1e-5).any():
                    return True
    return False

# %% right: the whole Jacobian, entry by entry, at x and at two random places beside it
def leaks(attend, x):
    rng = torch.Generator().manual_seed(3)
    L = x.shape[1]
    later = torch.arange(L)[None, :] > torch.arange(L)[:, None]  # (output, input)
    for step in (0.0, 0.5, 2.0):
        place = x.detach() + step * torch.randn(x.shape, generator=rng).to(x)
        jacobian = torch.autograd.functional.jacobian(attend, place).abs()  # (B, L, d, B, L, d)
        strongest = jacobian.amax(dim=(0, 2, 3, 5))  # (L, L)
        if bool((strongest[later] > 2e-6).any()):
            return True
    return False
