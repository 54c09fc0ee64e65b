# %% setup
import torch
import torch.nn.functional as F


# %% wrong: keeps the softmax over the queries and divides the weights by their sums over the keys afterwards, so they sum to 1 but are not the softmax
def attend(query, key, value):
    scores = query @ key.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-2)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ value, weights


# %% wrong: returns the right weights but takes the output from PyTorch's function, which scales by the square root of d
def attend(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=-1)
    return F.scaled_dot_product_attention(query, key, value), weights


# %% wrong: leaves out the dim of F.softmax, which for three axes then takes axis 0, the batch
def attend(query, key, value):
    scores = query @ key.transpose(-2, -1)
    weights = F.softmax(scores)
    return weights @ value, weights


# %% wrong: brings the keys into the shape (B, d, L_k) by a reshape, which scrambles them, and takes the softmax over the right axis
def attend(query, key, value):
    B, L_k, d = key.shape
    weights = torch.softmax(query @ key.reshape(B, d, L_k), dim=-1)
    return weights @ value, weights


# %% right: works with the table of keys by queries, (B, L_k, L_q), its softmax over the keys, and turns it in the end
def attend(query, key, value):
    table = torch.einsum("bkd,bqd->bkq", key, query).softmax(dim=1)
    output = torch.einsum("bkq,bke->bqe", table, value)
    return output, table.permute(0, 2, 1)


# %% right: item by item and query by query with matrix-vector products
def attend(query, key, value):
    outputs, weights = [], []
    for b in range(query.shape[0]):
        rows = [torch.softmax(torch.mv(key[b], q), dim=0) for q in query[b]]
        weights.append(torch.stack(rows))
        outputs.append(torch.stack([torch.mv(value[b].T, row) for row in rows]))
    return torch.stack(outputs), torch.stack(weights)
