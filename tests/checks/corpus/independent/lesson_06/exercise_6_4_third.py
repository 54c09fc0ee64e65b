# %% setup
import torch


# %% wrong: gives the heads of the keys a letter of their own in the scores, so every query head is compared with the sum of all key heads
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = torch.einsum("bie,de->bid", query, W_q).unflatten(-1, (num_heads, -1))
    k = torch.einsum("bje,de->bjd", memory, W_k).unflatten(-1, (num_heads, -1))
    v = torch.einsum("bje,de->bjd", memory, W_v).unflatten(-1, (num_heads, -1))
    scores = torch.einsum("bihd,bjkd->bijh", q, k) / q.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=2)
    return torch.einsum("bijh,bjhd->bihd", weights, v).flatten(2), weights


# %% wrong: keeps the weights as (B, H, L_q, L_k) and brings the heads to the end by reshape, so the output is right but the returned weights are misplaced
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = torch.einsum("bie,de->bid", query, W_q).unflatten(-1, (num_heads, -1))
    k = torch.einsum("bje,de->bjd", memory, W_k).unflatten(-1, (num_heads, -1))
    v = torch.einsum("bje,de->bjd", memory, W_v).unflatten(-1, (num_heads, -1))
    weights = torch.softmax(torch.einsum("bihd,bjhd->bhij", q, k) / q.shape[-1] ** 0.5, dim=-1)
    output = torch.einsum("bhij,bjhd->bihd", weights, v).flatten(2)
    return output, weights.reshape(query.shape[0], query.shape[1], memory.shape[1], num_heads)


# %% wrong: leaves the heads behind their features in the last einsum, so the output has the features of the heads interleaved
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = torch.einsum("bie,de->bid", query, W_q).unflatten(-1, (num_heads, -1))
    k = torch.einsum("bje,de->bjd", memory, W_k).unflatten(-1, (num_heads, -1))
    v = torch.einsum("bje,de->bjd", memory, W_v).unflatten(-1, (num_heads, -1))
    weights = torch.softmax(torch.einsum("bihd,bjhd->bijh", q, k) / q.shape[-1] ** 0.5, dim=2)
    return torch.einsum("bijh,bjhd->bidh", weights, v).flatten(2), weights


# %% wrong: detaches the weights that it returns, so no gradient flows through them
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = torch.einsum("bie,de->bid", query, W_q).unflatten(-1, (num_heads, -1))
    k = torch.einsum("bje,de->bjd", memory, W_k).unflatten(-1, (num_heads, -1))
    v = torch.einsum("bje,de->bjd", memory, W_v).unflatten(-1, (num_heads, -1))
    weights = torch.softmax(torch.einsum("bihd,bjhd->bijh", q, k) / q.shape[-1] ** 0.5, dim=2)
    return torch.einsum("bijh,bjhd->bihd", weights, v).flatten(2), weights.detach()


# %% two mistakes: divides by the root of the size of a value head; and takes the softmax over the heads
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = torch.einsum("bie,de->bid", query, W_q).unflatten(-1, (num_heads, -1))
    k = torch.einsum("bje,de->bjd", memory, W_k).unflatten(-1, (num_heads, -1))
    v = torch.einsum("bje,de->bjd", memory, W_v).unflatten(-1, (num_heads, -1))
    weights = torch.softmax(torch.einsum("bihd,bjhd->bijh", q, k) / v.shape[-1] ** 0.5, dim=-1)
    return torch.einsum("bijh,bjhd->bihd", weights, v).flatten(2), weights


# %% right: a loop over the heads with plain matrix products, outputs joined along the features and weights stacked along a new last axis
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    outputs, tables = [], []
    for w_q, w_k, w_v in zip(W_q.chunk(num_heads), W_k.chunk(num_heads), W_v.chunk(num_heads)):
        scores = (query @ w_q.T) @ (memory @ w_k.T).mT
        tables.append(torch.softmax(scores * w_q.shape[0] ** -0.5, dim=-1))
        outputs.append(tables[-1] @ (memory @ w_v.T))
    return torch.cat(outputs, dim=-1), torch.stack(tables, dim=-1)


# %% right: cuts the matrices into heads, contracts query, both matrices and memory in one einsum, and mixes the memory before the values are projected
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    w_q, w_k, w_v = (W.reshape(num_heads, -1, W.shape[1]) for W in (W_q, W_k, W_v))
    scores = torch.einsum("bie,hde,hdf,bjf->bijh", query, w_q, w_k, memory) / w_q.shape[1] ** 0.5
    weights = scores.log_softmax(dim=2).exp()
    mixed = torch.einsum("bijh,bje->bihe", weights, memory)
    return torch.einsum("bihe,hve->bihv", mixed, w_v).reshape(*query.shape[:2], -1), weights
