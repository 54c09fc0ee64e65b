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

# %% wrong: asks that the head be missed beside every other head
def head_roles(whole, alone, pairs, tolerance):
    H = len(alone)
    roles = []
    for h in range(H):
        others = [g for g in range(H) if g != h]
        if alone[h] - whole > tolerance:
            roles.append("needed")
        elif others and all(pairs[g, h] - alone[g] > tolerance for g in others):
            roles.append("doubled")
        else:
            roles.append("idle")
    return roles

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

# %% right: three plain loops
def head_roles(whole, alone, pairs, tolerance):
    roles = []
    for h in range(len(alone)):
        role = "idle"
        for g in range(len(alone)):
            if g != h and float(pairs[g][h]) - float(alone[g]) > tolerance:
                role = "doubled"
        if float(alone[h]) - whole > tolerance:
            role = "needed"
        roles.append(role)
    return roles

# %% right: numbers 0, 1, 2 as an index into the words
def head_roles(whole, alone, pairs, tolerance):
    doubled = ((pairs - alone.unsqueeze(1)) > tolerance).any(0).long()
    needed = (alone - whole > tolerance).long()
    return [("idle", "doubled", "needed")[i] for i in torch.maximum(2 * needed, doubled).tolist()]

# %% right: the largest rise of each head, by the symmetry of the table
def head_roles(whole, alone, pairs, tolerance):
    largest = (pairs.T - alone).amax(1)
    return [
        "needed" if a - whole > tolerance else "idle" if r <= tolerance else "doubled"
        for a, r in zip(alone, largest)
    ]
