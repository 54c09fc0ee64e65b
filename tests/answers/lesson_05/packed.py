# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: no causality, a token sees the later tokens of its text too
def packed(lengths, L):
    ends = lengths.cumsum(dim=1)
    starts = ends - lengths
    place = torch.arange(L)
    inside = (starts[:, :, None] <= place) & (place < ends[:, :, None])
    mask = (inside[:, :, :, None] & inside[:, :, None, :]).any(dim=1)[:, None]
    positions = ((place - starts[:, :, None]) * inside).sum(dim=1)
    asked = (inside & (place < ends[:, :, None] - 1)).any(dim=1)
    return mask, positions, asked

# %% wrong: padding counts as one more text in the mask, it sees itself and earlier padding
def packed(lengths, L):
    ends = lengths.cumsum(dim=1)
    starts = ends - lengths
    place = torch.arange(L)
    text = (place >= ends[:, :, None]).sum(dim=1)  # (B, L), N at padding
    mask = (text[:, :, None] == text[:, None, :]) & torch.ones(L, L).tril().bool()
    inside = (starts[:, :, None] <= place) & (place < ends[:, :, None])
    positions = ((place - starts[:, :, None]) * inside).sum(dim=1)
    asked = (inside & (place < ends[:, :, None] - 1)).any(dim=1)
    return mask[:, None], positions, asked

# %% wrong: only causal and without padding, texts see the texts before them
def packed(lengths, L):
    ends = lengths.cumsum(dim=1)
    starts = ends - lengths
    place = torch.arange(L)
    inside = (starts[:, :, None] <= place) & (place < ends[:, :, None])
    real = inside.any(dim=1)
    mask = torch.ones(L, L).tril().bool() & real[:, :, None] & real[:, None, :]
    positions = ((place - starts[:, :, None]) * inside).sum(dim=1)
    asked = (inside & (place < ends[:, :, None] - 1)).any(dim=1)
    return mask[:, None], positions, asked

# %% wrong: positions count on through the row instead of starting anew in each text
def packed(lengths, L):
    ends = lengths.cumsum(dim=1)
    starts = ends - lengths
    place = torch.arange(L)
    inside = (starts[:, :, None] <= place) & (place < ends[:, :, None])
    mask = (inside[:, :, :, None] & inside[:, :, None, :]).any(dim=1)
    mask = (mask & torch.ones(L, L).tril().bool())[:, None]
    positions = place * inside.any(dim=1)
    asked = (inside & (place < ends[:, :, None] - 1)).any(dim=1)
    return mask, positions, asked

# %% wrong: padding has positions too, counted from its own start
def packed(lengths, L):
    mask = torch.zeros(lengths.shape[0], 1, L, L, dtype=torch.bool)
    positions = torch.zeros(lengths.shape[0], L, dtype=torch.int64)
    asked = torch.zeros(lengths.shape[0], L, dtype=torch.bool)
    for b, row in enumerate(lengths.tolist()):
        start = 0
        for n in row:
            mask[b, 0, start : start + n, start : start + n] = torch.ones(n, n).tril().bool()
            positions[b, start : start + n] = torch.arange(n)
            asked[b, start : start + n - 1] = True
            start += n
        positions[b, start:] = torch.arange(L - start)
    return mask, positions, asked

# %% wrong: asked at every real token, the last one of each text too
def packed(lengths, L):
    ends = lengths.cumsum(dim=1)
    starts = ends - lengths
    place = torch.arange(L)
    inside = (starts[:, :, None] <= place) & (place < ends[:, :, None])
    mask = (inside[:, :, :, None] & inside[:, :, None, :]).any(dim=1)
    mask = (mask & torch.ones(L, L).tril().bool())[:, None]
    positions = ((place - starts[:, :, None]) * inside).sum(dim=1)
    asked = inside.any(dim=1)
    return mask, positions, asked

# %% wrong: asked wherever the next token is real, so a text's last token is asked for the next text's first
def packed(lengths, L):
    ends = lengths.cumsum(dim=1)
    starts = ends - lengths
    place = torch.arange(L)
    inside = (starts[:, :, None] <= place) & (place < ends[:, :, None])
    mask = (inside[:, :, :, None] & inside[:, :, None, :]).any(dim=1)
    mask = (mask & torch.ones(L, L).tril().bool())[:, None]
    positions = ((place - starts[:, :, None]) * inside).sum(dim=1)
    asked = place < lengths.sum(dim=1, keepdim=True) - 1
    return mask, positions, asked

# %% wrong: asked at tokens whose previous token is of the same text, the first of each text left out instead of the last
def packed(lengths, L):
    ends = lengths.cumsum(dim=1)
    starts = ends - lengths
    place = torch.arange(L)
    inside = (starts[:, :, None] <= place) & (place < ends[:, :, None])
    mask = (inside[:, :, :, None] & inside[:, :, None, :]).any(dim=1)
    mask = (mask & torch.ones(L, L).tril().bool())[:, None]
    positions = ((place - starts[:, :, None]) * inside).sum(dim=1)
    asked = positions > 0
    return mask, positions, asked

