# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% wrong: adds the projected state without a new axis for the letters, which is right for a batch of 1 only, mixes words if B equals L_s, and fails otherwise
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    scores = torch.tanh(state @ W_q.T + encoded @ W_k.T) @ w_v
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    context = (weights.unsqueeze(-1) * encoded).sum(dim=1)
    return context, weights

# %% two mistakes: divides the scores by the square root of d_att; and sets the weights of the padding to 0 after the softmax without dividing by the new sum
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T) @ w_v
    weights = torch.softmax(scores / w_v.shape[0] ** 0.5, dim=-1) * mask
    return (weights[:, None] @ encoded).squeeze(1), weights

# %% wrong: fills the padding's scores with -100, which is not low enough where the real letters' scores are lower
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T) @ w_v
    weights = torch.softmax(scores.masked_fill(~mask, -100.0), dim=-1)
    return (weights[:, :, None] * encoded).sum(dim=1), weights

# %% wrong: fills where the mask is True, so the real letters are hidden with minus infinity; a word without padding becomes NaN
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T) @ w_v
    weights = torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
    return (weights[:, :, None] * encoded).sum(dim=1), weights

# %% wrong: takes the tanh of each projection by itself and adds them afterwards, so that the state shifts all scores alike
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    scores = (torch.tanh(state @ W_q.T)[:, None] + torch.tanh(encoded @ W_k.T)) @ w_v
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return (weights[:, :, None] * encoded).sum(dim=1), weights

# %% right: einsum throughout, the mask enters as the logarithm of 1 and 0
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    hidden = torch.tanh(torch.einsum("as,bs->ba", W_q, state)[:, None] + torch.einsum("ae,ble->bla", W_k, encoded))
    scores = torch.einsum("a,bla->bl", w_v, hidden) + mask.to(hidden.dtype).log()
    weights = scores.softmax(1)
    return torch.einsum("bl,ble->be", weights, encoded), weights

# %% right: takes the exponentials by hand, shifted by the largest real score, and leaves those of the padding out by where
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    query = torch.einsum("as,bs->ba", W_q, state)
    keys = torch.einsum("ae,ble->bla", W_k, encoded)
    scores = torch.einsum("bla,a->bl", (query[:, None] + keys).tanh(), w_v)
    hidden = torch.where(mask, scores, scores.new_tensor(-torch.inf))
    powers = (hidden - hidden.amax(dim=1, keepdim=True)).exp()
    weights = powers / powers.sum(dim=1, keepdim=True)
    return torch.einsum("bl,ble->be", weights, encoded), weights

# %% setup
import torch

# %% right: word by word, softmax over the real letters only
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    contexts, rows = [], []
    for s, h, m in zip(state, encoded, mask):
        real = h[m]
        w = torch.softmax(torch.tanh(W_q @ s + real @ W_k.T) @ w_v, dim=0)
        contexts.append(w @ real)
        rows.append(torch.zeros_like(h[:, 0]).masked_scatter(m, w))
    return torch.stack(contexts), torch.stack(rows)
