# %% setup
import math

import torch
import torch.nn.functional as F


def attention(query, key, value):
    weights = torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, dim=-1)
    return weights @ value, weights

# %% wrong: shrinks the sum but not the weighted sum when the maximum rises
def attention_in_blocks(query, blocks):
    most = torch.full((*query.shape[:2], 1), -math.inf)
    total, mixed = torch.zeros_like(most), 0
    for key, value in blocks:
        scores = query @ key.mT / query.shape[-1] ** 0.5
        new = torch.maximum(most, scores.amax(-1, keepdim=True))
        e = torch.exp(scores - new)
        total = total * torch.exp(most - new) + e.sum(-1, keepdim=True)
        mixed, most = mixed + e @ value, new
    return mixed / total

# %% wrong: the mean of the blocks' outputs, weighted by the number of their keys
def attention_in_blocks(query, blocks):
    mixed, count = 0, 0
    for key, value in blocks:
        mixed = mixed + key.shape[1] * attention(query, key, value)[0]
        count += key.shape[1]
    return mixed / count

# %% wrong: one maximum for all queries and sequences, so a query with low scores gets exponentials of 0 and 0 / 0
def attention_in_blocks(query, blocks):
    most, total, mixed = -math.inf, 0, 0
    for key, value in blocks:
        scores = query @ key.mT / query.shape[-1] ** 0.5
        new = max(most, scores.max().item())
        factor, e = math.exp(most - new), torch.exp(scores - new)
        total = total * factor + e.sum(-1, keepdim=True)
        mixed, most = mixed * factor + e @ value, new
    return mixed / total

# %% wrong: collects the exponentials and values in lists, and joins them at the end
def attention_in_blocks(query, blocks):
    scores, values = [], []
    for key, value in blocks:
        scores.append(query @ key.mT / query.shape[-1] ** 0.5)
        values.append(value)
    return torch.softmax(torch.cat(scores, -1), -1) @ torch.cat(values, 1)

# %% wrong: a dict of the blocks by their number, scores computed at the end
def attention_in_blocks(query, blocks):
    held = dict(enumerate(blocks))
    key = torch.cat([pair[0] for pair in held.values()], dim=1)
    value = torch.cat([pair[1] for pair in held.values()], dim=1)
    return F.scaled_dot_product_attention(query, key, value)

# %% wrong: joins the keys and values block by block, recomputing the output for all so far
def attention_in_blocks(query, blocks):
    keys = values = None
    for key, value in blocks:
        keys = key if keys is None else torch.cat((keys, key), 1)
        values = value if values is None else torch.cat((values, value), 1)
        output = attention(query, keys, values)[0]
    return output

# %% wrong: no scale at all
def attention_in_blocks(query, blocks):
    B, L_q, _ = query.shape
    most, total, mixed = torch.full((B, L_q, 1), -math.inf), 0, 0
    for key, value in blocks:
        scores = query @ key.mT
        new = torch.maximum(most, scores.amax(-1, keepdim=True))
        e, factor = torch.exp(scores - new), torch.exp(most - new)
        total = total * factor + e.sum(-1, keepdim=True)
        mixed, most = mixed * factor + e @ value, new
    return mixed / total

# %% two mistakes: no maximum is subtracted, and the keys' number is the scale
def attention_in_blocks(query, blocks):
    total = mixed = 0
    for key, value in blocks:
        e = torch.exp(query @ key.mT / key.shape[1] ** 0.5)
        total, mixed = total + e.sum(-1, keepdim=True), mixed + e @ value
    return mixed / total

# %% two mistakes: the factor upside down, and the last block's sum alone in the division
def attention_in_blocks(query, blocks):
    most, mixed = torch.full((*query.shape[:2], 1), -math.inf), 0
    for key, value in blocks:
        scores = query @ key.mT / query.shape[-1] ** 0.5
        new = torch.maximum(most, scores.amax(-1, keepdim=True))
        e = torch.exp(scores - new)
        factor = torch.where(most.isinf(), 0, torch.exp(new - most))
        mixed, most = mixed * factor + e @ value, new
    return mixed / e.sum(-1, keepdim=True)

