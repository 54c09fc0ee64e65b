# %% setup
import functools

import torch


# %% wrong: multiplies the masks, beginning with the number 1, so the values are right but the result is int64 instead of boolean
def combine_masks(*masks):
    masks = [mask for mask in masks if mask is not None]
    if not masks:
        return None
    result = 1
    for mask in masks:
        result = result * mask
    return result


# %% wrong: begins with a tensor True and returns it if there is no mask at all, instead of None
def combine_masks(*masks):
    result = torch.tensor(True)
    for mask in masks:
        if mask is not None:
            result = result & mask
    return result


# %% wrong: counts how many masks allow a key and compares with the number of all entries, None included, so with a None nothing is allowed
def combine_masks(*masks):
    given = [mask.long() for mask in masks if mask is not None]
    if len(given) == 0:
        return None
    return sum(given) == len(masks)


# %% wrong: compares the masks with ==, so a key that two masks both hide becomes visible
def combine_masks(*masks):
    result = None
    for mask in masks:
        if mask is None:
            continue
        result = mask if result is None else result == mask
    return result


# %% two mistakes: lets one allowing mask suffice (or); and stops at the first None
def combine_masks(*masks):
    result = None
    for mask in masks:
        if mask is None:
            break
        result = mask if result is None else result | mask
    return result


# %% right: De Morgan, nothing is allowed that any mask hides
def combine_masks(*masks):
    hidden = [~mask for mask in masks if mask is not None]
    if not hidden:
        return None
    return ~functools.reduce(torch.logical_or, hidden)


# %% right: broadcasts all masks to one shape, stacks them and asks all() over the stack
def combine_masks(*masks):
    given = list(filter(lambda mask: mask is not None, masks))
    return torch.stack(torch.broadcast_tensors(*given)).all(dim=0) if given else None
