# %% setup
import torch

# %% wrong: keeps the sign of the distance, so keys after the query get a positive bias
def alibi_bias(slopes, L_q, L_k):
    q = torch.arange(L_k - L_q, L_k)
    k = torch.arange(L_k)
    return -slopes[:, None, None] * (q[:, None] - k[None, :])


# %% wrong: puts the queries at the first L_q positions instead of the last
def alibi_bias(slopes, L_q, L_k):
    distance = (torch.arange(L_q)[:, None] - torch.arange(L_k)).abs()
    return -slopes.view(-1, 1, 1) * distance


# %% wrong: sets the distance to later keys to 0 (clamped) instead of counting it in both directions
def alibi_bias(slopes, L_q, L_k):
    q = torch.arange(L_k - L_q, L_k).unsqueeze(1)
    k = torch.arange(L_k).unsqueeze(0)
    distance = (q - k).clamp(min=0)
    return -(slopes[:, None, None] * distance)


# %% wrong: changes the sign of the slopes in place, so the tensor of the caller is negative afterwards
def alibi_bias(slopes, L_q, L_k):
    distance = (torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)[None]).abs().float()
    slopes.neg_()
    return slopes[:, None, None] * distance


# %% wrong: lays out queries and keys the other way round, so the result is (H, L_k, L_q)
def alibi_bias(slopes, L_q, L_k):
    k = torch.arange(L_k)[:, None]
    q = torch.arange(L_k - L_q, L_k)[None, :]
    return torch.einsum("h,kq->hkq", -slopes, (k - q).abs().to(slopes.dtype))


# %% wrong: takes only the last row of distances for all queries, which is right for one query
def alibi_bias(slopes, L_q, L_k):
    distance = torch.arange(L_k - 1, -1, -1)
    bias = -slopes[:, None] * distance  # (H, L_k)
    return bias[:, None, :].expand(-1, L_q, -1)


# %% two mistakes: forgets the minus sign; and places the queries one position too far (from L_k - L_q + 1 on)
def alibi_bias(slopes, L_q, L_k):
    q = torch.arange(L_q) + L_k - L_q + 1
    distance = (q[:, None] - torch.arange(L_k)[None, :]).abs()
    return slopes[:, None, None] * distance


# %% right: builds the square matrix of all positions with cdist and keeps its last L_q rows
def alibi_bias(slopes, L_q, L_k):
    positions = torch.arange(L_k, dtype=torch.float32)[:, None]
    distance = torch.cdist(positions, positions, p=1)
    return torch.einsum("h,qk->hqk", -slopes.float(), distance[L_k - L_q :])


# %% right: the smaller of the two signed distances, k - q and q - k, times the slope, by torch.minimum
def alibi_bias(slopes, L_q, L_k):
    forward = torch.arange(L_k)[None, :] - torch.arange(L_k - L_q, L_k)[:, None]
    return (torch.minimum(forward, -forward) * slopes.reshape(-1, 1, 1)).to(torch.float32)


# %% right: a loop over the queries and heads, stacked at the end
def alibi_bias(slopes, L_q, L_k):
    heads = []
    for slope in slopes:
        rows = []
        for position in range(L_k - L_q, L_k):
            rows.append(torch.tensor([-float(abs(position - j)) for j in range(L_k)]) * slope)
        heads.append(torch.stack(rows))
    return torch.stack(heads).float()


# %% wrong: named in the review: slopes without axes: they line up with the keys
def alibi_bias(slopes, L_q, L_k):
    distance = (torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)[None, :]).abs()
    return -slopes * distance


# %% wrong: named in the review: slopes with one axis too few: they line up with the queries
def alibi_bias(slopes, L_q, L_k):
    distance = (torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)[None, :]).abs()
    return (-slopes[:, None] * distance).expand(len(slopes), L_q, L_k)
