# %% setup
import torch
import torch.nn.functional as F

# %% wrong: flips the filters, as a convolution in the signal processor's sense does, so entry 0 meets the letter on the right
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    f = F.conv1d(previous[:, None], filters.flip(-1)[:, None], padding=r).transpose(1, 2)
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% wrong: shifts with torch.roll, so the weights wrap around from one end of the word to the other
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    f = sum(torch.roll(previous, -o, dims=1)[:, :, None] * filters[:, r + o] for o in range(-r, r + 1))
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% wrong: leaves the location out altogether and gives the weights of 3.1
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% two mistakes: flips the filters; and masks after the softmax without dividing again
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    f = F.conv1d(previous[:, None], filters.flip(-1)[:, None], padding=r).transpose(1, 2)
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores, dim=-1) * mask

# %% right: builds the matrix that takes weights to features, and joins the three projections into one
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    (n, width), L = filters.shape, previous.shape[1]
    offset = torch.arange(L)[None, :] - torch.arange(L)[:, None] + width // 2
    inside = (offset >= 0) & (offset < width)
    table = filters[:, offset.clamp(0, width - 1)] * inside
    f = torch.einsum("kjm,bm->bjk", table, previous)
    s = state[:, None].expand(-1, L, -1)
    scores = torch.tanh(torch.cat((s, encoded, f), -1) @ torch.cat((W_q, W_k, W_f), 1).T) @ w_v
    return torch.softmax(scores + mask.to(scores.dtype).log(), dim=-1)

# %% right: windows by unfold, mask by its logarithm
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    n, width = filters.shape
    windows = F.pad(previous, (width // 2,) * 2).unfold(-1, width, 1)
    joint = torch.einsum("blw,nw,an->bla", windows, filters, W_f)
    e = torch.einsum("bla,a->bl", (joint + F.linear(encoded, W_k) + F.linear(state, W_q)[:, None]).tanh(), w_v)
    return (e + mask.to(e.dtype).log()).softmax(dim=1)

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: adds all the weights into the location, not those in the window
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    f = (previous.sum(-1, keepdim=True) * filters.sum(-1))[:, None]  # (B, 1, n)
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% wrong: cuts the previous weights off from the gradients
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    f = F.conv1d(previous.detach()[:, None], filters[:, None], padding=r).transpose(1, 2)
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% wrong: fills the padding's scores with 0 instead of minus infinity
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    f = F.conv1d(previous[:, None], filters[:, None], padding=r).transpose(1, 2)
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, 0.0), dim=-1)

# %% right: a layer of PyTorch whose weights are replaced, with the right fill of a dtype's smallest number
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    n, width = filters.shape
    layer = nn.Conv1d(1, n, width, padding=width // 2, bias=False)
    f = torch.func.functional_call(layer, {"weight": filters[:, None]}, (previous[:, None],)).mT
    projected = state.unsqueeze(1) @ W_q.mT + encoded @ W_k.mT + f @ W_f.mT
    scores = (projected.tanh() * w_v).sum(-1)
    return scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min).softmax(1)

# %% wrong: makes the softmax by hand without moving the scores, so where all real letters' scores lie near -800 every exponential is 0 and the weights are NaN (0 / 0); right for ordinary scores
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    windows = F.pad(previous, (r, r)).unfold(1, 2 * r + 1, 1)
    f = windows @ filters.T
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    e = torch.exp(scores) * mask
    return e / e.sum(dim=-1, keepdim=True)
