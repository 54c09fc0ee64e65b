# %% setup
import math
import torch

# %% wrong: the whole table at once
def attention_backward(query, key, value, output, log_sums, d_output, block_size):
    scale = query.shape[-1] ** -0.5
    weights = (query @ key.mT * scale - log_sums[..., None]).exp().tril()
    d_scores = weights * (d_output @ value.mT - (d_output * output).sum(-1, keepdim=True)) * scale
    return d_scores @ key, d_scores.mT @ query, weights.mT @ d_output

# %% wrong: the mean is taken within each block
def attention_backward(query, key, value, output, log_sums, d_output, block_size):
    scale, L = query.shape[-1] ** -0.5, query.shape[1]
    dq, dk, dv = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)
    for i in range(0, L, block_size):
        for j in range(0, i + 1, block_size):
            r, c = slice(i, i + block_size), slice(j, j + block_size)
            s = query[:, r] @ key[:, c].mT * scale
            p = (s - log_sums[:, r, None]).exp()
            if i == j:
                p = p.tril()
            dp = d_output[:, r] @ value[:, c].mT
            ds = p * (dp - (p * dp).sum(-1, keepdim=True)) * scale
            dq[:, r] += ds @ key[:, c]
            dk[:, c] += ds.mT @ query[:, r]
            dv[:, c] += p.mT @ d_output[:, r]
    return dq, dk, dv

# %% wrong: every block makes its own softmax
def attention_backward(query, key, value, output, log_sums, d_output, block_size):
    scale, L = query.shape[-1] ** -0.5, query.shape[1]
    dq, dk, dv = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)
    mean = (d_output * output).sum(-1, keepdim=True)
    for i in range(0, L, block_size):
        for j in range(0, i + 1, block_size):
            r, c = slice(i, i + block_size), slice(j, j + block_size)
            s = query[:, r] @ key[:, c].mT * scale
            if i == j:
                s = s.masked_fill(torch.ones_like(s).triu(1).bool(), -math.inf)
            p = s.softmax(-1)
            ds = p * (d_output[:, r] @ value[:, c].mT - mean[:, r]) * scale
            dq[:, r] += ds @ key[:, c]
            dk[:, c] += ds.mT @ query[:, r]
            dv[:, c] += p.mT @ d_output[:, r]
    return dq, dk, dv

# %% two mistakes: no factor on the way back; and queries see later keys in their own block
def attention_backward(query, key, value, output, log_sums, d_output, block_size):
    scale, L = query.shape[-1] ** -0.5, query.shape[1]
    dq, dk, dv = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)
    mean = (d_output * output).sum(-1, keepdim=True)
    for i in range(0, L, block_size):
        for j in range(0, i + 1, block_size):
            r, c = slice(i, i + block_size), slice(j, j + block_size)
            p = (query[:, r] @ key[:, c].mT * scale - log_sums[:, r, None]).exp()
            ds = p * (d_output[:, r] @ value[:, c].mT - mean[:, r])
            dq[:, r] += ds @ key[:, c]
            dk[:, c] += ds.mT @ query[:, r]
            dv[:, c] += p.mT @ d_output[:, r]
    return dq, dk, dv

# %% right: keys outside, queries inside
def attention_backward(query, key, value, output, log_sums, d_output, block_size):
    L, scale = query.shape[1], query.shape[-1] ** -0.5
    dq, dks, dvs = torch.zeros_like(query), [], []
    for j in range(0, L, block_size):
        k, v = key[:, j : j + block_size], value[:, j : j + block_size]
        dk, dv = torch.zeros_like(k), torch.zeros_like(v)
        for i in range(j, L, block_size):
            r = slice(i, i + block_size)
            s = torch.einsum("bnd,bmd->bnm", query[:, r], k) * scale
            places = torch.arange(L)
            p = torch.where(places[r][:, None] >= places[j : j + block_size], (s - log_sums[:, r, None]).exp(), 0.0)
            ds = p * (d_output[:, r] @ v.mT - (d_output[:, r] * output[:, r]).sum(-1, keepdim=True)) * scale
            dk += ds.mT @ query[:, r]
            dv += p.mT @ d_output[:, r]
            dq[:, r] += ds @ k
        dks.append(dk), dvs.append(dv)
    return dq, torch.cat(dks, 1), torch.cat(dvs, 1)

