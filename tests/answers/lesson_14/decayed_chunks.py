# %% setup
import torch

# %% wrong: quotients of running products
def decayed_chunks(query, key, value, decay, chunk_size, state):
    out = []
    for q, k, v, a in zip(*(x.split(chunk_size, 1) for x in (query, key, value, decay))):
        c = a.cumprod(1)
        left = (c[:, :, None] / c[:, None]).tril()
        out.append(c[..., None] * (q @ state) + (left * (q @ k.mT)) @ v)
        state = c[:, -1, None, None] * state + (k * left[:, -1, :, None]).mT @ v
    return torch.cat(out, 1), state

# %% wrong: one position after another
def decayed_chunks(query, key, value, decay, chunk_size, state):
    out = []
    for t in range(query.shape[1]):
        state = decay[:, t, None, None] * state + key[:, t, :, None] * value[:, t, None]
        out.append(query[:, t, None] @ state)
    return torch.cat(out, 1), state

# %% wrong: the state does not fade within a chunk
def decayed_chunks(query, key, value, decay, chunk_size, state):
    out = []
    for q, k, v, a in zip(*(x.split(chunk_size, 1) for x in (query, key, value, decay))):
        c = a.log().cumsum(1)
        left = (c[:, :, None] - c[:, None]).tril().exp().tril()
        out.append(q @ state + (left * (q @ k.mT)) @ v)
        state = c[:, -1, None, None].exp() * state + (k * left[:, -1, :, None]).mT @ v
    return torch.cat(out, 1), state

# %% wrong: one chunk as long as the text
def decayed_chunks(query, key, value, decay, chunk_size, state):
    c = decay.log().cumsum(1)
    left = (c[:, :, None] - c[:, None]).tril().exp().tril()
    out = c[..., None].exp() * (query @ state) + (left * (query @ key.mT)) @ value
    return out, c[:, -1, None, None].exp() * state + (key * left[:, -1, :, None]).mT @ value

# %% two mistakes: what a chunk wrote goes on unfaded; and the old state too
def decayed_chunks(query, key, value, decay, chunk_size, state):
    out = []
    for q, k, v, a in zip(*(x.split(chunk_size, 1) for x in (query, key, value, decay))):
        c = a.log().cumsum(1)
        left = (c[:, :, None] - c[:, None]).tril().exp().tril()
        out.append(c[..., None].exp() * (q @ state) + (left * (q @ k.mT)) @ v)
        state = state + k.mT @ v
    return torch.cat(out, 1), state

# %% right: minus infinity above the diagonal
def decayed_chunks(query, key, value, decay, chunk_size, state):
    out = []
    for q, k, v, a in zip(*(x.split(chunk_size, 1) for x in (query, key, value, decay))):
        c = torch.log(a).cumsum(1)
        later = torch.ones(a.shape[1], a.shape[1], dtype=torch.bool).triu(1)
        left = (c[:, :, None] - c[:, None]).masked_fill(later, -float("inf")).exp()
        out.append(torch.einsum("bc,bcd,bde->bce", c.exp(), q, state) + torch.einsum("bij,bid,bjd,bje->bie", left, q, k, v))
        state = c[:, -1].exp()[:, None, None] * state + torch.einsum("bj,bjd,bje->bde", left[:, -1], k, v)
    return torch.cat(out, 1), state

# %% right: the table's rows one after another from the row above
def decayed_chunks(query, key, value, decay, chunk_size, state):
    out = []
    for q, k, v, a in zip(*(x.split(chunk_size, 1) for x in (query, key, value, decay))):
        C = a.shape[1]
        ones = torch.ones(C, C, dtype=a.dtype)
        steps = torch.where(ones.triu(0).bool()[None], torch.ones_like(a)[..., None], a[..., None])
        left = steps.cumprod(1).tril()
        c = a.cumprod(1)
        out.append(c[..., None] * (q @ state) + (left * (q @ k.mT)) @ v)
        state = c[:, -1, None, None] * state + (k * left[:, -1, :, None]).mT @ v
    return torch.cat(out, 1), state


