# %% setup
import torch


# %% wrong: gives the mask the shape (1, 1, B, L_k), so the batch stands where the queries belong (right only for one item)
def padding_mask(tokens, pad_id):
    return (tokens != pad_id).view(1, 1, -1, tokens.shape[-1])


# %% wrong: takes only the run of pad_id at the right end for padding, so padding on the left or in the middle may be attended to
def padding_mask(tokens, pad_id):
    real = (tokens != pad_id).long()
    real_from_here_on = real.flip(-1).cumsum(-1).flip(-1)
    return (real_from_here_on > 0)[:, None, None, :]


# %% wrong: subtracts pad_id from the tokens in place, so the mask is right but the caller's tokens are changed
def padding_mask(tokens, pad_id):
    tokens -= pad_id
    return tokens.bool().unsqueeze(1).unsqueeze(2)


# %% wrong: hides the padding among the queries too and returns (B, 1, L_k, L_k)
def padding_mask(tokens, pad_id):
    real = tokens != pad_id
    return real[:, None, :, None] & real[:, None, None, :]


# %% two mistakes: is True at the padding; and puts the tokens on the axis of the queries
def padding_mask(tokens, pad_id):
    return (tokens == pad_id)[:, None, :, None]


# %% right: fills a new boolean tensor token by token in two loops
def padding_mask(tokens, pad_id):
    B, L = tokens.shape
    mask = torch.ones(B, 1, 1, L, dtype=torch.bool)
    for b in range(B):
        for j in range(L):
            if tokens[b, j].item() == pad_id:
                mask[b, 0, 0, j] = False
    return mask


# %% right: asks torch.isin with inverted answer and inserts the two axes with reshape
def padding_mask(tokens, pad_id):
    return torch.isin(tokens, pad_id, invert=True).reshape(tokens.shape[0], 1, 1, tokens.shape[1])
