# %% setup
import itertools
import random

import torch

from course_utils import metrics, pretrained

# %% wrong: the largest weight of each row, whatever the sound before has
def letters_of(weights):
    return weights.mean(dim=(0, 1))[:-1].argmax(dim=-1)

# %% wrong: a running maximum over the letters with the largest weights
def letters_of(weights):
    return weights.mean(dim=(0, 1))[:-1].argmax(dim=-1).cummax(dim=0).values

# %% wrong: sorts the letters with the largest weights
def letters_of(weights):
    return weights.mean(dim=(0, 1))[:-1].argmax(dim=-1).sort().values

# %% wrong: each sound takes the best letter from the last one on
def letters_of(weights):
    path, at = [], 0
    for row in weights.mean(dim=(0, 1))[:-1]:
        at += int(row[at:].argmax())
        path.append(at)
    return torch.tensor(path)

# %% wrong: the path includes the end symbol, whose letter is then cut off
def letters_of(weights):
    mean = weights.mean(dim=(0, 1))
    best, steps = mean[0], []
    for row in mean[1:]:
        before, place = best.cummax(dim=0)
        steps.append(place)
        best = before + row
    path = [int(best.argmax())]
    for place in steps[::-1]:
        path.insert(0, int(place[path[0]]))
    return torch.tensor(path[:-1])

# %% right: a table of the best paths themselves, one for each letter, as lists
def letters_of(weights):
    mean = weights.flatten(0, 1).mean(dim=0)[:-1].tolist()
    paths = {letter: (weight, [letter]) for letter, weight in enumerate(mean[0])}
    for row in mean[1:]:
        paths = {
            letter: (weight + total, [*path, letter])
            for letter, weight in enumerate(row)
            for total, path in [max((paths[n] for n in range(letter + 1)), key=lambda one: one[0])]
        }
    return torch.tensor(max(paths.values(), key=lambda one: one[0])[1])

# %% right: a recursion that remembers, from the last sound back
def letters_of(weights):
    import functools

    mean = weights.mean(dim=(0, 1)).tolist()
    sounds, letters = len(mean) - 1, len(mean[0])

    @functools.cache
    def best(sound, last):
        if sound < 0:
            return 0.0, ()
        ways = (best(sound - 1, letter) + (letter,) for letter in range(last + 1))
        return max((total + mean[sound][letter], (*path, letter)) for total, path, letter in ways)

    return torch.tensor(best(sounds - 1, letters - 1)[1])
