# %% setup
import torch

# %% wrong: permutes by the same order again, which undoes swaps only
def undo_permute(x, order):
    return x.permute(order)

# %% wrong: permutes by the reversed order
def undo_permute(x, order):
    return x.permute(tuple(reversed(order)))

# %% wrong: permutes by the ascending order, which does nothing
def undo_permute(x, order):
    return x.permute(sorted(order))

# %% two mistakes: permutes by the reversed order again; and squeezes
def undo_permute(x, order):
    return x.permute(order[::-1]).squeeze()

# %% two mistakes: the order backwards, counted from the end
def undo_permute(x, order):
    return x.permute([len(order) - 1 - axis for axis in order])

# %% wrong: always permutes by (2, 0, 1), which undoes the printed example only
def undo_permute(x, order):
    return x.permute(2, 0, 1)

# %% right: movedim says it directly
def undo_permute(x, order):
    return torch.movedim(x, tuple(range(len(order))), order)

# %% right: einsum with letters
def undo_permute(x, order):
    letters = "abcde"[: len(order)]
    return torch.einsum("".join(letters[axis] for axis in order) + "->" + letters, x)

# %% right: argsort of the order is its inverse
def undo_permute(x, order):
    return x.permute(torch.tensor(order).argsort().tolist())
