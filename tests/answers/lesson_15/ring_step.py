# %% setup
import math
import torch
from course_utils.distributed.partial_attention import merge, partial_attention


# %% wrong: the documents are left out
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    mask = q_positions[:, None] >= k_positions
    return merge(output, lse, *partial_attention(query, key, value, mask))


# %% wrong: a document's first token is counted to the document before (searchsorted without right=True)
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.searchsorted(starts, q_positions.contiguous())
    k_doc = torch.searchsorted(starts, k_positions.contiguous())
    mask = (q_positions[:, None] >= k_positions) & (q_doc[:, None] == k_doc)
    return merge(output, lse, *partial_attention(query, key, value, mask))


# %% wrong: within a document everything is seen, later keys too
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.searchsorted(starts, q_positions.contiguous(), right=True)
    k_doc = torch.searchsorted(starts, k_positions.contiguous(), right=True)
    return merge(output, lse, *partial_attention(query, key, value, q_doc[:, None] == k_doc))


# %% wrong: a triangle by places in the block, and documents by positions
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = (q_positions[:, None] >= starts).sum(1)
    k_doc = (k_positions[:, None] >= starts).sum(1)
    mask = torch.tril(torch.ones(query.shape[2], key.shape[2], dtype=torch.bool))
    return merge(output, lse, *partial_attention(query, key, value, mask & (q_doc[:, None] == k_doc)))


# %% wrong: a block that begins in another document is skipped whole
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    document = lambda p: int((starts <= p).sum())
    if document(q_positions[0]) != document(k_positions[0]):
        return output, lse
    mask = q_positions[:, None] >= k_positions
    return merge(output, lse, *partial_attention(query, key, value, mask))


# %% wrong: strictly earlier keys only
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    begin = starts[(q_positions[:, None] >= starts).sum(1) - 1]
    mask = (k_positions < q_positions[:, None]) & (k_positions >= begin[:, None])
    return merge(output, lse, *partial_attention(query, key, value, mask))


# %% wrong: adds up the outputs
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    begin = starts[(q_positions[:, None] >= starts).sum(1) - 1]
    mask = (k_positions <= q_positions[:, None]) & (k_positions >= begin[:, None])
    new_output, new_lse = partial_attention(query, key, value, mask)
    return output + new_output, torch.logaddexp(lse, new_lse)


# %% wrong: writes the result into the arguments
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    begin = starts[(q_positions[:, None] >= starts).sum(1) - 1]
    mask = (k_positions <= q_positions[:, None]) & (k_positions >= begin[:, None])
    merged_output, merged_lse = merge(output, lse, *partial_attention(query, key, value, mask))
    output.copy_(merged_output)
    lse.copy_(merged_lse)
    return output, lse


# %% wrong: the start of the next document still belongs to a document (<= in place of <)
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    ends = torch.cat([starts[1:], torch.tensor([10**9])])
    inside = lambda p: (p[:, None] >= starts) & (p[:, None] <= ends)
    together = (inside(q_positions)[:, None] & inside(k_positions)[None]).any(-1)
    mask = together & (k_positions <= q_positions[:, None])
    return merge(output, lse, *partial_attention(query, key, value, mask))


# %% wrong: a key is seen if it lies after the start of the LAST document
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    mask = (k_positions <= q_positions[:, None]) & (k_positions >= starts[-1])
    return merge(output, lse, *partial_attention(query, key, value, mask))


# %% two mistakes: the documents are left out; and the old lse comes back
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    mask = q_positions[:, None] >= k_positions
    merged, _ = merge(output, lse, *partial_attention(query, key, value, mask))
    return merged, lse


# %% right: each query's document begins at the last start before it, and keys from there to the query are seen
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    begin = starts[torch.searchsorted(starts, q_positions.contiguous(), right=True) - 1]
    mask = (k_positions <= q_positions[:, None]) & (k_positions >= begin[:, None])
    return merge(output, lse, *partial_attention(query, key, value, mask))


# %% right: one query at a time
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    outputs, lses = [], []
    for i, position in enumerate(q_positions.tolist()):
        begin = max(s for s in starts.tolist() if s <= position)
        seen = torch.tensor([begin <= k <= position for k in k_positions.tolist()], dtype=torch.bool)
        part = partial_attention(query[:, :, i : i + 1], key[:, :, seen], value[:, :, seen])
        merged = merge(output[:, :, i : i + 1], lse[:, :, i : i + 1], *part)
        outputs.append(merged[0])
        lses.append(merged[1])
    return torch.cat(outputs, dim=2), torch.cat(lses, dim=2)


# %% right: all by hand, with what was collected as one more key
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    repeats = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(repeats, dim=1), value.repeat_interleave(repeats, dim=1)
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    between = (starts > k_positions[:, None]) & (starts <= q_positions[:, None, None])  # a start between key and query
    hidden = (k_positions > q_positions[:, None]) | between.any(-1)
    scores = scores.masked_fill(hidden, -math.inf)
    scores = torch.cat((lse[..., None], scores), dim=-1)
    weights = scores.softmax(dim=-1).nan_to_num(0.0)
    return weights[..., :1] * output + weights[..., 1:] @ value, scores.logsumexp(dim=-1)


# %% right: a table of the whole text, rows and columns picked out
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    L = int(max(q_positions.max(), k_positions.max())) + 1
    begins = torch.zeros(L, dtype=torch.long)
    begins[starts[starts < L]] = 1
    document = begins.cumsum(0)
    whole = (document[:, None] == document) & torch.ones(L, L, dtype=torch.bool).tril()
    mask = whole[q_positions][:, k_positions]
    return merge(output, lse, *partial_attention(query, key, value, mask))
