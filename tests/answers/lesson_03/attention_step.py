# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% wrong: sets the weights of padding to 0 only after the softmax and does not rescale, so the weights of a word with padding sum to less than 1
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    scores = torch.tanh((state @ W_q.T).unsqueeze(1) + encoded @ W_k.T) @ w_v
    weights = torch.softmax(scores, dim=-1) * mask
    context = (weights.unsqueeze(-1) * encoded).sum(dim=1)
    return context, weights

# %% wrong: reads the mask the wrong way round: the real letters get weight 0 and the padding is attended to
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    scores = torch.tanh((state @ W_q.T).unsqueeze(1) + encoded @ W_k.T) @ w_v
    weights = torch.softmax(scores.masked_fill(mask, -1e9), dim=-1)
    context = (weights.unsqueeze(1) @ encoded).squeeze(1)
    return context, weights

# %% wrong: multiplies the scores by the mask, which gives padding the score 0 instead of minus infinity, so padding keeps some weight
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    scores = torch.tanh((state @ W_q.T).unsqueeze(1) + encoded @ W_k.T) @ w_v
    weights = torch.softmax(scores * mask, dim=-1)
    context = (weights.unsqueeze(-1) * encoded).sum(dim=1)
    return context, weights

# %% wrong: adds the projected state without a new axis for the letters, which is right for a batch of 1 only, mixes words if B equals L_s, and fails otherwise
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    scores = torch.tanh(state @ W_q.T + encoded @ W_k.T) @ w_v
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    context = (weights.unsqueeze(-1) * encoded).sum(dim=1)
    return context, weights

# %% two mistakes: leaves out the tanh; and ignores the mask, so padding gets weight
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    scores = ((state @ W_q.T).unsqueeze(1) + encoded @ W_k.T) @ w_v
    weights = torch.softmax(scores, dim=-1)
    context = (weights.unsqueeze(-1) * encoded).sum(dim=1)
    return context, weights

# %% wrong: the scores of padding are set to 0 by multiplication with the mask, which does not give padding weight 0
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    hidden = torch.tanh((state @ W_q.T).unsqueeze(1) + encoded @ W_k.T)
    scores = (hidden @ w_v) * mask
    weights = torch.softmax(scores, dim=-1)
    return (weights.unsqueeze(1) @ encoded).squeeze(1), weights

# %% two mistakes: the mask is inverted, so only padding gets weight; and the tanh is forgotten
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    hidden = (state @ W_q.T).unsqueeze(1) + encoded @ W_k.T
    scores = (hidden @ w_v).masked_fill(mask, -1e9)
    weights = torch.softmax(scores, dim=-1)
    return (weights.unsqueeze(1) @ encoded).squeeze(1), weights

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

# %% wrong: hides with -100, which is above real scores near -800
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    e = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T) @ w_v
    w = torch.softmax(e.masked_fill(~mask, -100), dim=-1)
    return (w[:, None] @ encoded)[:, 0], w

# %% right: word by word, softmax over the real letters only
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    contexts, rows = [], []
    for s, h, m in zip(state, encoded, mask):
        real = h[m]
        w = torch.softmax(torch.tanh(W_q @ s + real @ W_k.T) @ w_v, dim=0)
        contexts.append(w @ real)
        rows.append(torch.zeros_like(h[:, 0]).masked_scatter(m, w))
    return torch.stack(contexts), torch.stack(rows)
