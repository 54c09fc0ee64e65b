# %% setup
import torch

# %% wrong: a key may be seen if any mask allows it (or instead of and)
def combine_masks(*masks):
    result = None
    for mask in masks:
        if mask is None:
            continue
        result = mask if result is None else result | mask
    return result

# %% wrong: combines in place, so the first mask that is handed in is changed (and a larger second one stops it with an error)
def combine_masks(*masks):
    result = None
    for mask in masks:
        if mask is not None:
            if result is None:
                result = mask
            else:
                result &= mask
    return result

# %% wrong: stacks the masks, which needs equal shapes and fails where they only broadcast
def combine_masks(*masks):
    present = [mask for mask in masks if mask is not None]
    if not present:
        return None
    return torch.stack(present).all(dim=0)

# %% wrong: returns a tensor that allows everything, instead of None, if there is no mask
def combine_masks(*masks):
    result = torch.ones(1, dtype=torch.bool)
    for mask in masks:
        if mask is not None:
            result = result & mask
    return result

# %% wrong: the list of masks is a default argument that lives on, so masks of earlier calls are combined too
def combine_masks(*masks, present=[]):
    for mask in masks:
        if mask is not None:
            present.append(mask)
    if not present:
        return None
    result = present[0]
    for mask in present[1:]:
        result = result & mask
    return result

# %% wrong: counts the masks that allow a key and compares with the number of arguments, None included, so any None hides everything
def combine_masks(*masks):
    votes = None
    for mask in masks:
        if mask is not None:
            votes = mask.long() if votes is None else votes + mask.long()
    if votes is None:
        return None
    return votes == len(masks)

# %% two mistakes: multiplies the masks as numbers and returns float instead of boolean; and returns None as soon as one entry is None
def combine_masks(*masks):
    if not masks or any(mask is None for mask in masks):
        return None
    result = masks[0].float()
    for mask in masks[1:]:
        result = result * mask.float()
    return result

# %% right: functools.reduce with logical_and
def combine_masks(*masks):
    from functools import reduce

    present = filter(lambda mask: mask is not None, masks)
    return reduce(lambda a, b: b if a is None else torch.logical_and(a, b), present, None)

# %% right: broadcasts all first, then stacks them and takes all
def combine_masks(*masks):
    present = [mask for mask in masks if mask is not None]
    if len(present) == 0:
        return None
    return torch.stack(torch.broadcast_tensors(*present), dim=-1).all(dim=-1)

# %% right: recursion, and de Morgan with "hidden by one or the other"
def combine_masks(*masks):
    if not masks:
        return None
    first, rest = masks[0], combine_masks(*masks[1:])
    if first is None:
        return rest
    if rest is None:
        return first.clone()
    return ~(~first | ~rest)


# %% wrong: named in the review: stops at the first None, so the masks after it are lost
def combine_masks(*masks):
    result = None
    for mask in masks:
        if mask is None:
            break
        result = mask if result is None else result & mask
    return result


# %% wrong: named in the review: returns None if there are fewer than two masks
def combine_masks(*masks):
    present = [mask for mask in masks if mask is not None]
    if len(present) < 2:
        return None
    result = present[0]
    for mask in present[1:]:
        result = result & mask
    return result


# %% wrong: named in the review: a signature with two masks only
def combine_masks(first, second):
    if first is None or second is None:
        return second if first is None else first
    return first & second
