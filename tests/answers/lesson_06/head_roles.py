# %% setup
import torch

# %% wrong: compares the error without two heads with the whole model: an idle head beside a needed one is called doubled
def head_roles(whole, alone, pairs, tolerance):
    roles = []
    H = len(alone)
    for h in range(H):
        if alone[h] - whole > tolerance:
            roles.append("needed")
        elif any(pairs[g, h] - whole > tolerance for g in range(H) if g != h):
            roles.append("doubled")
        else:
            roles.append("idle")
    return roles

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

# %% wrong: forgets to subtract the error of the whole model
def head_roles(whole, alone, pairs, tolerance):
    H = len(alone)
    roles = ["idle"] * H
    for h in range(H):
        for g in range(H):
            if pairs[g, h] - alone[g] > tolerance:
                roles[h] = "doubled"
        if alone[h] > tolerance:
            roles[h] = "needed"
    return roles

# %% wrong: a needed head that is also missed beside another one ends up as doubled
def head_roles(whole, alone, pairs, tolerance):
    H = len(alone)
    roles = ["idle"] * H
    for h in range(H):
        if alone[h] - whole > tolerance:
            roles[h] = "needed"
        for g in range(H):
            if g != h and pairs[g, h] - alone[g] > tolerance:
                roles[h] = "doubled"
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

# %% two mistakes: never subtracts the whole, and compares pairs with the error without this head
def head_roles(whole, alone, pairs, tolerance):
    H = len(alone)
    roles = []
    for h in range(H):
        if alone[h] > tolerance:
            roles.append("needed")
        elif any(pairs[g, h] - alone[h] > tolerance for g in range(H)):
            roles.append("doubled")
        else:
            roles.append("idle")
    return roles

# %% wrong: changes in either direction count, the sign of the difference is dropped
def head_roles(whole, alone, pairs, tolerance):
    H = len(alone)
    roles = []
    for h in range(H):
        if abs(alone[h] - whole) > tolerance:
            roles.append("needed")
        elif any(abs(pairs[g, h] - alone[g]) > tolerance for g in range(H) if g != h):
            roles.append("doubled")
        else:
            roles.append("idle")
    return roles

# %% two mistakes: the error of the whole model stands in for the other head's, and a fall counts as a rise
def head_roles(whole, alone, pairs, tolerance):
    H = len(alone)
    roles = []
    for h in range(H):
        if abs(alone[h] - whole) > tolerance:
            roles.append("needed")
        elif any(abs(pairs[g, h] - whole) > tolerance for g in range(H) if g != h):
            roles.append("doubled")
        else:
            roles.append("idle")
    return roles

# %% two mistakes: needed forgets the error of the whole model, and a rise of exactly the tolerance counts
def head_roles(whole, alone, pairs, tolerance):
    H = len(alone)
    roles = []
    for h in range(H):
        if alone[h] >= tolerance:
            roles.append("needed")
        elif any(pairs[g, h] - alone[g] >= tolerance for g in range(H) if g != h):
            roles.append("doubled")
        else:
            roles.append("idle")
    return roles

# %% wrong: takes off the larger of the two errors without one
def head_roles(whole, alone, pairs, tolerance):
    roles = []
    for h in range(len(alone)):
        others = [g for g in range(len(alone)) if g != h]
        if alone[h] - whole > tolerance:
            roles.append("needed")
        elif any(pairs[g, h] - max(alone[g], alone[h]) > tolerance for g in others):
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
