# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: lets every filter see only its middle entry, as if it had width 1
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    middle = filters[:, filters.shape[1] // 2]  # (n,)
    f = previous[:, :, None] * middle
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% wrong: adds all the weights into the location, not those in the window
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    f = (previous.sum(-1, keepdim=True) * filters.sum(-1))[:, None]  # (B, 1, n)
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% wrong: masks after the softmax and does not divide again
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    width = filters.shape[1]
    windows = F.pad(previous, (width // 2, width // 2)).unfold(1, width, 1)
    f = windows @ filters.T
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores, dim=-1) * mask

# %% wrong: repeats the weight at either end of the row instead of counting it as 0
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    wide = F.pad(previous[:, None], (r, r), mode="replicate")
    f = F.conv1d(wide, filters[:, None]).transpose(1, 2)
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% wrong: cuts the previous weights off from the gradients
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    f = F.conv1d(previous.detach()[:, None], filters[:, None], padding=r).transpose(1, 2)
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% wrong: divides the scores by the root of d_att, as a scaled dot product would
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    f = F.conv1d(previous[:, None], filters[:, None], padding=r).transpose(1, 2)
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    scores = scores / len(w_v) ** 0.5
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% wrong: fills the padding's scores with 0 instead of minus infinity
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    f = F.conv1d(previous[:, None], filters[:, None], padding=r).transpose(1, 2)
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, 0.0), dim=-1)

# %% wrong: forgets the state, so the decoder does not ask
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    f = F.conv1d(previous[:, None], filters[:, None], padding=r).transpose(1, 2)
    scores = torch.tanh(encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% two mistakes: windows that begin at their letter; and padding is not hidden
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    width = filters.shape[1]
    windows = F.pad(previous, (0, width - 1)).unfold(1, width, 1)
    hidden = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + windows @ filters.T @ W_f.T)
    return torch.softmax(hidden @ w_v, dim=-1)

# %% two mistakes: flips the filters; and wraps around the ends of the row
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    wide = F.pad(previous[:, None], (r, r), mode="circular")
    f = F.conv1d(wide, filters.flip(-1)[:, None]).transpose(1, 2)
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% right: windows by unfold, only the real letters' exponentials, written out
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    width = filters.shape[1]
    windows = F.pad(previous, (width // 2, width // 2)).unfold(1, width, 1)
    f = torch.einsum("bjo,ko->bjk", windows, filters)
    inside = torch.einsum("ad,bd->ba", W_q, state)[:, None] + F.linear(encoded, W_k) + F.linear(f, W_f)
    scores = torch.einsum("a,bja->bj", w_v, inside.tanh())
    top = scores.masked_fill(~mask, float("-inf")).amax(-1, keepdim=True)
    powers = torch.where(mask, (scores - top).masked_fill(~mask, 0.0).exp(), 0.0)
    return powers / powers.sum(-1, keepdim=True)

# %% right: a layer of PyTorch whose weights are replaced, with the right fill of a dtype's smallest number
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    n, width = filters.shape
    layer = nn.Conv1d(1, n, width, padding=width // 2, bias=False)
    f = torch.func.functional_call(layer, {"weight": filters[:, None]}, (previous[:, None],)).mT
    projected = state.unsqueeze(1) @ W_q.mT + encoded @ W_k.mT + f @ W_f.mT
    scores = (projected.tanh() * w_v).sum(-1)
    return scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min).softmax(1)

# %% right: folds W_f into the filters first, then one convolution gives the whole location term
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    joined = (W_f @ filters)[:, None]  # (d_att, 1, 2 r + 1)
    location = F.conv1d(previous[:, None], joined, padding="same").transpose(1, 2)
    scores = torch.tanh(state[:, None] @ W_q.T + encoded @ W_k.T + location) @ w_v
    scores = torch.where(mask, scores, torch.full_like(scores, float("-inf")))
    return torch.exp(torch.log_softmax(scores, dim=-1))
