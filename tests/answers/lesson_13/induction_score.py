# %% setup
import math
import torch
import torch.nn.functional as F

# %% wrong: scores the earlier copy itself, not the key right after it
def induction_score(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)  # (B, L, L)
    sums = (weights * same[:, None]).sum(dim=-1)  # (B, H, L)
    counts = same.any(dim=-1)  # (B, L)
    return (sums * counts[:, None]).sum(dim=(0, 2)) / counts.sum()


# %% wrong: of several earlier copies only the most recent one counts
def induction_score(weights, tokens):
    B, H, L, _ = weights.shape
    total = torch.zeros(H)
    queries = 0
    for b in range(B):
        for i in range(1, L):
            for j in range(i, 0, -1):
                if tokens[b, j - 1] == tokens[b, i]:
                    total += weights[b, :, i, j]
                    queries += 1
                    break
    return total / queries


# %% wrong: queries whose sum is 0 are left out of the mean, though they have a key
def induction_score(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    after = F.pad(same, (1, 0))[:, :, :-1]  # one to the right
    sums = (weights * after[:, None]).sum(dim=-1)  # (B, H, L)
    used = sums > 0
    return sums.sum(dim=(0, 2)) / used.sum(dim=(0, 2)).clamp(min=1)


# %% wrong: the query's own position never counts, so aa has no key after its first a
def induction_score(weights, tokens):
    same = tokens[:, :, None] == tokens[:, None, :]
    after = same.roll(1, dims=2)
    after[:, :, 0] = False
    after = after.tril(-1)
    sums = (weights * after[:, None]).sum(dim=-1)
    counts = after.any(dim=-1)
    return (sums * counts[:, None]).sum(dim=(0, 2)) / counts.sum()


# %% wrong: a mean of each string first and then the mean of the strings
def induction_score(weights, tokens):
    scores = []
    for w, ids in zip(weights, tokens):
        same = (ids[:, None] == ids[None, :]).tril(-1)
        after = same.roll(1, dims=1)
        counts = after.any(dim=1)
        if counts.any():
            scores.append((w * after).sum(dim=-1)[:, counts].mean(dim=-1))
    return torch.stack(scores).mean(dim=0)


# %% wrong: divides by the number of keys that count, not by the number of queries
def induction_score(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    after = F.pad(same, (1, 0))[..., :-1]
    return (weights * after[:, None]).sum(dim=(0, 2, 3)) / after.sum()


# %% wrong: a query counts as soon as its token comes anywhere else, later too
def induction_score(weights, tokens):
    L = tokens.shape[1]
    same = tokens[:, :, None] == tokens[:, None, :]
    same = same & ~torch.eye(L, dtype=torch.bool)
    after = F.pad(same, (1, 0))[..., :-1]
    sums = (weights * after[:, None]).sum(dim=-1)
    counts = same.any(dim=-1)
    return (sums * counts[:, None]).sum(dim=(0, 2)) / counts.sum()


# %% two mistakes: moves the table to the left, to the letter before the copy; and takes the mean over all queries
def induction_score(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    after = F.pad(same, (0, 1))[..., 1:]
    return (weights * after[:, None]).sum(dim=-1).mean(dim=(0, 2))


# %% right: walks through each string with a dict from token to the keys after its copies
def induction_score(weights, tokens):
    sums = []
    for b, string in enumerate(tokens.tolist()):
        keys_after = {}
        for i, token in enumerate(string):
            if token in keys_after:
                sums.append(sum(weights[b, :, i, j] for j in keys_after[token]))
            keys_after.setdefault(token, []).append(i + 1)
    return sum(sums) / len(sums)


# %% right: one distance after the other along the diagonals, no table
def induction_score(weights, tokens):
    B, H, L, _ = weights.shape
    sums = torch.zeros(B, H, L, dtype=weights.dtype)
    has = torch.zeros(B, L, dtype=torch.bool)
    for distance in range(1, L):
        hit = tokens[:, distance:] == tokens[:, : L - distance]  # queries distance, ..., L - 1
        on_key = weights.diagonal(1 - distance, dim1=-2, dim2=-1)[..., 1:]
        sums[:, :, distance:] += on_key * hit[:, None]
        has[:, distance:] |= hit
    return sums.movedim(1, 0)[:, has].mean(dim=1)


# %% right: moves the tokens and not the table, and adds up with einsum
def induction_score(weights, tokens):
    L = tokens.shape[1]
    j_minus_1 = (torch.arange(L) - 1).clamp(min=0)
    holds = tokens[:, None, j_minus_1] == tokens[..., None]  # (B, query, key)
    holds[:, :, 0] = False
    holds = holds & torch.ones(L, L, dtype=torch.bool).tril()
    number = (holds.sum(dim=-1) > 0).sum()
    return torch.einsum("bhqk,bqk->h", weights, holds.to(weights.dtype)) / number


# %% right: three loops that add up into zeros of the usual dtype
def induction_score(weights, tokens):
    B, H, L, _ = weights.shape
    total, queries = torch.zeros(H), 0
    for b in range(B):
        for i in range(L):
            keys = [j for j in range(1, i + 1) if tokens[b, j - 1] == tokens[b, i]]
            if keys:
                queries += 1
                for j in keys:
                    total += weights[b, :, i, j]
    return total / queries
