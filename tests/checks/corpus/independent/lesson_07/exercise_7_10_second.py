# %% setup
import torch


# %% right: the matrix cut into heads by chunk, one einsum that carries the query over
def latent_scores(query, latent, W_up):
    W = torch.stack(W_up.chunk(query.shape[1]))  # (H, d_head, d_c)
    carried = torch.einsum("bhqd,hdc->bhqc", query, W)
    return torch.einsum("bhqc,bkc->bhqk", carried, latent).div(query.shape[-1] ** 0.5)


# %% right: the queries of all heads in one long axis, multiplied once by the latents
def latent_scores(query, latent, W_up):
    B, H, L_q, d = query.shape
    carried = (query @ W_up.unflatten(0, (H, d))) / d**0.5
    return torch.bmm(carried.flatten(1, 2), latent.mT).unflatten(1, (H, L_q))


# %% wrong: makes the keys of one head after the other
def latent_scores(query, latent, W_up):
    B, H, L_q, d = query.shape
    scores = []
    for h in range(H):
        keys = latent @ W_up[h * d : (h + 1) * d].T  # (B, L_k, d_head)
        scores.append(query[:, h] @ keys.mT / d**0.5)
    return torch.stack(scores, dim=1)


# %% wrong: makes the keys of all heads, one position after the other
def latent_scores(query, latent, W_up):
    B, H, L_q, d = query.shape
    scores = []
    for c in latent.unbind(1):
        key = (c @ W_up.T).view(B, H, d, 1)
        scores.append(query @ key / d**0.5)
    return torch.cat(scores, dim=-1)


# %% wrong: einsum over three at once, in an order that makes the keys
def latent_scores(query, latent, W_up):
    B, H, L_q, d = query.shape
    keys = torch.einsum("hdc,bkc->bhdk", W_up.view(H, d, -1), latent)
    return query @ keys * d**-0.5


# %% wrong: the same rows of the matrix for all heads
def latent_scores(query, latent, W_up):
    d = query.shape[-1]
    return query @ W_up[:d] @ latent[:, None].mT / d**0.5


# %% wrong: divides by the root of d_head times the number of heads
def latent_scores(query, latent, W_up):
    H, d = query.shape[1], query.shape[-1]
    return query @ W_up.view(H, d, -1) @ latent[:, None].mT / (H * d) ** 0.5
