# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: looks for the end symbol among all symbols including the start, so it ends at once where start_id is the same as end_id
def greedy(model, source, max_len, start_id, end_id, pad_id):
    said = torch.full((source.shape[0], 1), start_id, dtype=source.dtype)
    for _ in range(max_len):
        ended = (said == end_id).any(dim=1)
        if ended.all():
            break
        symbol = model(source, said)[:, -1].argmax(dim=-1)
        symbol = torch.where(ended, pad_id, symbol)
        said = torch.cat((said, symbol[:, None]), dim=1)
    return said[:, 1:]


# %% wrong: never says padding: it rules pad_id out before the argmax, though padding may be said like any other symbol
def greedy(model, source, max_len, start_id, end_id, pad_id):
    said = torch.full((source.shape[0], 1), start_id)
    ended = torch.zeros(source.shape[0], dtype=torch.bool)
    for _ in range(max_len):
        logits = model(source, said)[:, -1].clone()
        if pad_id != end_id:
            logits[:, pad_id] = -float("inf")
        symbol = logits.argmax(dim=-1).masked_fill(ended, pad_id)
        said = torch.cat((said, symbol[:, None]), dim=1)
        ended = ended | (symbol == end_id)
        if ended.all():
            break
    return said[:, 1:]


# %% wrong: stops only when all sequences say the end symbol in the same step, so there are columns of padding behind
def greedy(model, source, max_len, start_id, end_id, pad_id):
    said = torch.full((source.shape[0], 1), start_id)
    ended = torch.zeros(source.shape[0], dtype=torch.bool)
    for _ in range(max_len):
        symbol = model(source, said)[:, -1].argmax(dim=-1)
        symbol[ended] = pad_id
        said = torch.cat((said, symbol.unsqueeze(1)), dim=1)
        ended |= symbol == end_id
        if (symbol == end_id).all():
            break
    return said[:, 1:]


# %% wrong: leaves the loop before the last symbols are appended, so the end symbol of the sequences that end last is missing
def greedy(model, source, max_len, start_id, end_id, pad_id):
    said = torch.full((source.shape[0], 1), start_id)
    ended = torch.zeros(source.shape[0], dtype=torch.bool)
    for _ in range(max_len):
        symbol = model(source, said)[:, -1].argmax(dim=-1).masked_fill(ended, pad_id)
        ended = ended | (symbol == end_id)
        if ended.all():
            break
        said = torch.cat((said, symbol[:, None]), dim=1)
    return said[:, 1:]


# %% right: decodes each sequence by itself and pads the results to the longest
def greedy(model, source, max_len, start_id, end_id, pad_id):
    results = []
    for row in source.split(1):
        said = []
        while len(said) < max_len and (not said or said[-1] != end_id):
            logits = model(row, torch.tensor([[start_id, *said]], dtype=source.dtype))
            said.append(int(logits[0, -1].argmax()))
        results.append(said)
    longest = max(map(len, results))
    return torch.tensor([said + [pad_id] * (longest - len(said)) for said in results], dtype=source.dtype)


# %% right: writes into a table full of padding and asks the model only about the rows that still speak
def greedy(model, source, max_len, start_id, end_id, pad_id):
    B = source.shape[0]
    table = torch.full((B, max_len + 1), pad_id, dtype=torch.long)
    table[:, 0] = start_id
    speaking = torch.arange(B)
    steps = 0
    while steps < max_len and speaking.numel() > 0:
        logits = model(source[speaking], table[speaking, : steps + 1])
        steps += 1
        symbols = logits.select(1, logits.shape[1] - 1).max(dim=1).indices
        table[speaking, steps] = symbols
        speaking = speaking[symbols != end_id]
    return table[:, 1 : steps + 1]
