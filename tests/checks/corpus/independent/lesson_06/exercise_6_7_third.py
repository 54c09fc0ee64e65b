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
