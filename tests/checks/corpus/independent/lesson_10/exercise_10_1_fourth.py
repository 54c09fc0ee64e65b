# %% setup
import torch


# %% wrong: the source mask is expanded to a row for every target position
def batch_masks(source, target, pad_id):
    L_t, L_s = target.shape[1], source.shape[1]
    mask = (source != pad_id)[:, None, None, :].expand(-1, 1, L_t, L_s)
    past = torch.tril(torch.ones(L_t, L_t, dtype=torch.bool))
    return mask, past & (target != pad_id)[:, None, None, :]


# %% wrong: the triangle lies the wrong way round, so the past is hidden and the future seen
def batch_masks(source, target, pad_id):
    L_t = target.shape[1]
    past = torch.ones(L_t, L_t).triu().bool()
    return source.ne(pad_id)[:, None, None], target.ne(pad_id)[:, None, None] & past


# %% wrong: padding and future are joined by "or", so whatever one of them allows is seen
def batch_masks(source, target, pad_id):
    L_t = target.shape[1]
    past = torch.ones(L_t, L_t).tril().bool()
    return source.ne(pad_id)[:, None, None], target.ne(pad_id)[:, None, None] | past


# %% wrong: the two masks are returned in the other order
def batch_masks(source, target, pad_id):
    L_t = target.shape[1]
    past = torch.ones(L_t, L_t).tril().bool()
    return target.ne(pad_id)[:, None, None] & past, source.ne(pad_id)[:, None, None]


# %% right: row t of the triangle by comparing places, padding by multiplication of booleans
def batch_masks(source, target, pad_id):
    place = torch.arange(target.shape[1])
    real = target.ne(pad_id).unsqueeze(1).unsqueeze(1)
    return source.ne(pad_id).unsqueeze(1).unsqueeze(1), real * (place <= place.unsqueeze(1))
