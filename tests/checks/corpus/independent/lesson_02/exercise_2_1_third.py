# %% setup
import math

import torch


# %% wrong: subtracts the largest absolute value of the row, so a row of large negative scores underflows to 0 / 0
def softmax(scores):
    powers = torch.exp(scores - scores.abs().amax(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1, keepdim=True)


# %% wrong: subtracts the mean of the row instead of its maximum, so a row with widely different scores still overflows
def softmax(scores):
    powers = torch.exp(scores - scores.mean(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1, keepdim=True)


# %% wrong: takes the exponentials in 64 bits without any shift, which overflows only above about 709 and is all 0 below about -745
def softmax(scores):
    powers = scores.double().exp()
    return (powers / powers.sum(dim=-1, keepdim=True)).to(scores.dtype)


# %% wrong: shifts along the last dimension but sums along dimension 1, which is the last one only for two dimensions
def softmax(scores):
    powers = (scores - scores.max(dim=-1, keepdim=True).values).exp()
    return powers / powers.sum(dim=1, keepdim=True)


# %% two mistakes: subtracts the maximum of all scores instead of each row's own; and subtracts it in place, which changes the argument
def softmax(scores):
    scores -= scores.max()
    powers = scores.exp()
    return powers / powers.sum(dim=-1, keepdim=True)


# %% right: takes the first of the sorted scores as shift, and powers of 2 with the scores times log2(e)
def softmax(scores):
    top = scores.sort(dim=-1, descending=True).values[..., :1]
    powers = torch.exp2((scores - top) * math.log2(math.e))
    return powers / powers.sum(dim=-1, keepdim=True)


# %% right: goes through the flat rows in a loop, each with its own shift and sum
def softmax(scores):
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]).unbind():
        powers = torch.exp(row - row[row.argmax()])
        rows.append(powers.div(torch.einsum("k->", powers)))
    return torch.stack(rows).reshape(scores.shape)
