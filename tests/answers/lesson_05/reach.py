# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: the factors in the wrong order, as if the last layer came first
def reach(masks):
    n, L, _ = masks.shape
    reached = torch.eye(L)
    for mask in masks:
        step = mask.float() + torch.eye(L)
        reached = ((reached @ step) > 0).float()
    return reached.bool()

# %% wrong: forgets the residual path, so a token loses what it had unless its mask allows itself
def reach(masks):
    L = masks.shape[-1]
    reached = torch.eye(L)
    for mask in masks:
        reached = (mask.float() @ reached > 0).float()
    return reached > 0

# %% wrong: the union of all masks and the diagonal, without going through tokens in between
def reach(masks):
    return masks.any(dim=0) | torch.eye(masks.shape[-1], dtype=torch.bool)

# %% wrong: float32 products that are never cut back, so they overflow after many layers
def reach(masks):
    L = masks.shape[-1]
    total = torch.eye(L)
    for mask in masks:
        total = (mask.float() + torch.eye(L)) @ total
    return total > 0

# %% wrong: whole-number products that are never cut back, so they wrap around after many layers
def reach(masks):
    L = masks.shape[-1]
    total = torch.eye(L, dtype=torch.int64)
    for mask in masks:
        total = (mask | torch.eye(L).bool()).long() @ total
    return total > 0

# %% wrong: without the residual path, the diagonal added only at the very end
def reach(masks):
    L = masks.shape[-1]
    reached = masks[0].float()
    for mask in masks[1:]:
        reached = (mask.float() @ reached).clamp(max=1)
    return reached.bool() | torch.eye(L).bool()

# %% wrong: the table transposed, row j says whom input j reaches
def reach(masks):
    L = masks.shape[-1]
    reached = torch.eye(L)
    for mask in masks:
        step = (mask | torch.eye(L).bool()).float()
        reached = (step @ reached).clamp(max=1)
    return reached.T.bool()

# %% wrong: the first layer's mask used for all layers
def reach(masks):
    n, L, _ = masks.shape
    step = (masks[0] | torch.eye(L).bool()).float()
    reached = torch.eye(L)
    for _ in range(n):
        reached = (step @ reached > 0).float()
    return reached.bool()

# %% wrong: True only where all layers allow the pair
def reach(masks):
    return masks.all(dim=0) | torch.eye(masks.shape[-1]).bool()

# %% wrong: follows the union of all masks as long as anything changes, in any order of layers
def reach(masks):
    L = masks.shape[-1]
    step = (masks.any(dim=0) | torch.eye(L).bool()).float()
    reached = step
    for _ in range(L):
        reached = (step @ reached).clamp(max=1)
    return reached.bool()

# %% wrong: right table, but as numbers 0. and 1. instead of booleans
def reach(masks):
    L = masks.shape[-1]
    reached = torch.eye(L)
    for mask in masks:
        reached = ((mask.float() + torch.eye(L)) @ reached).clamp(max=1)
    return reached

# %% wrong: right table, but sets the diagonal of the given masks
def reach(masks):
    L = masks.shape[-1]
    masks |= torch.eye(L, dtype=torch.bool)
    reached = torch.eye(L)
    for mask in masks:
        reached = (mask.float() @ reached > 0).float()
    return reached.bool()

# %% wrong: multiplies booleans with @, which PyTorch refuses
def reach(masks):
    L = masks.shape[-1]
    reached = torch.eye(L, dtype=torch.bool)
    for mask in masks:
        reached = (mask | torch.eye(L, dtype=torch.bool)) @ reached
    return reached

# %% wrong: divides every row by its sum, so after many layers the numbers underflow to 0
def reach(masks):
    L = masks.shape[-1]
    reached = torch.eye(L)
    for mask in masks:
        step = mask.float() + torch.eye(L)
        reached = (step / step.sum(dim=-1, keepdim=True)) @ reached
    return reached > 0

# %% wrong: the residual path only in the first layer
def reach(masks):
    L = masks.shape[-1]
    reached = (masks[0] | torch.eye(L).bool()).float()
    for mask in masks[1:]:
        reached = (mask.float() @ reached > 0).float()
    return reached.bool()

# %% wrong: multiplies entry by entry instead of as matrices
def reach(masks):
    L = masks.shape[-1]
    reached = torch.ones(L, L)
    for mask in masks:
        reached = (mask | torch.eye(L).bool()).float() * reached
    return reached.bool()

# %% wrong: adds the new pairs of each layer but looks at the input of the stack, not at what the layer below knows: only two steps in a row
def reach(masks):
    L = masks.shape[-1]
    eye = torch.eye(L).bool()
    reached = eye
    for before, mask in zip([eye, *masks[:-1]], masks):
        step = ((mask | eye).float() @ (before | eye).float()) > 0
        reached = reached | step
    return reached

# %% wrong: keeps what is reached within the last layer only, i.e. returns the last mask with the diagonal
def reach(masks):
    L = masks.shape[-1]
    for mask in masks:
        reached = ((mask.float() + torch.eye(L)) @ torch.eye(L)) > 0
    return reached

# %% two mistakes: factors in the wrong order; and no residual path
def reach(masks):
    reached = torch.eye(masks.shape[-1])
    for mask in masks:
        reached = (reached @ mask.float()).clamp(max=1)
    return reached.bool()

# %% two mistakes: the table transposed; and numbers that overflow after many layers
def reach(masks):
    L = masks.shape[-1]
    total = torch.eye(L)
    for mask in masks:
        total = (mask.float() + torch.eye(L)) @ total
    return (total > 0).T

# %% right: broadcasting booleans, any token in between
def reach(masks):
    reached = torch.eye(masks.shape[-1]).bool()
    for mask in masks:
        reached = reached | (mask[:, :, None] & reached[None]).any(dim=1)
    return reached

# %% right: from the last layer down, the product built from the left
def reach(masks):
    L = masks.shape[-1]
    needed = torch.eye(L, dtype=torch.float64)
    for mask in reversed(list(masks)):
        needed = (needed + needed @ mask.double()).sign()
    return needed.bool()

# %% right: Python sets, one for each token
def reach(masks):
    L = masks.shape[-1]
    known = [{i} for i in range(L)]
    for mask in masks.tolist():
        known = [
            known[i].union(*(known[j] for j in range(L) if mask[i][j])) for i in range(L)
        ]
    return torch.tensor([[j in known[i] for j in range(L)] for i in range(L)])

# %% right: pairs of neighboring layers multiplied as a batch, until one table is left
def reach(masks):
    steps = masks | torch.eye(masks.shape[-1], dtype=torch.bool)
    while len(steps) > 1:
        odd = steps[-1:] if len(steps) % 2 else steps[:0]
        lower, upper = steps[0 : len(steps) - len(odd) : 2], steps[1 : len(steps) : 2]
        joined = torch.bmm(upper.float(), lower.float()) > 0
        steps = torch.cat([joined, odd])
    return steps[0]