# %% right: one query after another
def attention_backward(query, key, value, output, log_sums, d_output, block_size):
    scale = query.shape[-1] ** -0.5
    dq, dk, dv = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)
    for i in range(query.shape[1]):
        k, v, do = key[:, : i + 1], value[:, : i + 1], d_output[:, i, None]
        p = ((query[:, i, None] * k).sum(-1) * scale - log_sums[:, i, None]).exp()
        ds = p * ((do * v).sum(-1) - (do[:, 0] * output[:, i]).sum(-1, keepdim=True)) * scale
        dq[:, i] = (ds[..., None] * k).sum(1)
        dk[:, : i + 1] += ds[..., None] * query[:, i, None]
        dv[:, : i + 1] += p[..., None] * do
    return dq, dk, dv


# %% setup
import math
import torch
from course_utils.linear_attention import feature_map
import torch.nn.functional as F

# %% wrong: exp of scores and of log_sums apart, NaN with large scores
def attention_backward(query, key, value, output, log_sums, d_output, block_size):
    L, d_k = query.shape[1], query.shape[-1]
    d_query = torch.zeros_like(query)
    d_key = torch.zeros_like(key)
    d_value = torch.zeros_like(value)
    delta = (output * d_output).sum(dim=-1)  # (B, L)
    for i in range(0, L, block_size):
        i_end = min(i + block_size, L)
        q, do = query[:, i:i_end], d_output[:, i:i_end]
        for j in range(0, i_end, block_size):
            j_end = min(j + block_size, L)
            k, v = key[:, j:j_end], value[:, j:j_end]
            scores = q @ k.mT / math.sqrt(d_k)
            later = torch.arange(j, j_end)[None, :] > torch.arange(i, i_end)[:, None]
            scores = scores.masked_fill(later, -math.inf)
            weights = scores.exp() / log_sums[:, i:i_end, None].exp()
            d_value[:, j:j_end] += weights.mT @ do
            d_weights = do @ v.mT
            d_scores = weights * (d_weights - delta[:, i:i_end, None])
            d_query[:, i:i_end] += d_scores @ k / math.sqrt(d_k)
            d_key[:, j:j_end] += d_scores.mT @ q / math.sqrt(d_k)
    return d_query, d_key, d_value
