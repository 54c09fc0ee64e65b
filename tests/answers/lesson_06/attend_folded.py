# %% setup
import torch

from course_utils.attention import masked_softmax

# %% wrong: the mask repeated as before, only misled is new
def attend_folded(q, k, v, mask):
    B, H = len(mask), len(q) // len(mask)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    rows = torch.arange(B * H)
    return masked_softmax(scores, mask.repeat(H, 1, 1)) @ v, rows // H != rows % B

# %% wrong: misled says where the broken function is right
def attend_folded(q, k, v, mask):
    B, H = len(mask), len(q) // len(mask)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    rows = torch.arange(B * H)
    return masked_softmax(scores, mask.repeat_interleave(H, dim=0)) @ v, rows // H == rows % B

# %% wrong: a row counts as misled only where the two masks differ in every entry
def attend_folded(q, k, v, mask):
    B, H = len(mask), len(q) // len(mask)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    masks = mask.repeat_interleave(H, dim=0)
    wrong = mask.repeat(H, 1, 1)
    return masked_softmax(scores, masks) @ v, (wrong != masks).flatten(1).all(dim=1)

# %% two mistakes: the scores are not scaled; and misled is True for all rows but the first sequence's
def attend_folded(q, k, v, mask):
    B, H = len(mask), len(q) // len(mask)
    misled = torch.arange(B * H) >= H
    return masked_softmax(q @ k.mT, mask.repeat_interleave(H, dim=0)) @ v, misled

# %% right: the masks compared, entry by entry
def attend_folded(q, k, v, mask):
    H = len(q) // len(mask)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    masks, theirs = mask.repeat_interleave(H, dim=0), mask.repeat(H, 1, 1)
    return masked_softmax(scores, masks) @ v, (masks != theirs).flatten(1).any(dim=1)

# %% right: the heads unfolded to an axis of their own
def attend_folded(q, k, v, mask):
    B = len(mask)
    q, k, v = (t.unflatten(0, (B, -1)) for t in (q, k, v))
    weights = masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, mask[:, None])
    H = q.shape[1]
    own = torch.arange(B)[:, None].expand(B, H).flatten()
    theirs = torch.arange(B).repeat(H)
    return (weights @ v).flatten(0, 1), own != theirs
