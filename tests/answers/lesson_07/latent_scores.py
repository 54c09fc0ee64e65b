# %% setup
import torch

# %% wrong: makes the keys
def latent_scores(query, latent, W_up):
    B, H, L, d = query.shape
    keys = (latent @ W_up.T).view(B, -1, H, d).transpose(1, 2)
    return query @ keys.mT / d**0.5

# %% wrong: no scaling
def latent_scores(query, latent, W_up):
    H, d = query.shape[1], query.shape[-1]
    return query @ W_up.view(H, d, -1) @ latent[:, None].mT

# %% wrong: divided by the root of the latent's size
def latent_scores(query, latent, W_up):
    H, d = query.shape[1], query.shape[-1]
    return query @ W_up.view(H, d, -1) @ latent[:, None].mT / latent.shape[-1] ** 0.5

# %% wrong: the heads' rows dealt out in turn
def latent_scores(query, latent, W_up):
    H, d = query.shape[1], query.shape[-1]
    return query @ W_up.view(d, H, -1).transpose(0, 1) @ latent[:, None].mT / d**0.5

# %% wrong: softmax too
def latent_scores(query, latent, W_up):
    H, d = query.shape[1], query.shape[-1]
    return (query @ W_up.view(H, d, -1) @ latent[:, None].mT / d**0.5).softmax(-1)

# %% wrong: values only, no gradient to the matrix
def latent_scores(query, latent, W_up):
    H, d = query.shape[1], query.shape[-1]
    return query @ W_up.detach().view(H, d, -1) @ latent[:, None].mT / d**0.5

# %% two mistakes: rows in turn and no scaling
def latent_scores(query, latent, W_up):
    H, d = query.shape[1], query.shape[-1]
    return query @ W_up.view(d, H, -1).transpose(0, 1) @ latent[:, None].mT

# %% two mistakes: makes the keys and forgets the root
def latent_scores(query, latent, W_up):
    B, H, L, d = query.shape
    keys = (latent @ W_up.T).view(B, -1, H, d).transpose(1, 2)
    return query @ keys.mT / d

# %% wrong: einsum over three at once, in an order that makes the keys
def latent_scores(query, latent, W_up):
    B, H, L_q, d = query.shape
    keys = torch.einsum("hdc,bkc->bhdk", W_up.view(H, d, -1), latent)
    return query @ keys * d**-0.5

# %% wrong: divides by the root of d_head times the number of heads
def latent_scores(query, latent, W_up):
    H, d = query.shape[1], query.shape[-1]
    return query @ W_up.view(H, d, -1) @ latent[:, None].mT / (H * d) ** 0.5

# %% right: einsum in one go over query and matrix first
def latent_scores(query, latent, W_up):
    B, H, L, d = query.shape
    asked = torch.einsum("bhld,hdc->bhlc", query, W_up.view(H, d, -1))
    return torch.einsum("bhlc,bkc->bhlk", asked, latent) / d**0.5

# %% right: W scaled first, batched products
def latent_scores(query, latent, W_up):
    H, d = query.shape[1], query.shape[-1]
    W = W_up.reshape(H, d, W_up.shape[1]) / d**0.5
    asked = torch.matmul(query, W)
    return torch.matmul(asked, latent.unsqueeze(1).transpose(2, 3))

# %% right: the matrix cut into heads by chunk, one einsum that carries the query over
def latent_scores(query, latent, W_up):
    W = torch.stack(W_up.chunk(query.shape[1]))  # (H, d_head, d_c)
    carried = torch.einsum("bhqd,hdc->bhqc", query, W)
    return torch.einsum("bhqc,bkc->bhqk", carried, latent).div(query.shape[-1] ** 0.5)

# %% setup
import math
import torch

# %% wrong: the absorbed queries are computed without a graph, so query and W_up get no gradient
def latent_scores(query, latent, W_up):
    B, H, L_q, d = query.shape
    with torch.no_grad():
        q = query @ W_up.view(H, d, -1) / d**0.5
    return q @ latent.mT.unsqueeze(1)

# %% setup
import numpy as np
import torch
from concurrent.futures import ThreadPoolExecutor

# %% wrong: makes the keys of each head, the heads side by side in threads
def latent_scores(query, latent, W_up):
    H, d = query.shape[1], query.shape[-1]
    W = W_up.view(H, d, -1)

    def head(h):
        return query[:, h] @ (latent @ W[h].T).mT / d**0.5

    with ThreadPoolExecutor() as pool:
        return torch.stack(list(pool.map(head, range(H))), dim=1)

# %% two mistakes: makes the keys, in numpy; so no gradients reach the arguments
def latent_scores(query, latent, W_up):
    q, c, W = (x.detach().numpy() for x in (query, latent, W_up))
    k = np.einsum("hdc,bkc->bhkd", W.reshape(q.shape[1], q.shape[3], -1), c)
    return torch.from_numpy(q @ k.swapaxes(2, 3) / q.shape[-1] ** 0.5)
