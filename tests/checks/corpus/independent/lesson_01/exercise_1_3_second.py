# %% setup
import torch
import torch.nn.functional as F

# %% wrong: the keys are reshaped to (B, d, L_k) instead of transposed, which scrambles their numbers
def all_pairs(queries, keys):
    B, L_k, d = keys.shape
    return queries @ keys.reshape(B, d, L_k)

# %% wrong: only the keys of item 0 are used for all items, right only for a batch of 1
def all_pairs(queries, keys):
    return queries @ keys[0].T

# %% wrong: the dot products are divided by the square root of d, which nobody asked for
def all_pairs(queries, keys):
    d = queries.shape[-1]
    return queries @ keys.transpose(1, 2) / d ** 0.5

# %% wrong: the buffer has L_q columns instead of L_k, so it fails for L_k > L_q and leaves columns of zeros for L_k < L_q
def all_pairs(queries, keys):
    B, L_q, d = queries.shape
    scores = torch.zeros(B, L_q, L_q, dtype=queries.dtype)
    for b in range(B):
        for i in range(L_q):
            for j in range(keys.shape[1]):
                scores[b, i, j] = torch.dot(queries[b, i], keys[b, j])
    return scores

# %% right: broadcasting to (B, L_q, L_k, d) and a sum
def all_pairs(queries, keys):
    return torch.sum(queries.unsqueeze(2) * keys.unsqueeze(1), dim=3)

# %% right: computed the other way round, keys times queries, and transposed at the end
def all_pairs(queries, keys):
    return torch.bmm(keys, queries.permute(0, 2, 1)).permute(0, 2, 1)
