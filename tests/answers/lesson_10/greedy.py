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

# %% wrong: the start symbol ends a row too
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

# %% wrong: columns of padding at the end are trimmed
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

# %% wrong: hands the model only the newest symbol as a vector, so that the model fails
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

# %% wrong: hands the model the symbols as float numbers, so that the model fails
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

# %% setup
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils.datasets.tasks import copy_task
from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.positions import SinusoidalPositions

torch.set_num_threads(1)


def batch_masks(source, target, pad_id):
    L = target.shape[1]
    causal = torch.ones(L, L, dtype=torch.bool).tril()
    return (source != pad_id)[:, None, None, :], (target != pad_id)[:, None, None, :] & causal

# %% wrong: looks for the end symbol in the whole row with the start symbol in front, so every sequence counts as ended from the first symbol on if start_id equals end_id
def greedy(model, source, max_len, start_id, end_id, pad_id):
    target = torch.full((source.shape[0], 1), start_id, dtype=torch.long)
    for _ in range(max_len):
        ended = (target == end_id).any(dim=1)
        if ended.all():
            break
        symbol = model(source, target)[:, -1].argmax(dim=-1)
        symbol[ended] = pad_id
        target = torch.cat((target, symbol[:, None]), dim=1)
    return target[:, 1:]

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

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

# %% setup
import torch

# %% right: a list of columns, stacked at the end; everything is decoded to max_len and cut afterwards
def greedy(model, source, max_len, start_id, end_id, pad_id):
    B = len(source)
    columns = [torch.full((B,), start_id)]
    for _ in range(max_len):
        columns.append(model(source, torch.stack(columns, 1))[:, -1].argmax(-1))
    said = torch.stack(columns[1:], 1)
    ends = said == end_id
    behind = ends.cumsum(1) - ends.long() > 0
    length = int((~behind).sum(1).max())
    return said.masked_fill(behind, pad_id)[:, :length]
