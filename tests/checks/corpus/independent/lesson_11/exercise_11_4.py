# %% setup
import random

import torch

from course_utils import metrics, zoo
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.zoo.pronunciation import pronounce


# %% wrong: the row of the end symbol is kept, the result has L_t entries
def letters_of(weights):
    return weights.mean(dim=(0, 1)).argmax(dim=-1)


# %% wrong: leaves out the first row instead of the last
def letters_of(weights):
    return weights.mean(dim=(0, 1)).argmax(dim=-1)[1:]


# %% wrong: looks along the wrong axis: for each letter it finds the sound that looks at it most
def letters_of(weights):
    mean = weights.mean(dim=(0, 1))[:-1]  # (L_t - 1, L_s)
    return mean.argmax(dim=0)


# %% wrong: takes the largest weight over layers and heads instead of their mean
def letters_of(weights):
    strongest = weights.amax(dim=(0, 1))
    return strongest[:-1].argmax(dim=-1)


# %% wrong: takes the heads of the last layer only
def letters_of(weights):
    return weights[-1].mean(dim=0)[:-1].argmax(dim=-1)


# %% wrong: lets every head choose its letter and takes the letter chosen most often, instead of the largest mean weight
def letters_of(weights):
    choices = weights[:, :, :-1].argmax(dim=-1).flatten(0, 1)  # (layers * heads, L_t - 1)
    return choices.mode(dim=0).values


# %% two mistakes: the last letter of the word is cut off together with the end symbol's row; and the heads are multiplied instead of averaged
def letters_of(weights):
    product = weights.prod(dim=0).prod(dim=0)
    return product[:-1, :-1].argmax(dim=1)


# %% right: einsum adds layers and heads up, a sum has the same largest letter as the mean
def letters_of(weights):
    return torch.einsum("lhts->ts", weights[:, :, :-1]).max(dim=-1).indices


# %% right: loops over layers, heads and sounds, the letters found with Python's max
def letters_of(weights):
    layers, heads, L_t, L_s = weights.shape
    letters = []
    for t in range(L_t - 1):
        row = [0.0] * L_s
        for layer in range(layers):
            for head in range(heads):
                for s, w in enumerate(weights[layer, head, t].tolist()):
                    row[s] += w
        letters.append(max(range(L_s), key=row.__getitem__))
    return torch.tensor(letters, dtype=torch.long)


# %% right: flattens layers and heads into one axis, and sorts instead of argmax
def letters_of(weights):
    mean = weights.flatten(0, 1).mean(dim=0)
    order = mean.sort(dim=1, descending=True, stable=True).indices
    return order[: mean.shape[0] - 1, 0]