# %% wrong: the mask has no axis for the heads
def packed(lengths, L):
    ends = lengths.cumsum(dim=1)
    starts = ends - lengths
    place = torch.arange(L)
    inside = (starts[:, :, None] <= place) & (place < ends[:, :, None])
    mask = (inside[:, :, :, None] & inside[:, :, None, :]).any(dim=1)
    mask = mask & torch.ones(L, L).tril().bool()
    positions = ((place - starts[:, :, None]) * inside).sum(dim=1)
    asked = (inside & (place < ends[:, :, None] - 1)).any(dim=1)
    return mask, positions, asked

# %% wrong: a token doesn't see itself, only earlier ones
def packed(lengths, L):
    ends = lengths.cumsum(dim=1)
    starts = ends - lengths
    place = torch.arange(L)
    inside = (starts[:, :, None] <= place) & (place < ends[:, :, None])
    mask = (inside[:, :, :, None] & inside[:, :, None, :]).any(dim=1)
    mask = (mask & (place[None, :] < place[:, None]))[:, None]
    positions = ((place - starts[:, :, None]) * inside).sum(dim=1)
    asked = (inside & (place < ends[:, :, None] - 1)).any(dim=1)
    return mask, positions, asked

# %% wrong: the causal comparison the wrong way round, a token sees itself and the later ones
def packed(lengths, L):
    ends = lengths.cumsum(dim=1)
    starts = ends - lengths
    place = torch.arange(L)
    inside = (starts[:, :, None] <= place) & (place < ends[:, :, None])
    mask = (inside[:, :, :, None] & inside[:, :, None, :]).any(dim=1)
    mask = (mask & (place[:, None] <= place[None, :]))[:, None]
    positions = ((place - starts[:, :, None]) * inside).sum(dim=1)
    asked = (inside & (place < ends[:, :, None] - 1)).any(dim=1)
    return mask, positions, asked

# %% wrong: searchsorted without right=True, so the first token of a text counts to the text before
def packed(lengths, L):
    ends = lengths.cumsum(dim=1)
    place = torch.arange(L).expand(len(lengths), L).contiguous()
    text = torch.searchsorted(ends, place)
    real = place < ends[:, -1:]
    same = text[:, :, None] == text[:, None, :]
    mask = same & real[:, :, None] & real[:, None, :] & torch.ones(L, L).tril().bool()
    starts = torch.cat([ends - lengths, ends[:, -1:]], dim=1)
    positions = (place - starts.gather(1, text)) * real
    following = F.pad(text[:, 1:], (0, 1), value=-1)
    asked = (text == following) & real & (place + 1 < ends[:, -1:])
    return mask[:, None], positions, asked

# %% wrong: padding isn't seen, but padding as a query sees the last text
def packed(lengths, L):
    ends = lengths.cumsum(dim=1)
    starts = ends - lengths
    place = torch.arange(L)
    inside = (starts[:, :, None] <= place) & (place < ends[:, :, None])
    begun = torch.where(lengths > 0, starts, L)  # (B, N)
    text = (begun[:, :, None] <= place).sum(dim=1)
    same = text[:, :, None] == text[:, None, :]
    mask = same & torch.ones(L, L).tril().bool() & inside.any(dim=1)[:, None, :]
    positions = ((place - starts[:, :, None]) * inside).sum(dim=1)
    asked = (inside & (place < ends[:, :, None] - 1)).any(dim=1)
    return mask[:, None], positions, asked

# %% wrong: takes the first row's lengths for every row of the batch
def packed(lengths, L):
    B = lengths.shape[0]
    mask = torch.zeros(L, L, dtype=torch.bool)
    positions = torch.zeros(L, dtype=torch.int64)
    asked = torch.zeros(L, dtype=torch.bool)
    start = 0
    for n in lengths[0].tolist():
        mask[start : start + n, start : start + n] = torch.ones(n, n).tril().bool()
        positions[start : start + n] = torch.arange(n)
        asked[start : start + n - 1] = True
        start += n
    return mask.expand(B, 1, L, L), positions.expand(B, L), asked.expand(B, L)

# %% wrong: positions are floating-point numbers
def packed(lengths, L):
    B = lengths.shape[0]
    mask = torch.zeros(B, 1, L, L, dtype=torch.bool)
    positions = torch.zeros(B, L)
    asked = torch.zeros(B, L, dtype=torch.bool)
    for b in range(B):
        start = 0
        for n in lengths[b].tolist():
            mask[b, 0, start : start + n, start : start + n] = torch.ones(n, n).tril().bool()
            positions[b, start : start + n] = torch.arange(n)
            asked[b, start : start + n - 1] = True
            start += n
    return mask, positions, asked

