# %% setup
import torch
import torch.nn.functional as F


# %% wrong: looks for padding in the inputs, so the target after the last real token stays and is the padding's id
def inputs_and_targets(ids, pad_id):
    inputs, targets = ids[:, :-1], ids[:, 1:].clone()
    targets[inputs == pad_id] = -100
    return inputs, targets


# %% wrong: compares with 0 instead of pad_id
def inputs_and_targets(ids, pad_id):
    inputs, targets = ids[:, :-1], ids[:, 1:]
    return inputs, targets.masked_fill(targets == 0, -100)


# %% wrong: puts -100 into the inputs as well
def inputs_and_targets(ids, pad_id):
    ids = ids.masked_fill(ids == pad_id, -100)
    return ids[:, :-1], ids[:, 1:]


# %% wrong: rolls the ids by one and keeps all L positions, so the last target is the first token
def inputs_and_targets(ids, pad_id):
    targets = torch.roll(ids, -1, dims=1)
    return ids, targets.masked_fill(targets == pad_id, -100)


# %% wrong: fills the slice in place, so ids is changed, and the inputs too
def inputs_and_targets(ids, pad_id):
    inputs, targets = ids[:, :-1], ids[:, 1:]
    targets[targets == pad_id] = -100
    return inputs, targets


# %% wrong: the target is the token before, not after
def inputs_and_targets(ids, pad_id):
    inputs, targets = ids[:, 1:], ids[:, :-1]
    return inputs, targets.masked_fill(targets == pad_id, -100)


# %% two mistakes: fills with 100 instead of -100; and compares with 0 instead of pad_id
def inputs_and_targets(ids, pad_id):
    inputs, targets = ids[:, :-1], ids[:, 1:]
    return inputs, targets.masked_fill(targets == 0, 100)


# %% two mistakes: cuts off sentences instead of positions; and never hides the padding
def inputs_and_targets(ids, pad_id):
    return ids[:-1], ids[1:]


# %% right: a loop over all pairs of neighbors, with lists
def inputs_and_targets(ids, pad_id):
    inputs, targets = [], []
    for row in ids.tolist():
        inputs.append(row[:-1])
        targets.append([-100 if token == pad_id else token for token in row[1:]])
    return torch.tensor(inputs), torch.tensor(targets)


# %% right: windows of two, taken apart
def inputs_and_targets(ids, pad_id):
    inputs, targets = ids.unfold(1, 2, 1).unbind(-1)
    return inputs, torch.where(targets.eq(pad_id), torch.full_like(targets, -100), targets)


# %% right: finds the length of each sentence first and fills behind it
def inputs_and_targets(ids, pad_id):
    length = ids.shape[1]
    real = (ids != pad_id).sum(dim=1, keepdim=True)
    targets = ids.narrow(1, 1, length - 1).clone()
    targets[torch.arange(1, length) >= real] = -100
    return ids.narrow(1, 0, length - 1).clone(), targets
