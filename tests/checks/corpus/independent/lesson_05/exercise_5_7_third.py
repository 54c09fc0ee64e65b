# %% setup
import torch


# %% wrong: tries the divisions 1 to L - 2 only, so a leak from the last position to the one before it stays unseen
def leaks(attend, x):
    before = attend(x)
    for t in range(1, x.shape[1] - 1):
        changed = x.clone()
        changed[:, t:] = torch.randn_like(changed[:, t:])
        if (attend(changed)[:, :t] - before[:, :t]).abs().max() > 1e-5:
            return True
    return False


# %% wrong: compares the mean change over all past numbers with 0.00001, so a faint leak in a single entry is averaged away
def leaks(attend, x):
    before = attend(x)
    for t in range(1, x.shape[1]):
        changed = x.clone()
        changed[:, t:] = torch.randn_like(changed[:, t:])
        if (attend(changed)[:, :t] - before[:, :t]).abs().mean() > 1e-5:
            return True
    return False


# %% wrong: turns the order of the future tokens round instead of giving them new numbers, so a future of one token, or a sum over the future, shows nothing
def leaks(attend, x):
    before = attend(x)
    for t in range(1, x.shape[1]):
        changed = torch.cat([x[:, :t], x[:, t:].flip(1)], dim=1)
        if (attend(changed)[:, :t] - before[:, :t]).abs().max() > 1e-5:
            return True
    return False


# %% wrong: asks for exactly equal outputs, so rounding counts as a leak
def leaks(attend, x):
    before = attend(x)
    for t in range(1, x.shape[1]):
        changed = x.clone()
        changed[:, t:] = torch.randn_like(changed[:, t:])
        if not torch.equal(attend(changed)[:, :t], before[:, :t]):
            return True
    return False


# %% two mistakes: adds one and the same random number to all entries of a future token; and takes changes below 0.01 for rounding
def leaks(attend, x):
    before = attend(x)
    for t in range(1, x.shape[1]):
        changed = x.clone()
        changed[:, t:] += torch.randn(x.shape[0], x.shape[1] - t, 1, dtype=x.dtype)
        if (attend(changed)[:, :t] - before[:, :t]).abs().max() > 0.01:
            return True
    return False


# %% right: begins with noise everywhere, puts the tokens of x back one by one from the front and looks only at the newest token put back
def leaks(attend, x):
    with torch.no_grad():
        wanted = attend(x.clone())
        for _ in range(3):
            mixed = torch.randn_like(x) * 2
            for t in range(x.shape[1] - 1):
                mixed = mixed.clone()
                mixed[:, t] = x[:, t]
                if ((attend(mixed)[:, t] - wanted[:, t]).abs() > 1e-5).any():
                    return True
    return False


# %% right: for every division compares several random futures behind the same past with one another, and asks how far the largest and the smallest output lie apart
def leaks(attend, x):
    positions = torch.arange(x.shape[1])[None, :, None]

    def moves(t):
        futures = [torch.where(positions < t, x, torch.randn_like(x) * size) for size in (1.0, 1.0, 3.0)]
        outputs = torch.stack([attend(future).detach()[:, :t] for future in futures])
        return bool((outputs.amax(0) - outputs.amin(0)).max() > 2e-5)

    return any(moves(t) for t in range(x.shape[1] - 1, 0, -1))
