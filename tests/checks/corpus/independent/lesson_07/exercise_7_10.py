# %% setup
import torch

# %% right: einsum in one go over query and matrix first
def latent_scores(query, latent, W_up):
    B, H, L, d = query.shape
    asked = torch.einsum("bhld,hdc->bhlc", query, W_up.view(H, d, -1))
    return torch.einsum("bhlc,bkc->bhlk", asked, latent) / d**0.5

# %% right: a loop over heads, stacked
def latent_scores(query, latent, W_up):
    d = query.shape[-1]
    out = []
    for h in range(query.shape[1]):
        W = W_up[h * d : (h + 1) * d]
        out.append((query[:, h] @ W) @ latent.mT * d**-0.5)
    return torch.stack(out, dim=1)

# %% right: W scaled first, batched products
def latent_scores(query, latent, W_up):
    H, d = query.shape[1], query.shape[-1]
    W = W_up.reshape(H, d, W_up.shape[1]) / d**0.5
    asked = torch.matmul(query, W)
    return torch.matmul(asked, latent.unsqueeze(1).transpose(2, 3))

# %% wrong: makes the keys
def latent_scores(query, latent, W_up):
    B, H, L, d = query.shape
    keys = (latent @ W_up.T).view(B, -1, H, d).transpose(1, 2)
    return query @ keys.mT / d**0.5

# %% wrong: makes the keys by einsum
def latent_scores(query, latent, W_up):
    B, H, L, d = query.shape
    keys = torch.einsum("bkc,hdc->bhkd", latent, W_up.view(H, d, -1))
    return torch.einsum("bhld,bhkd->bhlk", query, keys) / d**0.5

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
