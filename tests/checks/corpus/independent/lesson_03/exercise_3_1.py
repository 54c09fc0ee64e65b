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

# %% wrong: uses only the number of real letters and takes the first ones as real, so a mask whose padding is not at the end is misread
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    lengths = mask.sum(dim=1, keepdim=True)
    real = torch.arange(mask.shape[1]) < lengths
    scores = torch.tanh((state @ W_q.T).unsqueeze(1) + encoded @ W_k.T) @ w_v
    weights = torch.softmax(scores.masked_fill(~real, float("-inf")), dim=-1)
    context = (weights.unsqueeze(-1) * encoded).sum(dim=1)
    return context, weights

# %% wrong: gives padding the fixed score -10 instead of minus infinity, so it keeps a little weight, and most of it when the real scores are below -10
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    scores = torch.tanh((state @ W_q.T).unsqueeze(1) + encoded @ W_k.T) @ w_v
    scores = torch.where(mask, scores, torch.full_like(scores, -10.0))
    weights = torch.softmax(scores, dim=-1)
    context = (weights.unsqueeze(-1) * encoded).sum(dim=1)
    return context, weights

# %% two mistakes: leaves out the tanh; and ignores the mask, so padding gets weight
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    scores = ((state @ W_q.T).unsqueeze(1) + encoded @ W_k.T) @ w_v
    weights = torch.softmax(scores, dim=-1)
    context = (weights.unsqueeze(-1) * encoded).sum(dim=1)
    return context, weights

# %% right: adds the logarithm of the mask, 0 for real letters and minus infinity for padding, and uses einsum
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    hidden = torch.einsum("as,bs->ba", W_q, state)[:, None] + torch.einsum("ae,ble->bla", W_k, encoded)
    scores = torch.einsum("a,bla->bl", w_v, hidden.tanh())
    weights = torch.softmax(scores + mask.to(scores.dtype).log(), dim=1)
    return torch.einsum("bl,ble->be", weights, encoded), weights

# %% right: treats each word by itself and looks at its real letters only, writing the weights into a row of zeros
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    contexts, rows = [], []
    for s, h, real in zip(state, encoded, mask):
        letters = h[real]
        score = torch.tanh(W_q @ s + letters @ W_k.T) @ w_v
        w = torch.softmax(score, dim=0)
        row = torch.zeros(len(real), dtype=w.dtype, device=w.device)
        rows.append(row.masked_scatter(real, w))
        contexts.append(w @ letters)
    return torch.stack(contexts), torch.stack(rows)

# %% right: writes the softmax by hand: replaces padding before the exponential, multiplies by the mask and divides by the sum
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    hidden = torch.tanh(F.linear(state, W_q)[:, None, :] + F.linear(encoded, W_k))
    scores = (hidden * w_v).sum(dim=-1)
    lowest = torch.finfo(scores.dtype).min
    top = torch.where(mask, scores, torch.full_like(scores, lowest)).amax(dim=1, keepdim=True)
    safe = torch.where(mask, scores - top, torch.zeros_like(scores))
    e = safe.exp() * mask
    weights = e / e.sum(dim=1, keepdim=True)
    return torch.bmm(weights[:, None, :], encoded)[:, 0], weights


# %% wrong: named in the review: takes the first mask.sum() letters as real (arange < mask.sum), so left padding is misread
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    hidden = torch.tanh((state @ W_q.T).unsqueeze(1) + encoded @ W_k.T)
    scores = hidden @ w_v
    real = torch.arange(encoded.shape[1]) < mask.sum(dim=1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~real, float("-inf")), dim=-1)
    return (weights.unsqueeze(1) @ encoded).squeeze(1), weights


# %% wrong: named in the review: adds the projections without the new axis
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    scores = torch.tanh(state @ W_q.T + encoded @ W_k.T) @ w_v
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return (weights.unsqueeze(1) @ encoded).squeeze(1), weights
