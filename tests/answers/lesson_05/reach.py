# %% setup
import torch

# %% wrong: all pairs that some layer allows, no path through several layers
def reach(masks):
    return masks.any(0) | torch.eye(masks.shape[-1]).bool()

# %% wrong: the residual path is forgotten
def reach(masks):
    table = masks[0]
    for mask in masks[1:]:
        table = (mask.double() @ table.double()) > 0
    return table

# %% wrong: the last layer is taken first
def reach(masks):
    L = masks.shape[-1]
    table = torch.eye(L).bool()
    for mask in masks:
        table = (table.double() @ (mask | torch.eye(L).bool()).double()) > 0
    return table

# %% two mistakes: the residual path is forgotten; and the last layer comes first
def reach(masks):
    table = masks[0].double()
    for mask in masks[1:]:
        table = ((table @ mask.double()) > 0).double()
    return table.bool()

# %% right: sets of Python, one for each token
def reach(masks):
    seen = [{i} for i in range(masks.shape[-1])]
    for mask in masks.tolist():
        seen = [set.union(seen[i], *(seen[j] for j, may in enumerate(row) if may)) for i, row in enumerate(mask)]
    return torch.tensor([[j in row for j in range(len(seen))] for row in seen])

# %% right: for every query the union of the rows that it may look at
def reach(masks):
    table = torch.eye(masks.shape[-1], dtype=torch.bool)
    for mask in masks:
        table = table | (mask[:, :, None] & table[None]).any(1)
    return table
