# %% setup
import torch

# %% wrong: takes 0 for padding, whatever pad_id says
def inputs_and_targets(ids, pad_id):
    targets = ids[:, 1:]
    return ids[:, :-1], torch.where(targets == 0, -100, targets)

# %% wrong: puts -100 into the inputs too
def inputs_and_targets(ids, pad_id):
    marked = ids.masked_fill(ids == pad_id, -100)
    return marked[:, :-1], marked[:, 1:]

# %% wrong: hides nothing
def inputs_and_targets(ids, pad_id):
    return ids[:, :-1], ids[:, 1:]

# %% two mistakes: hands the targets back first; and hides nothing
def inputs_and_targets(ids, pad_id):
    return ids[:, 1:], ids[:, :-1]

# %% wrong: returns (targets, inputs)
def inputs_and_targets(ids, pad_id):
    targets = ids[:, 1:].masked_fill(ids[:, 1:] == pad_id, -100)
    return targets, ids[:, :-1]

# %% right: lists of numbers in two loops
def inputs_and_targets(ids, pad_id):
    rows = ids.tolist()
    targets = [[-100 if token == pad_id else token for token in row[1:]] for row in rows]
    return torch.tensor([row[:-1] for row in rows]), torch.tensor(targets)

# %% right: a sum of products with the mask, returned as a list
def inputs_and_targets(ids, pad_id):
    real = (ids[:, 1:] != pad_id).long()
    return [ids[:, :-1].clone(), ids[:, 1:] * real - 100 * (1 - real)]

# %% setup
import torch
import torch.nn.functional as F

# %% right: windows of two, taken apart
def inputs_and_targets(ids, pad_id):
    inputs, targets = ids.unfold(1, 2, 1).unbind(-1)
    return inputs, torch.where(targets.eq(pad_id), torch.full_like(targets, -100), targets)
