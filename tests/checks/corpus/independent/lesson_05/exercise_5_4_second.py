# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: joins the masks into the first one in place, so the first argument is changed (and its shape cannot grow)
def combine_masks(*masks):
    given = [m for m in masks if m is not None]
    if not given:
        return None
    result = given[0]
    for m in given[1:]:
        result &= m
    return result

# %% wrong: stacks the masks, which is an error when their shapes differ and only broadcast
def combine_masks(*masks):
    given = [m for m in masks if m is not None]
    if len(given) == 0:
        return None
    return torch.stack(given).all(dim=0)

# %% wrong: counts how many masks allow a key and compares with the number of arguments, the Nones included, so one None hides everything
def combine_masks(*masks):
    total = None
    for m in masks:
        if m is not None:
            total = m.int() if total is None else total + m.int()
    if total is None:
        return None
    return total == len(masks)

# %% wrong: returns None only for an empty call; if all arguments are None it raises an IndexError
def combine_masks(*masks):
    if not masks:
        return None
    given = [m for m in masks if m is not None]
    result = given[0]
    for m in given[1:]:
        result = result & m
    return result

# %% two mistakes: a key may be seen if any mask allows it; and any None among the masks makes the result None
def combine_masks(*masks):
    if not masks or any(m is None for m in masks):
        return None
    result = masks[0]
    for m in masks[1:]:
        result = result | m
    return result

# %% right: functools.reduce with logical_and and None as the starting value
def combine_masks(*masks):
    from functools import reduce

    def join(a, b):
        if a is None or b is None:
            return b if a is None else a
        return torch.logical_and(a, b)

    return reduce(join, masks, None)

# %% right: negates, takes the union of what is hidden on broadcast copies, and negates again
def combine_masks(*masks):
    given = [~m for m in masks if m is not None]
    if not given:
        return None
    return ~torch.stack(torch.broadcast_tensors(*given)).any(dim=0)
