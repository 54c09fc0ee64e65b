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

# %% wrong: a sequence that says pad_id before its end is taken as ended too
def greedy(model, source, max_len, start_id, end_id, pad_id):
    B = source.shape[0]
    target = torch.full((B, 1), start_id, dtype=torch.long)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(max_len):
        symbol = model(source, target)[:, -1].argmax(dim=-1)
        symbol = torch.where(ended, pad_id, symbol)
        target = torch.cat((target, symbol[:, None]), dim=1)
        ended = ended | (symbol == end_id) | (symbol == pad_id)
        if ended.all():
            break
    return target[:, 1:]

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

# %% wrong: stops only if all sequences say the end symbol in the same step, otherwise goes on to max_len with columns of padding
def greedy(model, source, max_len, start_id, end_id, pad_id):
    B = source.shape[0]
    target = torch.full((B, 1), start_id, dtype=torch.long)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(max_len):
        symbol = model(source, target)[:, -1].argmax(dim=-1).masked_fill(ended, pad_id)
        target = torch.cat((target, symbol.unsqueeze(1)), dim=1)
        ended |= symbol == end_id
        if (symbol == end_id).all():
            break
    return target[:, 1:]

# %% wrong: a sequence that has ended goes on saying what the model says instead of pad_id
def greedy(model, source, max_len, start_id, end_id, pad_id):
    B = source.shape[0]
    target = torch.full((B, 1), start_id, dtype=torch.long)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(max_len):
        symbol = model(source, target)[:, -1].argmax(dim=-1)
        target = torch.cat((target, symbol.unsqueeze(1)), dim=1)
        ended = ended | (symbol == end_id)
        if bool(ended.all()):
            break
    return target[:, 1:]

# %% right: decodes each row on its own and pads the rows at the end
def greedy(model, source, max_len, start_id, end_id, pad_id):
    rows = []
    for b in range(source.shape[0]):
        said = []
        while len(said) < max_len:
            target = torch.tensor([[start_id] + said])
            said.append(int(model(source[b : b + 1], target)[0, -1].argmax()))
            if said[-1] == end_id:
                break
        rows.append(said)
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [pad_id] * (longest - len(row)) for row in rows])

# %% right: runs the model only for the rows that have not ended and writes into a buffer made beforehand
def greedy(model, source, max_len, start_id, end_id, pad_id):
    B = source.shape[0]
    buffer = torch.full((B, max_len + 1), pad_id, dtype=torch.long)
    buffer[:, 0] = start_id
    alive = torch.arange(B)
    steps = 0
    while steps < max_len and len(alive) > 0:
        logits = model(source[alive], buffer[alive, : steps + 1])
        symbol = logits[:, -1].max(dim=-1).indices
        steps += 1
        buffer[alive, steps] = symbol
        alive = alive[symbol != end_id]
    return buffer[:, 1 : steps + 1]
