# %% setup
import torch
import torch.nn.functional as F

# %% wrong: takes the maximum over the words of the question and adds up over the words of the page
def best_matches(queries, keys):
    products = queries[:, None] @ keys[None].transpose(-2, -1)
    return products.max(dim=-2).values.sum(dim=-1)

# %% wrong: treats it as in 1.3, so that question b meets page b only; stops where the batches differ
def best_matches(queries, keys):
    products = queries @ keys.transpose(-2, -1)
    return products.max(dim=-1).values.sum(dim=-1)

# %% wrong: adds up all products of a question with a page
def best_matches(queries, keys):
    return torch.einsum("bid,cjd->bc", queries, keys)

# %% wrong: compares the mean of the question with the mean of the page
def best_matches(queries, keys):
    return queries.mean(dim=1) @ keys.mean(dim=1).T

# %% wrong: returns the best product of each word and doesn't add them up
def best_matches(queries, keys):
    return torch.einsum("bid,cjd->bcij", queries, keys).max(dim=-1).values

# %% right: multiplies entry by entry with new axes
def best_matches(queries, keys):
    products = (queries[:, None, :, None] * keys[None, :, None]).sum(dim=-1)
    return products.sort(dim=-1).values[..., -1].sum(dim=-1)

# %% right: one page after the other, each with all questions
def best_matches(queries, keys):
    return torch.stack([(queries @ page.T).amax(-1).sum(-1) for page in keys], dim=1)

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: adds the products over the words of the question, then takes the best word of the page
def best_matches(queries, keys):
    return torch.einsum("qid,pjd->qpij", queries, keys).sum(-2).amax(-1)

# %% right: one large matrix product, then cut into question, word, page, word
def best_matches(queries, keys):
    (B_q, L_q, d), (B_k, L_k, _) = queries.shape, keys.shape
    products = queries.reshape(-1, d) @ keys.reshape(-1, d).T
    return products.view(B_q, L_q, B_k, L_k).amax(dim=3).sum(dim=1)