# %% setup
import torch
from course_utils.linear_attention import feature_map
import math
import torch.nn.functional as F

# %% wrong: quotient of running products, 0 / 0 with small decays
def decayed_chunks(query, key, value, decay, chunk_size, state):
    outputs = []
    for start in range(0, query.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        q, k, v = query[:, here], key[:, here], value[:, here]
        products = decay[:, here].cumprod(dim=1)  # (B, C)
        gaps = products[:, :, None] / products[:, None, :]  # (B, C, C)
        later = torch.ones(gaps.shape[1:], dtype=torch.bool).triu(1)
        left = gaps.masked_fill(later, 0)
        faded = products[..., None]
        outputs.append(faded * (q @ state) + (left * (q @ k.mT)) @ v)
        state = faded[:, -1:] * state + (k * left[:, -1, :, None]).mT @ v
    return torch.cat(outputs, dim=1), state
# %% wrong: the mask after the exponential, inf * 0 above the diagonal
def decayed_chunks(query, key, value, decay, chunk_size, state):
    outputs = []
    for start in range(0, query.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        q, k, v = query[:, here], key[:, here], value[:, here]
        logs = decay[:, here].log().cumsum(dim=1)  # (B, C)
        gaps = logs[:, :, None] - logs[:, None, :]  # (B, C, C)
        seen = torch.ones(gaps.shape[1:]).tril()
        left = gaps.exp() * seen
        faded = logs.exp()[..., None]
        outputs.append(faded * (q @ state) + (left * (q @ k.mT)) @ v)
        state = faded[:, -1:] * state + (k * left[:, -1, :, None]).mT @ v
    return torch.cat(outputs, dim=1), state
# %% wrong: the decay after the write: a position's own decay fades what it writes
def decayed_chunks(query, key, value, decay, chunk_size, state):
    outputs = []
    for start in range(0, query.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        q, k, v = query[:, here], key[:, here], value[:, here]
        logs = decay[:, here].log().cumsum(dim=1)  # (B, C)
        gaps = logs[:, :, None] - logs[:, None, :] + decay[:, here].log()[:, None, :]
        later = torch.ones(gaps.shape[1:], dtype=torch.bool).triu(1)
        left = gaps.masked_fill(later, -math.inf).exp()
        faded = logs.exp()[..., None]
        outputs.append(faded * (q @ state) + (left * (q @ k.mT)) @ v)
        state = faded[:, -1:] * state + (k * left[:, -1, :, None]).mT @ v
    return torch.cat(outputs, dim=1), state
# %% wrong: the old state is not faded by its chunk when it is handed on
def decayed_chunks(query, key, value, decay, chunk_size, state):
    outputs = []
    for start in range(0, query.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        q, k, v = query[:, here], key[:, here], value[:, here]
        logs = decay[:, here].log().cumsum(dim=1)  # (B, C)
        gaps = logs[:, :, None] - logs[:, None, :]  # (B, C, C)
        later = torch.ones(gaps.shape[1:], dtype=torch.bool).triu(1)
        left = gaps.masked_fill(later, -math.inf).exp()
        faded = logs.exp()[..., None]
        outputs.append(faded * (q @ state) + (left * (q @ k.mT)) @ v)
        state = state + (k * left[:, -1, :, None]).mT @ v
    return torch.cat(outputs, dim=1), state
# %% wrong: the keys go into the new state unfaded
def decayed_chunks(query, key, value, decay, chunk_size, state):
    outputs = []
    for start in range(0, query.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        q, k, v = query[:, here], key[:, here], value[:, here]
        logs = decay[:, here].log().cumsum(dim=1)  # (B, C)
        gaps = logs[:, :, None] - logs[:, None, :]  # (B, C, C)
        later = torch.ones(gaps.shape[1:], dtype=torch.bool).triu(1)
        left = gaps.masked_fill(later, -math.inf).exp()
        faded = logs.exp()[..., None]
        outputs.append(faded * (q @ state) + (left * (q @ k.mT)) @ v)
        state = faded[:, -1:] * state + k.mT @ v
    return torch.cat(outputs, dim=1), state
# %% wrong: the first position of a chunk does not fade the state that is read
def decayed_chunks(query, key, value, decay, chunk_size, state):
    outputs = []
    for start in range(0, query.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        q, k, v = query[:, here], key[:, here], value[:, here]
        logs = decay[:, here].log().cumsum(dim=1)  # (B, C)
        gaps = logs[:, :, None] - logs[:, None, :]  # (B, C, C)
        later = torch.ones(gaps.shape[1:], dtype=torch.bool).triu(1)
        left = gaps.masked_fill(later, -math.inf).exp()
        faded = logs.exp()[..., None]
        outputs.append((logs - logs[:, :1]).exp()[..., None] * (q @ state) + (left * (q @ k.mT)) @ v)
        state = faded[:, -1:] * state + (k * left[:, -1, :, None]).mT @ v
    return torch.cat(outputs, dim=1), state
# %% wrong: the running sums go through the whole text, so that the state fades by all of it again
def decayed_chunks(query, key, value, decay, chunk_size, state):
    outputs = []
    all_logs = decay.log().cumsum(dim=1)
    for start in range(0, query.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        q, k, v = query[:, here], key[:, here], value[:, here]
        logs = all_logs[:, here]  # (B, C)
        gaps = logs[:, :, None] - logs[:, None, :]  # (B, C, C)
        later = torch.ones(gaps.shape[1:], dtype=torch.bool).triu(1)
        left = gaps.masked_fill(later, -math.inf).exp()
        faded = logs.exp()[..., None]
        outputs.append(faded * (q @ state) + (left * (q @ k.mT)) @ v)
        state = faded[:, -1:] * state + (k * left[:, -1, :, None]).mT @ v
    return torch.cat(outputs, dim=1), state
# %% right: no logarithm: a table of decays, 1 where they do not count, and a running product down it
def decayed_chunks(query, key, value, decay, chunk_size, state):
    pieces = zip(*(x.split(chunk_size, dim=1) for x in (query, key, value, decay)))
    out = []
    for q, k, v, a in pieces:
        size = a.shape[1]
        below = torch.ones(size, size, dtype=torch.bool).tril(-1)  # i > j
        table = torch.where(below, a.unsqueeze(2), 1.0).cumprod(dim=1).tril()
        old = a.cumprod(dim=1)
        inside = torch.einsum("bik,bjk,bij->bij", q, k, table)
        out += [
            torch.einsum("bi,bik,bkv->biv", old, q, state)
            + torch.einsum("bij,bjv->biv", inside, v)
        ]
        state = torch.einsum("b,bkv->bkv", old[:, -1], state) + torch.einsum(
            "bj,bjk,bjv->bkv", table[:, -1], k, v
        )
    return torch.cat(out, 1), state
# %% right: sums of logarithms for each pair alone, the end of the chunk by sums from behind, helper
def one_chunk(q, k, v, a, state):
    n = a.shape[1]
    log = torch.log(a)
    spread = log[:, :, None].expand(-1, n, n).tril(-1)  # row i, column j: log a_i if i > j
    pair = spread.cumsum(dim=1)
    pair = pair + torch.full((n, n), -math.inf).triu(1)
    to_end = log.flip(1).cumsum(1).flip(1) - log  # what comes after each position
    start = torch.exp(log.cumsum(1))
    scores = torch.bmm(q, k.transpose(1, 2)) * torch.exp(pair)
    output = torch.baddbmm(torch.bmm(q * start[:, :, None], state), scores, v)
    new = torch.bmm(k.transpose(1, 2), v * torch.exp(to_end)[:, :, None])
    return output, new + state * torch.exp(log.sum(1))[:, None, None]


def decayed_chunks(query, key, value, decay, chunk_size, state):
    output = torch.empty_like(value)
    begin = 0
    while begin < value.shape[1]:
        end = min(begin + chunk_size, value.shape[1])
        parts = [x[:, begin:end] for x in (query, key, value, decay)]
        output[:, begin:end], state = one_chunk(*parts, state)
        begin = end
    return output, state
