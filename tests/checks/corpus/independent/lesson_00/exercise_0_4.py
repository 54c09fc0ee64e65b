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

# %% right: argsort of the order
def undo_permute(x, order):
    return x.permute(torch.argsort(torch.tensor(order)).tolist())

# %% right: movedim says it directly
def undo_permute(x, order):
    return torch.movedim(x, tuple(range(len(order))), order)

# %% right: repeats the permute until the axes are back, since every order returns to itself after some rounds
def undo_permute(x, order):
    names = list(order)
    while names != sorted(names):
        x, names = x.permute(order), [names[axis] for axis in order]
    return x
