# %% setup
import torch

# %% wrong: returns the two in swapped order, targets first
def inputs_and_targets(ids):
    inputs = ids[:, :-1]
    targets = ids[:, 1:]
    return targets, inputs

# %% wrong: targets are made by a roll and not shortened, and neither are the inputs, so both have length L and the last target is the first token
def inputs_and_targets(ids):
    return ids, torch.roll(ids, -1, dims=1)

# %% wrong: the slices are taken on the batch axis (rows are dropped), not on the positions
def inputs_and_targets(ids):
    return ids[:-1], ids[1:]

# %% wrong: both results are squeezed, so a batch of 1 or a length L of 2 loses an axis
def inputs_and_targets(ids):
    inputs = ids[:, :-1].squeeze()
    targets = ids[:, 1:].squeeze()
    return inputs, targets

# %% right: windows of two tokens by unfold, taken apart
def inputs_and_targets(ids):
    pairs = ids.unfold(1, 2, 1)
    return pairs[..., 0], pairs[..., 1]

# %% right: picked by index_select with explicit position numbers
def inputs_and_targets(ids):
    positions = torch.arange(ids.size(1) - 1, device=ids.device)
    inputs = torch.index_select(ids, 1, positions)
    targets = torch.index_select(ids, 1, positions + 1)
    return inputs, targets
