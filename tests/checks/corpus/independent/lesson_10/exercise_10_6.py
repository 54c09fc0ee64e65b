# %% setup
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils.datasets.tasks import copy_task
from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.positions import SinusoidalPositions

torch.set_num_threads(1)


# %% wrong: a sequence that has ended goes on with whatever the model says, it is not filled with pad_id
def greedy(model, source, max_len, start_id, end_id, pad_id):
    B = source.shape[0]
    target = torch.full((B, 1), start_id, dtype=torch.long)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(max_len):
        symbol = model(source, target)[:, -1].argmax(dim=-1)  # (B,)
        target = torch.cat((target, symbol[:, None]), dim=1)
        ended |= symbol == end_id
        if ended.all():
            break
    return target[:, 1:]


# %% wrong: stops only when all sequences say the end symbol in the same step, so with sequences that end at different steps it runs on to max_len
def greedy(model, source, max_len, start_id, end_id, pad_id):
    B = source.shape[0]
    target = torch.full((B, 1), start_id, dtype=torch.long)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(max_len):
        symbol = model(source, target)[:, -1].argmax(dim=-1)
        just_ended = (symbol == end_id) & ~ended
        symbol = torch.where(ended, pad_id, symbol)
        target = torch.cat((target, symbol[:, None]), dim=1)
        if just_ended.all():
            break
        ended = ended | just_ended
    return target[:, 1:]


# %% wrong: the start symbol counts as one of the max_len symbols, so at most max_len - 1 are said
def greedy(model, source, max_len, start_id, end_id, pad_id):
    B = source.shape[0]
    target = torch.full((B, 1), start_id, dtype=torch.long)
    ended = torch.zeros(B, dtype=torch.bool)
    while target.shape[1] < max_len and not ended.all():
        symbol = model(source, target)[:, -1].argmax(dim=-1)
        symbol[ended] = pad_id
        ended = ended | (symbol == end_id)
        target = torch.cat((target, symbol[:, None]), dim=1)
    return target[:, 1:]


# %% wrong: a sequence that says pad_id of its own accord counts as ended
def greedy(model, source, max_len, start_id, end_id, pad_id):
    B = source.shape[0]
    target = torch.full((B, 1), start_id, dtype=torch.long)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(max_len):
        symbol = model(source, target)[:, -1].argmax(dim=-1)
        symbol = symbol.masked_fill(ended, pad_id)
        target = torch.cat((target, symbol[:, None]), dim=1)
        ended = (symbol == end_id) | (symbol == pad_id)
        if ended.all():
            break
    return target[:, 1:]


# %% wrong: calls model.eval() first, which raises an error when the model is a plain function
def greedy(model, source, max_len, start_id, end_id, pad_id):
    model.eval()
    B = source.shape[0]
    target = torch.full((B, 1), start_id, dtype=torch.long)
    ended = torch.zeros(B, dtype=torch.bool)
    with torch.no_grad():
        for _ in range(max_len):
            symbol = model(source, target)[:, -1].argmax(dim=-1)
            symbol[ended] = pad_id
            target = torch.cat((target, symbol[:, None]), dim=1)
            ended |= symbol == end_id
            if ended.all():
                break
    return target[:, 1:]


# %% wrong: looks for the end symbol in everything written, the start symbol included, so when start_id and end_id are the same it fills with padding at once and stops after one step
def greedy(model, source, max_len, start_id, end_id, pad_id):
    target = torch.full((source.shape[0], 1), start_id, dtype=torch.long)
    for _ in range(max_len):
        ended = (target == end_id).any(dim=1)
        symbol = model(source, target)[:, -1].argmax(dim=-1)
        symbol = torch.where(ended, torch.full_like(symbol, pad_id), symbol)
        target = torch.cat((target, symbol[:, None]), dim=1)
        if (target == end_id).any(dim=1).all():
            break
    return target[:, 1:]


# %% two mistakes: stops as soon as any sequence has ended; and returns the start symbol as well
def greedy(model, source, max_len, start_id, end_id, pad_id):
    target = torch.full((source.shape[0], 1), start_id, dtype=torch.long)
    for _ in range(max_len):
        symbol = model(source, target)[:, -1].argmax(dim=-1)
        target = torch.cat((target, symbol[:, None]), dim=1)
        if (symbol == end_id).any():
            break
    return target


# %% right: writes into a table filled with padding beforehand and cuts it at the end
def greedy(model, source, max_len, start_id, end_id, pad_id):
    B = source.size(0)
    table = source.new_full((B, max_len + 1), pad_id)
    table[:, 0] = start_id
    going = torch.ones(B, dtype=torch.bool, device=source.device)
    steps = 0
    while steps < max_len and going.any():
        best = model(source, table[:, : steps + 1])[:, steps].topk(1, dim=-1).indices.squeeze(-1)
        steps += 1
        table[going, steps] = best[going].to(table.dtype)
        going = going & (best != end_id)
    return table[:, 1 : steps + 1]


