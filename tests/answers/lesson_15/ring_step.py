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


# %% setup
import math
import torch
from course_utils.distributed.partial_attention import merge, partial_attention

# %% wrong: causal by position, no documents
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    mask = k_positions[None, :] <= q_positions[:, None]
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: searchsorted from the left, so the first token of a document counts to the one before
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.searchsorted(starts, q_positions)
    k_doc = torch.searchsorted(starts, k_positions)
    mask = (k_positions[None] <= q_positions[:, None]) & (q_doc[:, None] == k_doc[None])
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: a query doesn't see itself
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = (starts <= q_positions[:, None]).sum(1)
    k_doc = (starts <= k_positions[:, None]).sum(1)
    mask = (k_positions < q_positions[:, None]) & (q_doc[:, None] == k_doc)
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: same document only, no causal mask
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = (starts <= q_positions[:, None]).sum(1)
    k_doc = (starts <= k_positions[:, None]).sum(1)
    return merge(output, lse, *partial_attention(query, key, value, q_doc[:, None] == k_doc))

# %% wrong: causal by the places in the blocks and not by positions; documents right
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    n, n_k = len(q_positions), len(k_positions)
    causal = torch.arange(n_k)[None] <= torch.arange(n)[:, None]
    return merge(output, lse, *partial_attention(query, key, value, causal & (q_doc[:, None] == k_doc)))

# %% wrong: returns the block alone, without a merge
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (q_doc[:, None] == k_doc)
    return partial_attention(query, key, value, mask)

# %% wrong: writes into the given output and lse
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (q_doc[:, None] == k_doc)
    new_output, new_lse = merge(output, lse, *partial_attention(query, key, value, mask))
    output.copy_(new_output)
    lse.copy_(new_lse)
    return output, lse