# %% wrong: rolls the texts for asked and compares the last place with itself, so the end of a full row is asked
def packed(lengths, L):
    ends = lengths.cumsum(dim=1)
    starts = ends - lengths
    place = torch.arange(L)
    inside = (starts[:, :, None] <= place) & (place < ends[:, :, None])
    text = (place >= ends[:, :, None]).sum(dim=1)
    mask = (inside[:, :, :, None] & inside[:, :, None, :]).any(dim=1)
    mask = (mask & torch.ones(L, L).tril().bool())[:, None]
    positions = ((place - starts[:, :, None]) * inside).sum(dim=1)
    following = text.roll(-1, dims=1)
    following[:, -1] = text[:, -1]
    asked = (text == following) & inside.any(dim=1)
    return mask, positions, asked

# %% wrong: positions start at 1 in each text
def packed(lengths, L):
    ends = lengths.cumsum(dim=1)
    starts = ends - lengths
    place = torch.arange(L)
    inside = (starts[:, :, None] <= place) & (place < ends[:, :, None])
    seen = (inside[:, :, :, None] & inside[:, :, None, :]).any(dim=1).tril()
    positions = seen.sum(dim=-1)
    asked = (inside & (place < ends[:, :, None] - 1)).any(dim=1)
    return seen[:, None], positions, asked

# %% two mistakes: no causality; and positions count on through the row
def packed(lengths, L):
    ends = lengths.cumsum(dim=1)
    starts = ends - lengths
    place = torch.arange(L)
    inside = (starts[:, :, None] <= place) & (place < ends[:, :, None])
    mask = (inside[:, :, :, None] & inside[:, :, None, :]).any(dim=1)[:, None]
    positions = place * inside.any(dim=1)
    asked = (inside & (place < ends[:, :, None] - 1)).any(dim=1)
    return mask, positions, asked

# %% two mistakes: padding sees itself as one more text; and asked at every real token
def packed(lengths, L):
    ends = lengths.cumsum(dim=1)
    starts = ends - lengths
    place = torch.arange(L)
    text = (place >= ends[:, :, None]).sum(dim=1)
    mask = (text[:, :, None] == text[:, None, :]).tril()
    inside = (starts[:, :, None] <= place) & (place < ends[:, :, None])
    positions = ((place - starts[:, :, None]) * inside).sum(dim=1)
    return mask[:, None], positions, inside.any(dim=1)

# %% right: loops over rows and texts that fill squares
def packed(lengths, L):
    B = len(lengths)
    mask = torch.zeros((B, 1, L, L)).bool()
    positions = torch.zeros((B, L)).long()
    asked = torch.zeros((B, L)).bool()
    for b in range(B):
        here = 0
        for n in lengths[b]:
            n = int(n)
            for i in range(n):
                mask[b, 0, here + i, here : here + i + 1] = True
                positions[b, here + i] = i
                asked[b, here + i] = i < n - 1
            here += n
    return mask, positions, asked

# %% right: block_diag of triangles for each row, the rest read off the mask
def packed(lengths, L):
    tables = []
    for row in lengths.tolist():
        blocks = [torch.ones(n, n).tril() for n in row if n]
        blocks.append(torch.zeros(L - sum(row), L - sum(row)))
        tables.append(torch.block_diag(*blocks))
    table = torch.stack(tables).bool()
    positions = (table.sum(dim=-1) - 1).clamp(min=0)
    asked = F.pad(table.diagonal(offset=-1, dim1=1, dim2=2), (0, 1), value=False)
    return table.unsqueeze(1), positions, asked

# %% right: searchsorted gives each place its text, gather its start
def packed(lengths, L):
    ends = lengths.cumsum(dim=1).contiguous()
    place = torch.arange(L).repeat(lengths.shape[0], 1)
    text = torch.searchsorted(ends, place, right=True)
    real = text < lengths.shape[1]
    starts = F.pad(ends, (1, 0))
    positions = torch.where(real, place - starts.gather(1, text), 0)
    mask = (text.unsqueeze(2) == text.unsqueeze(1)) & real.unsqueeze(1)
    mask = torch.tril(mask).unsqueeze(1)
    follows = torch.cat([positions[:, 1:], torch.zeros_like(positions[:, :1])], dim=1)
    return mask, positions, follows > 0

# %% right: the start of a text by a running maximum over marked places
def packed(lengths, L):
    B, N = lengths.shape
    ends = lengths.cumsum(1)
    starts = (ends - lengths).clamp(max=L - 1)
    place = torch.arange(L).expand(B, L)
    marks = torch.zeros(B, L, dtype=torch.long)
    marks.scatter_reduce_(1, starts, torch.where(lengths > 0, starts, 0), "amax")
    begin = marks.cummax(dim=1).values
    real = place < ends[:, -1:]
    positions = (place - begin).masked_fill(~real, 0)
    mask = (begin[:, :, None] == begin[:, None, :]).tril()
    mask = mask & real[:, :, None] & real[:, None, :]
    asked = real & F.pad((positions > 0)[:, 1:], (0, 1))
    return mask[:, None], positions, asked