# %% right: keeps the normalized output and the logarithm of the sum, joined with logaddexp
def attention_in_blocks(query, blocks):
    size, output = None, None
    for key, value in blocks:
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        new = torch.logsumexp(scores, -1, keepdim=True)
        part = torch.softmax(scores, -1) @ value
        if output is None:
            size, output = new, part
        else:
            both = torch.logaddexp(size, new)
            output = output * (size - both).exp() + part * (new - both).exp()
            size = both
    return output

# %% right: a column of ones beside the values, so the sum rides along with the output
def attention_in_blocks(query, blocks):
    query = query * query.shape[-1] ** -0.5
    state = None
    for key, value in blocks:
        scores = torch.einsum("bid,bjd->bij", query, key)
        top = scores.max(-1, keepdim=True).values
        ones = torch.cat((value, torch.ones_like(value[..., :1])), -1)
        if state is None:
            most, state = top, torch.exp(scores - top) @ ones
            continue
        new = torch.where(top > most, top, most)
        state = state * (most - new).exp() + (scores - new).exp() @ ones
        most = new
    return state[..., :-1] / state[..., -1:]

# %% right: key by key within each block, queries one after another, in plain loops over the batch
def attention_in_blocks(query, blocks):
    B, L_q, d_k = query.shape
    most = query.new_full((B, L_q), -math.inf)
    total = query.new_zeros(B, L_q)
    output = None
    for key, value in blocks:
        if output is None:
            output = query.new_zeros(B, L_q, value.shape[-1])
        for j in range(key.shape[1]):
            score = (query * key[:, j : j + 1]).sum(-1) / d_k**0.5  # (B, L_q)
            new = torch.maximum(most, score)
            old, e = (most - new).exp(), (score - new).exp()
            total = total * old + e
            output = output * old[..., None] + e[..., None] * value[:, j : j + 1]
            most = new
    return output / total[..., None]

# %% right: all in place, the previous block left in the loop variables
def attention_in_blocks(query, blocks):
    stream = iter(blocks)
    key, value = next(stream)
    scores = query @ key.transpose(1, 2) / query.size(-1) ** 0.5
    most = scores.amax(-1, True)
    scores.sub_(most).exp_()
    total, output = scores.sum(-1, True), scores @ value
    while True:
        try:
            key, value = next(stream)
        except StopIteration:
            return output.div_(total)
        scores = query @ key.transpose(1, 2) / query.size(-1) ** 0.5
        new = torch.maximum(most, scores.amax(-1, True))
        shrink = most.sub_(new).exp_()
        scores.sub_(new).exp_()
        total.mul_(shrink).add_(scores.sum(-1, True))
        output.mul_(shrink).baddbmm_(scores, value)
        most = new

# %% wrong: has the sign of the exponent turned, exp(new - old), which is infinity at the first block, so everything becomes NaN
def attention_in_blocks(query, blocks):
    highest = query.new_full((*query.shape[:2], 1), float("-inf"))
    total, output = torch.zeros_like(highest), 0.0
    for key, value in blocks:
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(highest, scores.amax(-1, keepdim=True))
        shrink, powers = torch.exp(new - highest), torch.exp(scores - new)
        total = total * shrink + powers.sum(-1, keepdim=True)
        output = output * shrink + powers @ value
        highest = new
    return output / total

# %% wrong: divides the output by the sum in every block and goes on with the quotient as if it were the sum of products
def attention_in_blocks(query, blocks):
    highest = query.new_full((*query.shape[:2], 1), float("-inf"))
    total, output = torch.zeros_like(highest), 0.0
    for key, value in blocks:
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(highest, scores.amax(-1, keepdim=True))
        shrink, powers = torch.exp(highest - new), torch.exp(scores - new)
        total = total * shrink + powers.sum(-1, keepdim=True)
        output = (output * shrink + powers @ value) / total
        highest = new
    return output

# %% wrong: keeps the output and the logsumexp of every block in two lists and mixes them at the end, so what is held grows with the blocks
def attention_in_blocks(query, blocks):
    outputs, sizes = [], []
    for key, value in blocks:
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        outputs.append(torch.softmax(scores, dim=-1) @ value)
        sizes.append(torch.logsumexp(scores, dim=-1))
    shares = torch.softmax(torch.stack(sizes), dim=0)
    return (shares[..., None] * torch.stack(outputs)).sum(dim=0)
