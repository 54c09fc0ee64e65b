# %% setup
import torch


# %% wrong: counts every distance from the last position (one row of biases for all queries, as it would do under a causal mask), right only for the last query
def alibi_bias(slopes, L_q, L_k):
    distance = (L_k - 1) - torch.arange(L_k)
    bias = -slopes[:, None, None] * distance
    return bias.expand(len(slopes), L_q, L_k)


# %% wrong: goes on multiplying the table of the head before, so head h gets the product of the slopes 0 to h; right for one head
def alibi_bias(slopes, L_q, L_k):
    query = torch.arange(L_k - L_q, L_k)[:, None]
    table = -(query - torch.arange(L_k)).abs().float()
    heads = []
    for slope in slopes:
        table = table * slope
        heads.append(table)
    return torch.stack(heads)


# %% wrong: distances in float64 make the result float64
def alibi_bias(slopes, L_q, L_k):
    key = torch.arange(L_k, dtype=torch.float64)
    query = key[L_k - L_q :]
    distance = (query[:, None] - key[None, :]).abs()
    return -slopes.view(-1, 1, 1) * distance


# %% wrong: puts the queries at the end only when there is a single one (one step with a cache); several queries stand at the first positions
def alibi_bias(slopes, L_q, L_k):
    offset = L_k - 1 if L_q == 1 else 0
    query = torch.arange(L_q)[:, None] + offset
    distance = (query - torch.arange(L_k)).abs()
    return -slopes[:, None, None] * distance


# %% right: distances by torch.cdist between columns of positions, slopes by einsum
def alibi_bias(slopes, L_q, L_k):
    position = torch.arange(L_k, dtype=slopes.dtype)[:, None]
    distance = torch.cdist(position[L_k - L_q :], position, compute_mode="donot_use_mm_for_euclid_dist")
    return torch.einsum("h,qk->hqk", slopes.neg(), distance)


# %% right: one line of distances, windows of it by unfold turned around so that they become the rows
def alibi_bias(slopes, L_q, L_k):
    line = torch.arange(-(L_k - 1), L_q).abs().to(slopes.dtype)  # distances of the last query's key 0 ... to the first query's last key
    rows = line.unfold(0, L_k, 1).flip(0)  # (L_q, L_k): window L_q - 1 - q belongs to query q
    return (slopes.reshape(-1, 1) * -rows.reshape(1, -1)).reshape(len(slopes), L_q, L_k)
