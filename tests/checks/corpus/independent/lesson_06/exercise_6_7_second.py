# %% setup
import torch

# %% wrong: doubled compares the error without both with the error of the whole model
def head_roles(whole, alone, pairs, tolerance):
    roles = []
    for h in range(len(alone)):
        if alone[h] - whole > tolerance:
            roles.append("needed")
        elif any(pairs[g, h] - whole > tolerance for g in range(len(alone)) if g != h):
            roles.append("doubled")
        else:
            roles.append("idle")
    return roles

# %% wrong: doubled compares with the error without the head itself, so the other head's need is counted
def head_roles(whole, alone, pairs, tolerance):
    H = len(alone)
    roles = []
    for h in range(H):
        if alone[h] > whole + tolerance:
            roles.append("needed")
        elif max(pairs[h, g] - alone[h] for g in range(H) if g != h) > tolerance:
            roles.append("doubled")
        else:
            roles.append("idle")
    return roles

# %% wrong: only heads that aren't needed themselves are tried as the other head
def head_roles(whole, alone, pairs, tolerance):
    H = len(alone)
    needed = [bool(alone[h] - whole > tolerance) for h in range(H)]
    roles = []
    for h in range(H):
        partners = [g for g in range(H) if g != h and not needed[g]]
        if needed[h]:
            roles.append("needed")
        elif any(pairs[g, h] - alone[g] > tolerance for g in partners):
            roles.append("doubled")
        else:
            roles.append("idle")
    return roles

# %% wrong: doubled is asked first, so a needed head that some other head would miss too is called doubled
def head_roles(whole, alone, pairs, tolerance):
    H = len(alone)
    roles = []
    for h in range(H):
        if any(pairs[g, h] - alone[g] > tolerance for g in range(H) if g != h):
            roles.append("doubled")
        elif alone[h] - whole > tolerance:
            roles.append("needed")
        else:
            roles.append("idle")
    return roles

# %% wrong: the error of the whole model is forgotten, an error above the tolerance counts as a rise
def head_roles(whole, alone, pairs, tolerance):
    H = len(alone)
    roles = []
    for h in range(H):
        if alone[h] > tolerance:
            roles.append("needed")
        elif any(pairs[g, h] - alone[g] > tolerance for g in range(H) if g != h):
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

# %% wrong: a rise of exactly the tolerance counts too
def head_roles(whole, alone, pairs, tolerance):
    H = len(alone)
    roles = []
    for h in range(H):
        if alone[h] - whole >= tolerance:
            roles.append("needed")
        elif any(pairs[g, h] - alone[g] >= tolerance for g in range(H) if g != h):
            roles.append("doubled")
        else:
            roles.append("idle")
    return roles

# %% wrong: a head is doubled only if every other head is a stand-in, not if one is
def head_roles(whole, alone, pairs, tolerance):
    H = len(alone)
    roles = []
    for h in range(H):
        if alone[h] - whole > tolerance:
            roles.append("needed")
        elif all(pairs[g, h] - alone[g] > tolerance for g in range(H) if g != h):
            roles.append("doubled")
        else:
            roles.append("idle")
    return roles

# %% wrong: only the next head is looked at as a stand-in, heads after the last wrap around
def head_roles(whole, alone, pairs, tolerance):
    H = len(alone)
    roles = []
    for h in range(H):
        g = (h + 1) % H
        if alone[h] - whole > tolerance:
            roles.append("needed")
        elif pairs[g, h] - alone[g] > tolerance:
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

# %% right: no loop over the partners, the largest rise of each column; a head beside itself rises by 0
def head_roles(whole, alone, pairs, tolerance):
    alone, pairs = torch.as_tensor(alone), torch.as_tensor(pairs)
    needed = alone - whole > tolerance
    beside = (pairs - alone[:, None]).fill_diagonal_(float("-inf"))
    doubled = beside.max(dim=0).values > tolerance
    words = ("idle", "doubled", "needed", "needed")
    return [words[2 * int(a) + int(b)] for a, b in zip(needed, doubled)]

# %% right: everything starts as idle and is raised, doubled first and needed over it; plain numbers
def head_roles(whole, alone, pairs, tolerance):
    single = [float(error) for error in alone]
    roles = ["idle"] * len(single)
    for g, row in enumerate(pairs):
        for h, error in enumerate(row):
            if h != g and float(error) - single[g] > tolerance:
                roles[h] = "doubled"
    for h, error in enumerate(single):
        if error - float(whole) > tolerance:
            roles[h] = "needed"
    return roles

# %% right: one expression, the other heads by list slices
def head_roles(whole, alone, pairs, tolerance):
    heads = range(len(alone))
    return [
        "needed"
        if alone[h] - whole > tolerance
        else ("idle", "doubled")[any(pairs[g][h] - alone[g] > tolerance for g in [*heads[:h], *heads[h + 1 :]])]
        for h in heads
    ]
