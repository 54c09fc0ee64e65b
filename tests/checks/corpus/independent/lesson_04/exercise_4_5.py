# %% setup
import math

import torch


def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: joins all blocks and attends at once, so everything is held
def attention_in_blocks(query, blocks):
    blocks = list(blocks)
    key = torch.cat([k for k, _ in blocks], dim=1)
    value = torch.cat([v for _, v in blocks], dim=1)
    return attention(query, key, value)[0]

# %% wrong: averages the outputs of the blocks
def attention_in_blocks(query, blocks):
    total, count = 0, 0
    for key, value in blocks:
        total = total + attention(query, key, value)[0]
        count += 1
    return total / count

# %% wrong: adds up exponentials without any shift, which overflows
def attention_in_blocks(query, blocks):
    total, output = 0, 0
    for key, value in blocks:
        powers = torch.exp(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5)
        total = total + powers.sum(-1, keepdim=True)
        output = output + powers @ value
    return output / total

# %% wrong: keeps a running maximum and never shrinks the old sum and output
def attention_in_blocks(query, blocks):
    m, total, output = torch.full((*query.shape[:2], 1), -math.inf, dtype=query.dtype), 0, 0
    for key, value in blocks:
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        m = torch.maximum(m, scores.amax(-1, keepdim=True))
        powers = torch.exp(scores - m)
        total = total + powers.sum(-1, keepdim=True)
        output = output + powers @ value
    return output / total

# %% wrong: shrinks the sum and forgets the output
def attention_in_blocks(query, blocks):
    m, total, output = torch.full((*query.shape[:2], 1), -math.inf, dtype=query.dtype), 0, 0
    for key, value in blocks:
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(m, scores.amax(-1, keepdim=True))
        powers = torch.exp(scores - new)
        total = total * torch.exp(m - new) + powers.sum(-1, keepdim=True)
        output = output + powers @ value
        m = new
    return output / total

# %% wrong: starts the running maximum at zero
def attention_in_blocks(query, blocks):
    m, total, output = torch.zeros(*query.shape[:2], 1, dtype=query.dtype), 0, 0
    for key, value in blocks:
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(m, scores.amax(-1, keepdim=True))
        shrink, powers = torch.exp(m - new), torch.exp(scores - new)
        total = total * shrink + powers.sum(-1, keepdim=True)
        output = output * shrink + powers @ value
        m = new
    return output / total

# %% wrong: keeps the scores of all blocks in a list and takes the softmax at the end
def attention_in_blocks(query, blocks):
    scores, values = [], []
    for key, value in blocks:
        scores.append(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5)
        values.append(value)
    return torch.softmax(torch.cat(scores, dim=-1), dim=-1) @ torch.cat(values, dim=1)

# %% wrong: goes through the blocks twice, first for the maximum, and finds nothing the second time
def attention_in_blocks(query, blocks):
    m = None
    for key, _ in blocks:
        largest = (query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5).amax(-1, keepdim=True)
        m = largest if m is None else torch.maximum(m, largest)
    total, output = 0, torch.zeros(1, dtype=query.dtype)
    for key, value in blocks:
        powers = torch.exp(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5 - m)
        total = total + powers.sum(-1, keepdim=True)
        output = output + powers @ value
    return output / max(total, 1)

# %% wrong: one maximum for all queries together
def attention_in_blocks(query, blocks):
    m, total, output = torch.tensor(-math.inf, dtype=query.dtype), 0, 0
    for key, value in blocks:
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(m, scores.max())
        shrink, powers = torch.exp(m - new), torch.exp(scores - new)
        total = total * shrink + powers.sum(-1, keepdim=True)
        output = output * shrink + powers @ value
        m = new
    return output / total

# %% two mistakes: no scale; and the old output is not shrunk
def attention_in_blocks(query, blocks):
    m, total, output = torch.full((*query.shape[:2], 1), -math.inf, dtype=query.dtype), 0, 0
    for key, value in blocks:
        scores = query @ key.transpose(-2, -1)
        new = torch.maximum(m, scores.amax(-1, keepdim=True))
        powers = torch.exp(scores - new)
        total = total * torch.exp(m - new) + powers.sum(-1, keepdim=True)
        output = output + powers @ value
        m = new
    return output / total

# %% two mistakes: never divides by the sum; and scales by d_k
def attention_in_blocks(query, blocks):
    m, output = torch.full((*query.shape[:2], 1), -math.inf, dtype=query.dtype), 0
    for key, value in blocks:
        scores = query @ key.transpose(-2, -1) / query.shape[-1]
        new = torch.maximum(m, scores.amax(-1, keepdim=True))
        output = output * torch.exp(m - new) + torch.exp(scores - new) @ value
        m = new
    return output

# %% right: merges each block's own attention by its log-sum-exp
def attention_in_blocks(query, blocks):
    output, total = None, None
    for key, value in blocks:
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        size = scores.logsumexp(-1, keepdim=True)
        here = torch.softmax(scores, dim=-1) @ value
        if output is None:
            output, total = here, size
        else:
            both = torch.logaddexp(total, size)
            output, total = output * (total - both).exp() + here * (size - both).exp(), both
    return output

# %% right: stays normalized after every block
def attention_in_blocks(query, blocks):
    B, L_q, d_k = query.shape
    m = query.new_full((B, L_q), -math.inf)
    total = query.new_zeros(B, L_q)
    output = None
    for key, value in blocks:
        scores = torch.einsum("bqd,bkd->bqk", query, key) / math.sqrt(d_k)
        new = torch.maximum(m, scores.max(dim=-1).values)
        old = total * (m - new).exp()
        powers = (scores - new[..., None]).exp()
        total = old + powers.sum(-1)
        fresh = (powers @ value) / total[..., None]
        output = fresh if output is None else output * (old / total)[..., None] + fresh
        m = new
    return output

# %% right: key by key inside each block, and query by query
def attention_in_blocks(query, blocks):
    B, L_q, d_k = query.shape
    state = [[(-math.inf, 0.0, 0.0)] * L_q for _ in range(B)]
    for key, value in blocks:
        for b in range(B):
            for i in range(L_q):
                m, s, o = state[b][i]
                for k, v in zip(key[b], value[b], strict=True):
                    score = float(query[b, i].double() @ k.double()) / math.sqrt(d_k)
                    new = max(m, score)
                    shrink, power = math.exp(m - new), math.exp(score - new)
                    m, s, o = new, s * shrink + power, o * shrink + power * v.double()
                state[b][i] = (m, s, o)
    return torch.stack([torch.stack([o / s for _, s, o in row]) for row in state]).to(query.dtype)

# %% wrong: begins the running maximum at -10000, which is above all scores of some queries
def attention_in_blocks(query, blocks):
    highest = torch.full((*query.shape[:2], 1), -1e4, dtype=query.dtype)
    total, output = 0.0, 0.0
    for key, value in blocks:
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(highest, scores.amax(-1, keepdim=True))
        shrink, powers = (highest - new).exp(), (scores - new).exp()
        total = total * shrink + powers.sum(-1, keepdim=True)
        output = output * shrink + powers @ value
        highest = new
    return output / total
