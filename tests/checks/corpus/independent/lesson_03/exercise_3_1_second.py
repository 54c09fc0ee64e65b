# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% wrong: the softmax runs over all letters and padding is set to 0 afterwards without renormalizing, so the weights of a padded word sum to less than 1
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    hidden = torch.tanh((state @ W_q.T).unsqueeze(1) + encoded @ W_k.T)
    weights = torch.softmax(hidden @ w_v, dim=-1) * mask
    context = (weights.unsqueeze(-1) * encoded).sum(dim=1)
    return context, weights

# %% wrong: only the number of real letters is used and padding is taken to stand at the end, wrong if it stands elsewhere
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    hidden = torch.tanh((state @ W_q.T).unsqueeze(1) + encoded @ W_k.T)
    scores = hidden @ w_v
    lengths = mask.sum(dim=1, keepdim=True)
    real = torch.arange(mask.shape[1]) < lengths
    weights = torch.softmax(scores.masked_fill(~real, float("-inf")), dim=-1)
    return torch.einsum("bl,bld->bd", weights, encoded), weights

# %% wrong: context and weights are squeezed, so a batch of 1 loses its batch axis
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    hidden = torch.tanh((state @ W_q.T).unsqueeze(1) + encoded @ W_k.T)
    scores = (hidden @ w_v).masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    context = (weights.unsqueeze(1) @ encoded).squeeze()
    return context, weights.squeeze()

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

# %% right: word by word on the real letters only, the weights put back with zeros between them
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    contexts, all_weights = [], []
    for s, h, real in zip(state, encoded, mask):
        letters = h[real]
        few = torch.softmax(torch.tanh(W_q @ s + letters @ W_k.T) @ w_v, dim=0)
        contexts.append(few @ letters)
        all_weights.append(torch.zeros(len(h), dtype=few.dtype, device=few.device).masked_scatter(real, few))
    return torch.stack(contexts), torch.stack(all_weights)

# %% right: einsum throughout, the mask enters as the logarithm of 1 and 0
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    hidden = torch.tanh(torch.einsum("as,bs->ba", W_q, state)[:, None] + torch.einsum("ae,ble->bla", W_k, encoded))
    scores = torch.einsum("a,bla->bl", w_v, hidden) + mask.to(hidden.dtype).log()
    weights = scores.softmax(1)
    return torch.einsum("bl,ble->be", weights, encoded), weights
