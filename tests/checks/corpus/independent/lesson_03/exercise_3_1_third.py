# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance


# %% wrong: counts the real letters of each word and lets the first ones through, so padding that stands in front or between gets weight
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    hidden = torch.tanh((state @ W_q.T).unsqueeze(1) + encoded @ W_k.T)
    scores = hidden @ w_v
    lengths = mask.sum(dim=1, keepdim=True)
    real = torch.arange(mask.shape[1]) < lengths
    weights = torch.softmax(scores.masked_fill(~real, float("-inf")), dim=1)
    return (weights.unsqueeze(2) * encoded).sum(dim=1), weights


# %% wrong: sets the encoder states of the padding to zero in the argument itself, so the results are right but encoded is changed
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    encoded[~mask] = 0.0
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T) @ w_v
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    return torch.einsum("bl,bld->bd", weights, encoded), weights


# %% wrong: puts minus infinity before the tanh, which makes -1 of it, so padding has the finite score -sum(w_v) and some weight
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    summed = (state @ W_q.T)[:, None, :] + encoded @ W_k.T
    summed = summed.masked_fill(~mask[:, :, None], float("-inf"))
    weights = torch.softmax(torch.tanh(summed) @ w_v, dim=-1)
    return (weights[:, None] @ encoded).squeeze(1), weights


# %% wrong: hides the padding with finfo.tiny, the smallest positive number and so practically 0, instead of a very negative one
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T) @ w_v
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).tiny)
    weights = torch.softmax(scores, dim=-1)
    return (weights[:, None] @ encoded).squeeze(1), weights


# %% two mistakes: divides the scores by the square root of d_att; and sets the weights of the padding to 0 after the softmax without dividing by the new sum
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T) @ w_v
    weights = torch.softmax(scores / w_v.shape[0] ** 0.5, dim=-1) * mask
    return (weights[:, None] @ encoded).squeeze(1), weights


# %% right: word by word, attends only to the real letters and puts their weights back at their places
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    contexts, rows = [], []
    for s, h, real in zip(state, encoded, mask):
        places = real.nonzero().squeeze(1)
        letters = h[places]
        w = torch.softmax(torch.mv(torch.tanh(letters @ W_k.T + W_q @ s), w_v), dim=0)
        contexts.append(w @ letters)
        rows.append(w.new_zeros(len(real)).index_put((places,), w))
    return torch.stack(contexts), torch.stack(rows)


# %% right: takes the exponentials by hand, shifted by the largest real score, and leaves those of the padding out by where
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    query = torch.einsum("as,bs->ba", W_q, state)
    keys = torch.einsum("ae,ble->bla", W_k, encoded)
    scores = torch.einsum("bla,a->bl", (query[:, None] + keys).tanh(), w_v)
    hidden = torch.where(mask, scores, scores.new_tensor(-torch.inf))
    powers = (hidden - hidden.amax(dim=1, keepdim=True)).exp()
    weights = powers / powers.sum(dim=1, keepdim=True)
    return torch.einsum("bl,ble->be", weights, encoded), weights

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
