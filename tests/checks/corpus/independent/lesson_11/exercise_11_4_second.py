# %% setup
import random

import torch

from course_utils import metrics, zoo
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.zoo.pronunciation import pronounce

# %% wrong: takes the mean over the heads of the last layer only, so it is right only for one layer
def letters_of(weights):
    return weights[-1].mean(dim=0)[:-1].argmax(dim=-1)

# %% wrong: takes the largest weight over layers and heads instead of the mean
def letters_of(weights):
    return weights.amax(dim=(0, 1))[:-1].argmax(dim=-1)

# %% wrong: squeezes the result, so a word with a single sound gives a scalar instead of shape (1,)
def letters_of(weights):
    mean = weights.mean(dim=(0, 1))
    return mean[:-1].argmax(dim=-1).squeeze()

# %% wrong: leaves out the first row instead of the last one
def letters_of(weights):
    mean = weights.mean(dim=1).mean(dim=0)
    return mean[1:].argmax(dim=-1)

# %% two mistakes: takes the argmax over the sounds for each letter instead of over the letters for each sound; and keeps the row of the end symbol
def letters_of(weights):
    return weights.mean(dim=(0, 1)).argmax(dim=0)

# %% right: sums with einsum (the sum has the same argmax as the mean) and takes the indices of max
def letters_of(weights):
    total = torch.einsum("nhts->ts", weights.double())
    return total.narrow(0, 0, total.shape[0] - 1).max(dim=1).indices

# %% right: plain Python loops over rows and letters
def letters_of(weights):
    flat = weights.flatten(0, 1).double()
    places = []
    for row in range(flat.shape[1] - 1):
        means = [float(flat[:, row, letter].sum()) / len(flat) for letter in range(flat.shape[2])]
        places.append(means.index(max(means)))
    return torch.tensor(places, dtype=torch.long)
