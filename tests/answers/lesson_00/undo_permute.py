# %% setup
import torch

# %% wrong: permutes by the same order again, which undoes swaps only
def undo_permute(x, order):
    return x.permute(order)

# %% wrong: permutes by the reversed order
def undo_permute(x, order):
    return x.permute(tuple(reversed(order)))

# %% wrong: finds the original shape and reshapes, so that the numbers stay in the permuted order
def undo_permute(x, order):
    shape = [0] * len(order)
    for place, axis in enumerate(order):
        shape[axis] = x.shape[place]
    return x.reshape(shape)

# %% wrong: one transpose after the other in the order of the axes, in which later swaps move what earlier ones had put right
def undo_permute(x, order):
    for place, axis in enumerate(order):
        x = x.transpose(place, axis)
    return x

# %% wrong: permutes by the ascending order, which does nothing
def undo_permute(x, order):
    return x.permute(sorted(order))

# %% wrong: reverses all axes
def undo_permute(x, order):
    return x.permute(*range(x.dim() - 1, -1, -1))

# %% two mistakes: finds the inverse order, but then reshapes; and reads the sizes from the wrong places
def undo_permute(x, order):
    return x.reshape([x.shape[axis] for axis in order])

# %% two mistakes: permutes by the reversed order again; and squeezes
def undo_permute(x, order):
    return x.permute(order[::-1]).squeeze()

# %% wrong: always swaps the last two axes back
def undo_permute(x, order):
    return x.transpose(-1, -2)

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
