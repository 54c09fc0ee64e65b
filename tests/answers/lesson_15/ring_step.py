# %% setup
import math
import torch
from course_utils.distributed.partial_attention import merge, partial_attention


# %% wrong: a triangle by places in the block
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    mask = torch.tril(torch.ones(query.shape[2], key.shape[2], dtype=torch.bool))
    return merge(output, lse, *partial_attention(query, key, value, mask))


# %% wrong: judges the whole block by its first positions, as if tokens were in a row
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    if k_positions[0] > q_positions[0]:
        return output, lse
    if k_positions[0] < q_positions[0]:
        return merge(output, lse, *partial_attention(query, key, value))
    mask = torch.tril(torch.ones(query.shape[2], key.shape[2], dtype=torch.bool))
    return merge(output, lse, *partial_attention(query, key, value, mask))


# %% wrong: no mask
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    new_output, new_lse = partial_attention(query, key, value)
    return merge(output, lse, new_output, new_lse)


# %% wrong: strictly earlier keys only
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    mask = q_positions.unsqueeze(1) > k_positions.unsqueeze(0)
    return merge(output, lse, *partial_attention(query, key, value, mask))


# %% wrong: adds up the outputs
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    mask = q_positions[:, None] >= k_positions
    new_output, new_lse = partial_attention(query, key, value, mask)
    return output + new_output, torch.logaddexp(lse, new_lse)


# %% two mistakes: no mask; and the old lse comes back
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    merged, _ = merge(output, lse, *partial_attention(query, key, value))
    return merged, lse


# %% right: one query at a time
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    outputs, lses = [], []
    for i, position in enumerate(q_positions):
        seen = k_positions <= position
        part = partial_attention(query[:, :, i : i + 1], key[:, :, seen], value[:, :, seen])
        merged = merge(output[:, :, i : i + 1], lse[:, :, i : i + 1], *part)
        outputs.append(merged[0])
        lses.append(merged[1])
    return torch.cat(outputs, dim=2), torch.cat(lses, dim=2)


# %% right: all by hand, with what was collected as one more key
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    repeats = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(repeats, dim=1), value.repeat_interleave(repeats, dim=1)
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(k_positions > q_positions[:, None], -math.inf)
    scores = torch.cat((lse[..., None], scores), dim=-1)
    weights = scores.softmax(dim=-1).nan_to_num(0.0)
    return weights[..., :1] * output + weights[..., 1:] @ value, scores.logsumexp(dim=-1)


# %% setup
import math
from course_utils.distributed.partial_attention import merge, partial_attention
import itertools
import functools
import torch
import torch.nn.functional as F


# %% wrong: the mask goes by places in the block
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    n, n_k = query.shape[2], key.shape[2]
    mask = q_positions[0] + torch.arange(n)[:, None] >= k_positions[0] + torch.arange(n_k)
    new_output, new_lse = partial_attention(query, key, value, mask)
    return merge(output, lse, new_output, new_lse)


# %% wrong: a query doesn't see the key at its own position
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    mask = q_positions[:, None] > k_positions
    new_output, new_lse = partial_attention(query, key, value, mask)
    return merge(output, lse, new_output, new_lse)


# %% wrong: writes the result into the arguments
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    mask = q_positions[:, None] >= k_positions
    new_output, new_lse = partial_attention(query, key, value, mask)
    merged_output, merged_lse = merge(output, lse, new_output, new_lse)
    output.copy_(merged_output)
    lse.copy_(merged_lse)
    return output, lse


# %% wrong: the comparison is the wrong way round, queries see the future
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    mask = q_positions[:, None] <= k_positions
    new_output, new_lse = partial_attention(query, key, value, mask)
    return merge(output, lse, new_output, new_lse)


# %% wrong: the outputs are added without weights
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    mask = q_positions[:, None] >= k_positions
    new_output, new_lse = partial_attention(query, key, value, mask)
    return output + new_output, torch.logaddexp(lse, new_lse)


# %% wrong: skips a block by its first key and the last query, as if positions were sorted
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    if k_positions[0] > q_positions[-1]:
        return output, lse
    mask = q_positions[:, None] >= k_positions
    new_output, new_lse = partial_attention(query, key, value, mask)
    return merge(output, lse, new_output, new_lse)


# %% wrong: key/value heads repeated as a whole instead of each in a row
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    group = query.shape[1] // key.shape[1]
    key, value = key.repeat(1, group, 1, 1), value.repeat(1, group, 1, 1)
    mask = q_positions[:, None] >= k_positions
    new_output, new_lse = partial_attention(query, key, value, mask)
    return merge(output, lse, new_output, new_lse)


# %% right: what was collected counts as one more key, with lse as its score
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    B, H, n, d_k = query.shape
    H_kv = key.shape[1]
    grouped = query.reshape(B, H_kv, H // H_kv, n, d_k)
    scores = torch.einsum("bkgnd,bkmd->bkgnm", grouped, key) / math.sqrt(d_k)
    hidden = k_positions[None, :] > q_positions[:, None]
    scores = scores.masked_fill(hidden, -math.inf).reshape(B, H, n, -1)
    everything = torch.cat([lse[..., None], scores], dim=-1)
    weights = torch.softmax(everything, dim=-1).nan_to_num(0.0)
    old, new = weights[..., :1], weights[..., 1:].reshape(B, H_kv, H // H_kv, n, -1)
    gained = torch.einsum("bkgnm,bkmv->bkgnv", new, value).reshape(B, H, n, -1)
    return old * output + gained, torch.logsumexp(everything, dim=-1)


# %% right: one key at a time, merged one after the other
def ring_step(query, key, value, q_positions, k_positions, output, lse):
    for j, position in enumerate(k_positions.tolist()):
        sees = (q_positions >= position).unsqueeze(1)  # (n, 1)
        part = partial_attention(query, key[:, :, j : j + 1], value[:, :, j : j + 1], sees)
        output, lse = merge(output, lse, *part)
    return output, lse