# %% wrong: the last smaller block is dropped
def attention_backward(query, key, value, output, log_sums, d_output, block_size):
    L, d_k = query.shape[1], query.shape[-1]
    d_query = torch.zeros_like(query)
    d_key = torch.zeros_like(key)
    d_value = torch.zeros_like(value)
    delta = (output * d_output).sum(dim=-1)  # (B, L)
    for block in range(L // block_size):
        i = block * block_size
        i_end = i + block_size
        q, do = query[:, i:i_end], d_output[:, i:i_end]
        for j in range(0, i_end, block_size):
            j_end = min(j + block_size, L)
            k, v = key[:, j:j_end], value[:, j:j_end]
            scores = q @ k.mT / math.sqrt(d_k)
            later = torch.arange(j, j_end)[None, :] > torch.arange(i, i_end)[:, None]
            scores = scores.masked_fill(later, -math.inf)
            weights = (scores - log_sums[:, i:i_end, None]).exp()
            d_value[:, j:j_end] += weights.mT @ do
            d_weights = do @ v.mT
            d_scores = weights * (d_weights - delta[:, i:i_end, None])
            d_query[:, i:i_end] += d_scores @ k / math.sqrt(d_k)
            d_key[:, j:j_end] += d_scores.mT @ q / math.sqrt(d_k)
    return d_query, d_key, d_value
# %% wrong: the factor of the scores is missing for the keys
def attention_backward(query, key, value, output, log_sums, d_output, block_size):
    L, d_k = query.shape[1], query.shape[-1]
    d_query = torch.zeros_like(query)
    d_key = torch.zeros_like(key)
    d_value = torch.zeros_like(value)
    delta = (output * d_output).sum(dim=-1)  # (B, L)
    for i in range(0, L, block_size):
        i_end = min(i + block_size, L)
        q, do = query[:, i:i_end], d_output[:, i:i_end]
        for j in range(0, i_end, block_size):
            j_end = min(j + block_size, L)
            k, v = key[:, j:j_end], value[:, j:j_end]
            scores = q @ k.mT / math.sqrt(d_k)
            later = torch.arange(j, j_end)[None, :] > torch.arange(i, i_end)[:, None]
            scores = scores.masked_fill(later, -math.inf)
            weights = (scores - log_sums[:, i:i_end, None]).exp()
            d_value[:, j:j_end] += weights.mT @ do
            d_weights = do @ v.mT
            d_scores = weights * (d_weights - delta[:, i:i_end, None])
            d_query[:, i:i_end] += d_scores @ k / math.sqrt(d_k)
            d_key[:, j:j_end] += d_scores.mT @ q
    return d_query, d_key, d_value
# %% wrong: the triangle is cut out of every block, not only of those on the diagonal
def attention_backward(query, key, value, output, log_sums, d_output, block_size):
    L, d_k = query.shape[1], query.shape[-1]
    d_query = torch.zeros_like(query)
    d_key = torch.zeros_like(key)
    d_value = torch.zeros_like(value)
    delta = (output * d_output).sum(dim=-1)  # (B, L)
    for i in range(0, L, block_size):
        i_end = min(i + block_size, L)
        q, do = query[:, i:i_end], d_output[:, i:i_end]
        for j in range(0, i_end, block_size):
            j_end = min(j + block_size, L)
            k, v = key[:, j:j_end], value[:, j:j_end]
            scores = q @ k.mT / math.sqrt(d_k)
            later = torch.ones(i_end - i, j_end - j, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later, -math.inf)
            weights = (scores - log_sums[:, i:i_end, None]).exp()
            d_value[:, j:j_end] += weights.mT @ do
            d_weights = do @ v.mT
            d_scores = weights * (d_weights - delta[:, i:i_end, None])
            d_query[:, i:i_end] += d_scores @ k / math.sqrt(d_k)
            d_key[:, j:j_end] += d_scores.mT @ q / math.sqrt(d_k)
    return d_query, d_key, d_value
# %% wrong: the row's sum is taken over the block alone, as by softmax_backward
def attention_backward(query, key, value, output, log_sums, d_output, block_size):
    L, d_k = query.shape[1], query.shape[-1]
    d_query = torch.zeros_like(query)
    d_key = torch.zeros_like(key)
    d_value = torch.zeros_like(value)
    for i in range(0, L, block_size):
        i_end = min(i + block_size, L)
        q, do = query[:, i:i_end], d_output[:, i:i_end]
        for j in range(0, i_end, block_size):
            j_end = min(j + block_size, L)
            k, v = key[:, j:j_end], value[:, j:j_end]
            scores = q @ k.mT / math.sqrt(d_k)
            later = torch.arange(j, j_end)[None, :] > torch.arange(i, i_end)[:, None]
            scores = scores.masked_fill(later, -math.inf)
            weights = (scores - log_sums[:, i:i_end, None]).exp()
            d_value[:, j:j_end] += weights.mT @ do
            d_weights = do @ v.mT
            d_scores = weights * (d_weights - (weights * d_weights).sum(dim=-1, keepdim=True))
            d_query[:, i:i_end] += d_scores @ k / math.sqrt(d_k)
            d_key[:, j:j_end] += d_scores.mT @ q / math.sqrt(d_k)
    return d_query, d_key, d_value
# %% wrong: the mask is multiplied in after the exponential, inf * 0 with large scores
def attention_backward(query, key, value, output, log_sums, d_output, block_size):
    L, d_k = query.shape[1], query.shape[-1]
    d_query = torch.zeros_like(query)
    d_key = torch.zeros_like(key)
    d_value = torch.zeros_like(value)
    delta = (output * d_output).sum(dim=-1)  # (B, L)
    for i in range(0, L, block_size):
        i_end = min(i + block_size, L)
        q, do = query[:, i:i_end], d_output[:, i:i_end]
        for j in range(0, i_end, block_size):
            j_end = min(j + block_size, L)
            k, v = key[:, j:j_end], value[:, j:j_end]
            scores = q @ k.mT / math.sqrt(d_k)
            later = torch.arange(j, j_end)[None, :] > torch.arange(i, i_end)[:, None]
            weights = (scores - log_sums[:, i:i_end, None]).exp() * ~later
            d_value[:, j:j_end] += weights.mT @ do
            d_weights = do @ v.mT
            d_scores = weights * (d_weights - delta[:, i:i_end, None])
            d_query[:, i:i_end] += d_scores @ k / math.sqrt(d_k)
            d_key[:, j:j_end] += d_scores.mT @ q / math.sqrt(d_k)
    return d_query, d_key, d_value
# %% wrong: the keys' part is overwritten by the latest block of queries
def attention_backward(query, key, value, output, log_sums, d_output, block_size):
    L, d_k = query.shape[1], query.shape[-1]
    d_query = torch.zeros_like(query)
    d_key = torch.zeros_like(key)
    d_value = torch.zeros_like(value)
    delta = (output * d_output).sum(dim=-1)  # (B, L)
    for i in range(0, L, block_size):
        i_end = min(i + block_size, L)
        q, do = query[:, i:i_end], d_output[:, i:i_end]
        for j in range(0, i_end, block_size):
            j_end = min(j + block_size, L)
            k, v = key[:, j:j_end], value[:, j:j_end]
            scores = q @ k.mT / math.sqrt(d_k)
            later = torch.arange(j, j_end)[None, :] > torch.arange(i, i_end)[:, None]
            scores = scores.masked_fill(later, -math.inf)
            weights = (scores - log_sums[:, i:i_end, None]).exp()
            d_value[:, j:j_end] += weights.mT @ do
            d_weights = do @ v.mT
            d_scores = weights * (d_weights - delta[:, i:i_end, None])
            d_query[:, i:i_end] += d_scores @ k / math.sqrt(d_k)
            d_key[:, j:j_end] = d_scores.mT @ q / math.sqrt(d_k)
    return d_query, d_key, d_value
# %% right: keys outside, queries inside, einsum, the pieces of the key joined at the end
def attention_backward(query, key, value, output, log_sums, d_output, block_size):
    B, L, d_k = query.shape
    scaled = query * d_k**-0.5
    taken_off = torch.einsum("bld,bld->bl", output, d_output)
    d_query = torch.zeros_like(query)
    d_keys, d_values = [], []
    for first_key in range(0, L, block_size):
        k = key[:, first_key : first_key + block_size]
        v = value[:, first_key : first_key + block_size]
        dk, dv = torch.zeros_like(k), torch.zeros_like(v)
        for first in range(first_key, L, block_size):
            rows = slice(first, first + block_size)
            logs = torch.einsum("bid,bjd->bij", scaled[:, rows], k)
            logs -= log_sums[:, rows].unsqueeze(-1)
            if first == first_key:
                size = k.shape[1]
                seen = torch.ones(size, size, dtype=torch.bool).tril()
                logs = torch.where(seen, logs, torch.full_like(logs, -math.inf))
            p = torch.exp(logs)
            dv += torch.einsum("bij,bid->bjd", p, d_output[:, rows])
            ds = torch.einsum("bid,bjd->bij", d_output[:, rows], v)
            ds = (ds - taken_off[:, rows].unsqueeze(-1)) * p
            d_query[:, rows] += torch.einsum("bij,bjd->bid", ds, k)
            dk += torch.einsum("bij,bid->bjd", ds, scaled[:, rows])
        d_keys.append(dk)
        d_values.append(dv)
    return d_query * d_k**-0.5, torch.cat(d_keys, dim=1), torch.cat(d_values, dim=1)
# %% right: one text after another, a generator of pairs of blocks, a helper for one pair, from the end
def block_pairs(length, size):
    starts = list(range(0, length, size))
    for a in reversed(starts):
        for b in starts:
            if b <= a:
                yield slice(a, min(a + size, length)), slice(b, min(b + size, length))


def one_pair(q, k, v, lse, do, less, mask, factor):
    s = torch.addmm(lse[:, None].expand(len(q), len(k)), q, k.T, beta=-1, alpha=factor)
    p = s.masked_fill_(mask, -float("inf")).exp_()
    ds = torch.addmm(less[:, None].expand(len(q), len(k)), do, v.T, beta=-1).mul_(p)
    return (ds @ k).mul_(factor), (ds.T @ q).mul_(factor), p.T @ do


def attention_backward(query, key, value, output, log_sums, d_output, block_size):
    factor = 1 / query.shape[-1] ** 0.5
    grads = tuple(x.new_zeros(x.shape) for x in (query, key, value))
    for b in range(query.shape[0]):
        less = (d_output[b] * output[b]).sum(1)
        for qs, ks in block_pairs(query.shape[1], block_size):
            mask = torch.arange(ks.start, ks.stop) > torch.arange(qs.start, qs.stop)[:, None]
            dq, dk, dv = one_pair(
                query[b, qs], key[b, ks], value[b, ks], log_sums[b, qs],
                d_output[b, qs], less[qs], mask, factor,
            )
            grads[0][b, qs] += dq
            grads[1][b, ks] += dk
            grads[2][b, ks] += dv
    return grads
