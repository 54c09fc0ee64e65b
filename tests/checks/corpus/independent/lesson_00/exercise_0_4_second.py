# %% setup
import torch


# %% wrong: permutes by the same order again
def undo_permute(x, order):
    return torch.permute(x, order)


# %% wrong: the order read backwards
def undo_permute(x, order):
    return x.permute(tuple(reversed(order)))


# %% wrong: computes the right shape and reshapes to it, so the content is scrambled
def undo_permute(x, order):
    shape = [0] * len(order)
    for place, axis in enumerate(order):
        shape[axis] = x.shape[place]
    return x.reshape(shape)


# %% wrong: swaps axis pairs one after the other, which undoes only some orders
def undo_permute(x, order):
    for place, axis in enumerate(order):
        x = x.transpose(place, axis)
    return x


# %% wrong: always swaps the last two axes back
def undo_permute(x, order):
    return x.transpose(-1, -2)


# %% wrong: sorts the order, which is the identity
def undo_permute(x, order):
    return x.permute(sorted(order))


# %% two mistakes: the same order again; and by reshape
def undo_permute(x, order):
    return x.reshape([x.shape[axis] for axis in order])


# %% two mistakes: the order backwards, counted from the end
def undo_permute(x, order):
    return x.permute([len(order) - 1 - axis for axis in order])


# %% right: moves every axis home at once
def undo_permute(x, order):
    return torch.movedim(x, tuple(range(len(order))), order)


# %% right: applies the order until it comes around to the identity
def undo_permute(x, order):
    home = tuple(range(len(order)))
    now = tuple(order)
    while now != home:
        x, now = x.permute(order), tuple(now[axis] for axis in order)
    return x


# %% right: einsum with letters
def undo_permute(x, order):
    letters = "abcde"[: len(order)]
    return torch.einsum("".join(letters[axis] for axis in order) + "->" + letters, x)