# %% right: keeps a Python list for each sequence and pads the lists at the end
def greedy(model, source, max_len, start_id, end_id, pad_id):
    said = [[] for _ in range(len(source))]
    target = torch.full((len(source), 1), start_id, dtype=torch.long)
    done = [False] * len(source)
    for _ in range(max_len):
        logits = model(source, target)
        column = []
        for b in range(len(source)):
            if done[b]:
                symbol = pad_id
            else:
                symbol = int(logits[b, -1].argmax())
                done[b] = symbol == end_id
            said[b].append(symbol)
            column.append([symbol])
        target = torch.cat([target, torch.tensor(column)], dim=1)
        if all(done):
            break
    return torch.tensor(said, dtype=torch.long)


# %% right: decodes every sequence alone, in a batch of one, and pads them to the longest
def greedy(model, source, max_len, start_id, end_id, pad_id):
    def one(row):  # (1, L_s)
        said = []
        while len(said) < max_len and (not said or said[-1] != end_id):
            target = torch.tensor([[start_id, *said]])
            said.append(int(model(row, target)[0, -1].argmax()))
        return torch.tensor(said, dtype=torch.long)

    rows = [one(source[b : b + 1]) for b in range(source.shape[0])]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)


# %% wrong: named in the review: padding ends a row too
def greedy(model, source, max_len, start_id, end_id, pad_id):
    said = torch.full((len(source), 1), start_id, dtype=source.dtype)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_len):
        logits = model(source, said)[:, -1]
        symbol = torch.where(ended, pad_id, logits.argmax(dim=-1))
        said = torch.cat((said, symbol.unsqueeze(1)), dim=1)
        ended = ended | (symbol == end_id) | (symbol == pad_id)
        if ended.all():
            break
    return said[:, 1:]


# %% wrong: named in the review: the start symbol ends a row too
def greedy(model, source, max_len, start_id, end_id, pad_id):
    said = torch.full((len(source), 1), start_id, dtype=source.dtype)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_len):
        logits = model(source, said)[:, -1]
        symbol = torch.where(ended, pad_id, logits.argmax(dim=-1))
        said = torch.cat((said, symbol.unsqueeze(1)), dim=1)
        ended = ended | (symbol == end_id) | (symbol == start_id)
        if ended.all():
            break
    return said[:, 1:]


# %% wrong: named in the review: padding can never be said
def greedy(model, source, max_len, start_id, end_id, pad_id):
    said = torch.full((len(source), 1), start_id, dtype=source.dtype)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_len):
        logits = model(source, said)[:, -1].clone()
        logits[:, pad_id] = float("-inf")
        symbol = torch.where(ended, pad_id, logits.argmax(dim=-1))
        said = torch.cat((said, symbol.unsqueeze(1)), dim=1)
        ended = ended | (symbol == end_id)
        if ended.all():
            break
    return said[:, 1:]


# %% wrong: named in the review: the start symbol can never be said
def greedy(model, source, max_len, start_id, end_id, pad_id):
    said = torch.full((len(source), 1), start_id, dtype=source.dtype)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_len):
        logits = model(source, said)[:, -1].clone()
        logits[:, start_id] = float("-inf")
        symbol = torch.where(ended, pad_id, logits.argmax(dim=-1))
        said = torch.cat((said, symbol.unsqueeze(1)), dim=1)
        ended = ended | (symbol == end_id)
        if ended.all():
            break
    return said[:, 1:]


# %% wrong: named in the review: columns of padding at the end are trimmed
def greedy(model, source, max_len, start_id, end_id, pad_id):
    said = torch.full((len(source), 1), start_id, dtype=source.dtype)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_len):
        logits = model(source, said)[:, -1]
        symbol = torch.where(ended, pad_id, logits.argmax(dim=-1))
        said = torch.cat((said, symbol.unsqueeze(1)), dim=1)
        ended = ended | (symbol == end_id)
        if ended.all():
            break
    return said[:, 1:][:, : int((said[:, 1:] != pad_id).any(dim=0).nonzero().max()) + 1]


# %% wrong: named in the review: hands the model only the newest symbol as a vector, so that the model fails
def greedy(model, source, max_len, start_id, end_id, pad_id):
    said = torch.full((len(source), 1), start_id, dtype=source.dtype)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_len):
        logits = model(source, said[:, -1])[:, -1]
        symbol = torch.where(ended, pad_id, logits.argmax(dim=-1))
        said = torch.cat((said, symbol.unsqueeze(1)), dim=1)
        ended = ended | (symbol == end_id)
        if ended.all():
            break
    return said[:, 1:]


# %% wrong: named in the review: hands the model the symbols as float numbers, so that the model fails
def greedy(model, source, max_len, start_id, end_id, pad_id):
    said = torch.full((len(source), 1), start_id, dtype=source.dtype)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_len):
        logits = model(source, said.float())[:, -1]
        symbol = torch.where(ended, pad_id, logits.argmax(dim=-1))
        said = torch.cat((said, symbol.unsqueeze(1)), dim=1)
        ended = ended | (symbol == end_id)
        if ended.all():
            break
    return said[:, 1:]
