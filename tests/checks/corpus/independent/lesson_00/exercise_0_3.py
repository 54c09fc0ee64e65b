# %% setup
import torch

# %% wrong: fills the targets in place, so that ids itself is changed through the view
def inputs_and_targets(ids, pad_id):
    inputs, targets = ids[:, :-1], ids[:, 1:]
    targets[targets == pad_id] = -100
    return inputs, targets

# %% wrong: takes 0 for padding, whatever pad_id says
def inputs_and_targets(ids, pad_id):
    targets = ids[:, 1:]
    return ids[:, :-1], torch.where(targets == 0, -100, targets)

# %% wrong: hides the targets where the input is padding, so the pad after the last real token still counts
def inputs_and_targets(ids, pad_id):
    inputs, targets = ids[:, :-1], ids[:, 1:].clone()
    targets[inputs == pad_id] = -100
    return inputs, targets

# %% wrong: puts -100 into the inputs too
def inputs_and_targets(ids, pad_id):
    marked = ids.masked_fill(ids == pad_id, -100)
    return marked[:, :-1], marked[:, 1:]

# %% wrong: fills the padding with 100 in place of -100
def inputs_and_targets(ids, pad_id):
    targets = ids[:, 1:]
    return ids[:, :-1], targets.masked_fill(targets == pad_id, 100)

# %% wrong: rolls, so that the last input stays and gets the first token of the sentence as its target
def inputs_and_targets(ids, pad_id):
    targets = ids.roll(-1, dims=1)
    return ids, targets.masked_fill(targets == pad_id, -100)

# %% wrong: hides nothing
def inputs_and_targets(ids, pad_id):
    return ids[:, :-1], ids[:, 1:]

# %% two mistakes: hands the targets back first; and hides nothing
def inputs_and_targets(ids, pad_id):
    return ids[:, 1:], ids[:, :-1]

# %% two mistakes: does not shift the targets; and takes 0 for padding
def inputs_and_targets(ids, pad_id):
    targets = ids[:, :-1].clone()
    targets[targets == 0] = -100
    return ids[:, :-1], targets

# %% right: windows of two by unfold, filled by torch.where
def inputs_and_targets(ids, pad_id):
    inputs, targets = ids.unfold(1, 2, 1).unbind(-1)
    return inputs, torch.where(targets != pad_id, targets, torch.tensor(-100))

# %% right: lists of numbers in two loops
def inputs_and_targets(ids, pad_id):
    rows = ids.tolist()
    targets = [[-100 if token == pad_id else token for token in row[1:]] for row in rows]
    return torch.tensor([row[:-1] for row in rows]), torch.tensor(targets)

# %% right: a sum of products with the mask, returned as a list
def inputs_and_targets(ids, pad_id):
    real = (ids[:, 1:] != pad_id).long()
    return [ids[:, :-1].clone(), ids[:, 1:] * real - 100 * (1 - real)]

# %% wrong: leaves out whole sentences, the last and the first
def inputs_and_targets(ids, pad_id):
    targets = ids[1:]
    return ids[:-1], targets.masked_fill(targets == pad_id, -100)
