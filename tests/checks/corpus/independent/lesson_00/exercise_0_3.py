# %% setup
import torch

# %% wrong: returns the two in the wrong order, targets first
def inputs_and_targets(ids):
    inputs = ids[:, :-1]
    targets = ids[:, 1:]
    return targets, inputs

# %% wrong: shifts along the batch axis instead of along the positions
def inputs_and_targets(ids):
    return ids[:-1], ids[1:]

# %% wrong: squeezes both results, so the batch axis is lost for one sentence (and the position axis for L = 2)
def inputs_and_targets(ids):
    return ids[:, :-1].squeeze(), ids[:, 1:].squeeze()

# %% wrong: cuts the sentence into pairs that do not overlap (every second token is an input, the others targets), which is right for L = 2 only
def inputs_and_targets(ids):
    return ids[:, :-1:2], ids[:, 1::2]

# %% wrong: keeps all L positions and rolls, so the last input is kept and its target is the first token of the sentence
def inputs_and_targets(ids):
    return ids, torch.roll(ids, shifts=-1, dims=1)

# %% wrong: replaces the id 0 by -100 in the targets, taking it for padding, though 0 is an id like any other here
def inputs_and_targets(ids):
    targets = ids[:, 1:]
    targets = torch.where(targets == 0, torch.full_like(targets, -100), targets)
    return ids[:, :-1], targets

# %% two mistakes: shifts along the batch axis instead of along the positions; and returns the targets first
def inputs_and_targets(ids):
    targets = ids[1:]
    inputs = ids[:-1]
    return targets, inputs

# %% right: makes windows of two by unfold and takes them apart
def inputs_and_targets(ids):
    windows = ids.unfold(1, 2, 1)
    return windows.unbind(-1)

# %% right: uses narrow and returns copies in a list
def inputs_and_targets(ids):
    n = ids.size(1) - 1
    return [ids.narrow(1, start, n).clone() for start in (0, 1)]

# %% right: builds both from lists of columns in a loop
def inputs_and_targets(ids):
    inputs, targets = [], []
    for t in range(ids.shape[1] - 1):
        inputs.append(ids[:, t])
        targets.append(ids[:, t + 1])
    return torch.stack(inputs, dim=1), torch.stack(targets, dim=1)
