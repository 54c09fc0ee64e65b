# %% setup
import torch

# %% wrong: compares the error without two heads with the error without this head
def head_roles(whole, alone, pairs, tolerance):
    roles = []
    for h in range(len(alone)):
        if alone[h] - whole > tolerance:
            roles.append("needed")
        elif (pairs[:, h] - alone[h] > tolerance).any():
            roles.append("doubled")
        else:
            roles.append("idle")
    return roles

# %% wrong: a rise of the tolerance itself counts
def head_roles(whole, alone, pairs, tolerance):
    roles = []
    for h in range(len(alone)):
        if alone[h] - whole >= tolerance:
            roles.append("needed")
        elif max(pairs[g, h] - alone[g] for g in range(len(alone))) >= tolerance:
            roles.append("doubled")
        else:
            roles.append("idle")
    return roles

# %% wrong: looks only at one head at a time, so no head is doubled
def head_roles(whole, alone, pairs, tolerance):
    return ["needed" if error - whole > tolerance else "idle" for error in alone.tolist()]

# %% two mistakes: compares pairs with the whole model, and counts a rise of the tolerance itself
def head_roles(whole, alone, pairs, tolerance):
    H = len(alone)
    roles = []
    for h in range(H):
        if alone[h] - whole >= tolerance:
            roles.append("needed")
        elif any(pairs[g, h] - whole >= tolerance for g in range(H) if g != h):
            roles.append("doubled")
        else:
            roles.append("idle")
    return roles

# %% right: the largest rise of each head, by the symmetry of the table
def head_roles(whole, alone, pairs, tolerance):
    largest = (pairs.T - alone).amax(1)
    return [
        "needed" if a - whole > tolerance else "idle" if r <= tolerance else "doubled"
        for a, r in zip(alone, largest)
    ]

# %% right: no loop over the partners, the largest rise of each column; a head beside itself rises by 0
def head_roles(whole, alone, pairs, tolerance):
    alone, pairs = torch.as_tensor(alone), torch.as_tensor(pairs)
    needed = alone - whole > tolerance
    beside = (pairs - alone[:, None]).fill_diagonal_(float("-inf"))
    doubled = beside.max(dim=0).values > tolerance
    words = ("idle", "doubled", "needed", "needed")
    return [words[2 * int(a) + int(b)] for a, b in zip(needed, doubled)]

# %% right: one expression, the other heads by list slices
def head_roles(whole, alone, pairs, tolerance):
    heads = range(len(alone))
    return [
        "needed"
        if alone[h] - whole > tolerance
        else ("idle", "doubled")[any(pairs[g][h] - alone[g] > tolerance for g in [*heads[:h], *heads[h + 1 :]])]
        for h in heads
    ]
