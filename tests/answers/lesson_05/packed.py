# %% setup
import torch

# %% wrong: the texts are told apart, but a token also sees the later tokens of its own text
def packed(lengths, L):
    B, N = lengths.shape
    text = torch.full((B, L), -1)
    positions, asked = torch.zeros(B, L, dtype=torch.int64), torch.zeros(B, L, dtype=torch.bool)
    for b in range(B):
        place = 0
        for n, length in enumerate(lengths[b].tolist()):
            text[b, place : place + length] = n
            positions[b, place : place + length] = torch.arange(length)
            asked[b, place : place + max(length - 1, 0)] = True
            place += length
    mask = (text[:, :, None] == text[:, None, :]) & (text >= 0)[:, None, :]
    return mask[:, None], positions, asked

# %% wrong: the last token of a text is asked for the first of the next
def packed(lengths, L):
    B, N = lengths.shape
    text = torch.full((B, L), -1)
    positions = torch.zeros(B, L, dtype=torch.int64)
    for b in range(B):
        place = 0
        for n, length in enumerate(lengths[b].tolist()):
            text[b, place : place + length] = n
            positions[b, place : place + length] = torch.arange(length)
            place += length
    mask = (text[:, :, None] == text[:, None, :]) & (text >= 0)[:, None, :]
    mask = mask & torch.ones(L, L).tril().bool()
    asked = torch.zeros(B, L, dtype=torch.bool)
    asked[:, :-1] = text[:, 1:] >= 0
    return mask[:, None], positions, asked

# %% wrong: positions count through the whole row
def packed(lengths, L):
    ends = lengths.cumsum(1)
    text = torch.searchsorted(ends, torch.arange(L).expand(len(lengths), L).contiguous(), right=True)
    real = torch.arange(L) < ends[:, -1:]
    mask = (text[:, :, None] == text[:, None]) & torch.ones(L, L).tril().bool() & real[:, None]
    next_text = torch.cat([text[:, 1:], text[:, -1:] + 1], 1)
    asked = real & (next_text == text)
    return mask[:, None], torch.arange(L) * real, asked

# %% two mistakes: padding sees padding; and the axis of the heads is missing
def packed(lengths, L):
    ends = lengths.cumsum(1)
    text = torch.searchsorted(ends, torch.arange(L).expand(len(lengths), L).contiguous(), right=True)
    real = torch.arange(L) < ends[:, -1:]
    mask = (text[:, :, None] == text[:, None]) & torch.ones(L, L).tril().bool()
    positions = (mask.sum(-1) - 1) * real
    next_text = torch.cat([text[:, 1:], text[:, -1:] + 1], 1)
    return mask, positions, real & (next_text == text)

# %% right: loops over the rows and their texts
def packed(lengths, L):
    B = len(lengths)
    mask = torch.zeros(B, 1, L, L, dtype=torch.bool)
    positions, asked = torch.zeros(B, L, dtype=torch.int64), torch.zeros(B, L, dtype=torch.bool)
    for b in range(B):
        place = 0
        for length in lengths[b].tolist():
            for i in range(length):
                mask[b, 0, place + i, place : place + i + 1] = True
                positions[b, place + i] = i
                asked[b, place + i] = i + 1 < length
            place += length
    return mask, positions, asked

# %% right: the number of the text of each place, from a search in the ends
def packed(lengths, L):
    ends = lengths.cumsum(1)
    places = torch.arange(L).expand(len(lengths), L).contiguous()
    text = torch.searchsorted(ends, places, right=True)
    real = places < ends[:, -1:]
    start = torch.cat([torch.zeros_like(ends[:, :1]), ends], 1).gather(1, text)
    mask = (places[:, None] >= start[:, :, None]) & (places[:, None] <= places[:, :, None]) & real[:, :, None]
    asked = torch.zeros_like(real)
    asked[:, :-1] = (text[:, 1:] == text[:, :-1]) & real[:, 1:]
    return mask[:, None], (places - start) * real, asked
