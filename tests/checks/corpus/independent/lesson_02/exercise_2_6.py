# %% setup
import torch

# %% wrong: keeps the softmax over the queries and then rescales each row to sum 1, so the averages of tens are right but the weights are not those of a softmax over the keys
def attend(query, key, value):
    scores = query @ key.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-2)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ value, weights

# %% wrong: divides the scores by the square root of d, though the attention is to be without scaling
def attend(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: takes the softmax over the batch axis (dim=0)
def attend(query, key, value):
    scores = query @ key.transpose(-2, -1)
    weights = torch.softmax(scores, dim=0)
    return weights @ value, weights

# %% wrong: brings the keys to (B, d, L_k) by reshape and not by a transpose, which scrambles them
def attend(query, key, value):
    B, L_k, d = key.shape
    weights = torch.softmax(query @ key.reshape(B, d, L_k), dim=-1)
    return weights @ value, weights

# %% wrong: leaves the softmax over the queries and transposes the weights afterwards, which needs L_q equal to L_k and takes the keys for queries
def attend(query, key, value):
    scores = query @ key.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-2).transpose(-2, -1)
    return weights @ value, weights

# %% wrong: returns the raw scores in the place of the weights
def attend(query, key, value):
    scores = query @ key.transpose(-2, -1)
    output = torch.softmax(scores, dim=-1) @ value
    return output, scores

# %% two mistakes: divides the scores by the square root of d; and returns the weights first and the output second
def attend(query, key, value):
    d = key.shape[-1]
    weights = torch.softmax(query @ key.mT / d**0.5, dim=-1)
    return weights, weights @ value

# %% right: uses PyTorch's scaled_dot_product_attention with scale 1, once for the values and once with an identity matrix for the weights
def attend(query, key, value):
    sdpa = torch.nn.functional.scaled_dot_product_attention
    eye = torch.eye(key.shape[1], dtype=value.dtype, device=value.device).expand(key.shape[0], -1, -1)
    return sdpa(query, key, value, scale=1.0), sdpa(query, key, eye, scale=1.0)

# %% right: computes the scores with the keys first, takes the softmax over the key axis there and transposes afterwards
def attend(query, key, value):
    weights = torch.softmax(torch.bmm(key, query.transpose(1, 2)), dim=1).transpose(1, 2)
    return torch.einsum("bqk,bkv->bqv", weights, value), weights

# %% right: goes through the items of the batch one by one and subtracts logsumexp
def attend(query, key, value):
    outputs, all_weights = [], []
    for q, k, v in zip(query, key, value):
        scores = torch.matmul(q, k.t())
        w = torch.exp(scores - torch.logsumexp(scores, dim=1, keepdim=True))
        all_weights.append(w)
        outputs.append(torch.mm(w, v))
    return torch.stack(outputs), torch.stack(all_weights)