# %% wrong: skips the block if its first key lies after the last query, which supposes that positions ascend
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    if k_positions[0] > q_positions[-1]:
        return output, lse
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (q_doc[:, None] == k_doc)
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: own attention, hides with -1e9, so a query that sees nothing gets the mean of the values and an lse of about -1e9
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (q_doc[:, None] == k_doc)
    g = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(g, 1), value.repeat_interleave(g, 1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(~mask, -1e9)
    part = torch.softmax(scores, -1) @ value
    return merge(output, lse, part, torch.logsumexp(scores, -1))

# %% wrong: own attention, with key/value heads repeated in the order 0 1 0 1 instead of 0 0 1 1
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (q_doc[:, None] == k_doc)
    g = query.shape[1] // key.shape[1]
    return merge(output, lse, *partial_attention(query, key.repeat(1, g, 1, 1), value.repeat(1, g, 1, 1), mask))

# %% wrong: scores without a scale
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (q_doc[:, None] == k_doc)
    return merge(output, lse, *partial_attention(query, key, value, mask, scale=1.0))

# %% wrong: scale of d_v instead of d_k
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (q_doc[:, None] == k_doc)
    return merge(output, lse, *partial_attention(query, key, value, mask, scale=value.shape[-1] ** -0.5))

# %% wrong: compares positions within the documents, but not the documents
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    def within(p):
        return p - starts[torch.bucketize(p, starts, right=True) - 1]
    mask = within(k_positions)[None] <= within(q_positions)[:, None]
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: compares both, the position and the document with <=, so earlier documents are seen
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (k_doc <= q_doc[:, None])
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: hides what lies before the last document's start for all queries
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    mask = (k_positions <= q_positions[:, None]) & ((k_positions >= starts[-1]) | (q_positions[:, None] < starts[-1]))
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: forgets that the document of the query is its latest start: takes the first start that is at or before (always 0)
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    before = starts[None, :] <= q_positions[:, None]
    own = starts[before.int().argmax(dim=1)]
    mask = (k_positions <= q_positions[:, None]) & (k_positions >= own[:, None])
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: documents of equal length supposed, position // starts[1]
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    size = int(starts[1]) if len(starts) > 1 else 10**9
    mask = (k_positions <= q_positions[:, None]) & (k_positions // size == q_positions[:, None] // size)
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: transposed mask, keys in rows (only runs where n equals n_k)
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    mask = (k_positions[:, None] <= q_positions) & (q_doc == k_doc[:, None])
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: the causal comparison the wrong way round
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    mask = (q_positions[:, None] <= k_positions) & (q_doc[:, None] == k_doc)
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: as long as nothing was collected (lse of all queries minus infinity) takes the block alone, otherwise merges, but merges without a guard: nan where nothing was seen in either
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (q_doc[:, None] == k_doc)
    part, part_lse = partial_attention(query, key, value, mask)
    if torch.isinf(lse).all():
        return part, part_lse
    new = torch.logaddexp(lse, part_lse)
    return torch.exp(lse - new)[..., None] * output + torch.exp(part_lse - new)[..., None] * part, new

# %% wrong: sorts the positions of the keys, not their keys and values
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    k_positions = k_positions.sort().values
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (q_doc[:, None] == k_doc)
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: skips the block unless some key of it is seen by every query
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (q_doc[:, None] == k_doc)
    if not mask.any(dim=1).all():
        return output, lse
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: a block with nothing to see gives output 0 and minus infinity instead of what was collected
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (q_doc[:, None] == k_doc)
    if not mask.any():
        return torch.zeros_like(output), torch.full_like(lse, -math.inf)
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: documents only by whether a start lies strictly between key and query, so a query at a start sees the document before
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q, k = q_positions[:, None, None], k_positions[None, :, None]
    border = ((starts > k) & (starts < q)).any(-1)
    mask = (k_positions <= q_positions[:, None]) & ~border
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: merges the outputs half and half, lse right
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (q_doc[:, None] == k_doc)
    part, part_lse = partial_attention(query, key, value, mask)
    return (output + part) / 2, torch.logaddexp(lse, part_lse)

# %% wrong: zeroes hidden scores' weights after the exponential without subtracting a maximum, so large scores overflow
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.bucketize(q_positions, starts, right=True)
    k_doc = torch.bucketize(k_positions, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (q_doc[:, None] == k_doc)
    g = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(g, 1), value.repeat_interleave(g, 1)
    e = torch.exp(query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])) * mask
    s = e.sum(-1)
    old = torch.exp(lse)
    total = old + s
    out = (old[..., None] * output + e @ value) / total.clamp(min=1e-30)[..., None]
    return out, torch.log(total)

# %% two mistakes: searchsorted from the left, and strictly before
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = torch.searchsorted(starts, q_positions)
    k_doc = torch.searchsorted(starts, k_positions)
    mask = (k_positions[None] < q_positions[:, None]) & (q_doc[:, None] == k_doc[None])
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% two mistakes: no documents, and writes into output
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    mask = k_positions <= q_positions[:, None]
    new, new_lse = merge(output, lse, *partial_attention(query, key, value, mask))
    output[...] = new
    return output, new_lse

# %% right: numbers of documents by counting starts, the page's functions
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    q_doc = (starts <= q_positions[:, None]).sum(1)
    k_doc = (starts <= k_positions[:, None]).sum(1)
    mask = (k_positions <= q_positions[:, None]) & (q_doc[:, None] == k_doc)
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% right: the query's own start is a lower bound, searchsorted, block first in the merge, returned as a list
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    own = starts[torch.searchsorted(starts, q_positions, right=True) - 1]
    visible = (own.unsqueeze(1) <= k_positions) & (k_positions <= q_positions.unsqueeze(1))
    part, part_lse = partial_attention(query, key, value, visible)
    return list(merge(part, part_lse, output, lse))

# %% right: own attention with the maximum, unnormalized, einsum over groups; no function of the page
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    B, H, n, d_k = query.shape
    H_kv = key.shape[1]
    grouped = query.reshape(B, H_kv, H // H_kv, n, d_k)
    scores = torch.einsum("bgjnd,bgmd->bgjnm", grouped, key).reshape(B, H, n, -1) / math.sqrt(d_k)
    k, q = k_positions[None, :, None], q_positions[:, None, None]
    border = ((starts > k) & (starts <= q)).any(-1)
    hidden = (k_positions[None] > q_positions[:, None]) | border
    scores = scores.masked_fill(hidden, -math.inf)
    top = torch.maximum(scores.amax(-1), lse)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(scores - top[..., None])
    old = torch.exp(lse - top)
    total = old + e.sum(-1)
    new = torch.einsum("bgjnm,bgme->bgjne", e.view(B, H_kv, H // H_kv, n, -1), value).reshape(B, H, n, -1)
    out = (new + old[..., None] * output) / torch.where(total == 0, 1.0, total)[..., None]
    return out, top + torch.log(total)

# %% right: loops over queries, one at a time, with the visible keys picked out, clones to begin with
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    output, lse = output.clone(), lse.clone()
    borders = starts.tolist() + [10**12]
    for i, q in enumerate(q_positions.tolist()):
        d = max(j for j, s in enumerate(borders) if s <= q)
        keep = [j for j, k in enumerate(k_positions.tolist()) if borders[d] <= k <= q]
        if keep:
            part = partial_attention(query[:, :, i:i + 1], key[:, :, keep], value[:, :, keep])
            output[:, :, i:i + 1], lse[:, :, i:i + 1] = merge(output[:, :, i:i + 1], lse[:, :, i:i + 1], *part)
    return output, lse

# %% right: returns the given tensors themselves if nothing of the block is seen, otherwise merges
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    doc = lambda p: torch.bucketize(p, starts, right=True)
    mask = torch.ge(q_positions[:, None], k_positions) & torch.eq(doc(q_positions)[:, None], doc(k_positions))
    if not mask.any():
        return output, lse
    return merge(output, lse, *partial_attention(query, key, value, mask[None, None]))

# %% right: one document after the other, each merged by itself
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    ends = torch.cat([starts[1:], torch.tensor([2**40])])
    for a, b in zip(starts, ends):
        q_in = (q_positions >= a) & (q_positions < b)
        k_in = (k_positions >= a) & (k_positions < b)
        mask = q_in[:, None] & k_in[None] & (k_positions[None] <= q_positions[:, None])
        output, lse = merge(output, lse, *partial_attention(query, key, value, mask))
    return output, lse


# %% setup
import math
import torch
from course_utils.distributed.partial_attention import merge, partial_attention

# %% wrong: own attention in the online way without a guard where nothing was seen before and nothing now (nan)
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    doc = lambda p: torch.bucketize(p, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (doc(q_positions)[:, None] == doc(k_positions))
    part, part_lse = partial_attention(query, key, value, mask)
    new = torch.logaddexp(lse, part_lse)
    return torch.exp(lse - new)[..., None] * output + torch.exp(part_lse - new)[..., None] * part, new

# %% wrong: visible where a key's document does not begin after the query: uses searchsorted on k only
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    first = starts[torch.bucketize(q_positions, starts) - 1].clamp(min=0)
    mask = (k_positions <= q_positions[:, None]) & (k_positions >= first[:, None])
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: sums all starts as if they were lengths
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    ends = torch.cumsum(starts, 0)
    doc = lambda p: torch.bucketize(p, ends, right=True)
    mask = (k_positions <= q_positions[:, None]) & (doc(q_positions)[:, None] == doc(k_positions))
    return merge(output, lse, *partial_attention(query, key, value, mask))

# %% wrong: if the whole block is of no use returns what was collected; if not, queries that see nothing in it get a zero output merged with lse 0
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    doc = lambda p: torch.bucketize(p, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (doc(q_positions)[:, None] == doc(k_positions))
    if not mask.any():
        return output, lse
    part, part_lse = partial_attention(query, key, value, mask)
    part_lse = part_lse.masked_fill(torch.isinf(part_lse), 0.0)
    return merge(output, lse, part, part_lse)

# %% wrong: own attention, mask applied after the softmax (weights not normalized over visible keys), lse of all keys
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    doc = lambda p: torch.bucketize(p, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (doc(q_positions)[:, None] == doc(k_positions))
    g = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(g, 1), value.repeat_interleave(g, 1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    w = torch.softmax(scores, -1) * mask
    return merge(output, lse, w @ value, torch.logsumexp(scores, -1))

# %% wrong: hides with the most negative float32
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    doc = lambda p: torch.bucketize(p, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (doc(q_positions)[:, None] == doc(k_positions))
    g = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(g, 1), value.repeat_interleave(g, 1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return merge(output, lse, torch.softmax(scores, -1) @ value, torch.logsumexp(scores, -1))

# %% wrong: hides with -30 only
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    doc = lambda p: torch.bucketize(p, starts, right=True)
    mask = (k_positions <= q_positions[:, None]) & (doc(q_positions)[:, None] == doc(k_positions))
    g = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(g, 1), value.repeat_interleave(g, 1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(~mask, -30.0)
    return merge(output, lse, torch.softmax(scores, -1) @ value, torch.logsumexp(scores, -1))
