# %% setup
import torch

# %% wrong: an in-place += through the ids, which keeps one of several places
def shared_gradient(ids, at_vectors, hidden, at_logits):
    d_model = hidden.shape[-1]
    gradient = torch.einsum("blv,bld->vd", at_logits, hidden)
    gradient[ids] += d_model**0.5 * at_vectors
    return gradient

# %% wrong: the top alone, as if the matrix were the generator's only
def shared_gradient(ids, at_vectors, hidden, at_logits):
    return torch.einsum("blv,bld->vd", at_logits, hidden)

# %% wrong: the root of d_model is forgotten
def shared_gradient(ids, at_vectors, hidden, at_logits):
    V = at_logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(ids, V).to(hidden.dtype)
    return torch.einsum("blv,bld->vd", at_logits, hidden) + torch.einsum("blv,bld->vd", one_hot, at_vectors)

# %% two mistakes: no root, and the mean over all positions
def shared_gradient(ids, at_vectors, hidden, at_logits):
    V = at_logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(ids, V).to(hidden.dtype)
    both = torch.einsum("blv,bld->vd", at_logits, hidden) + torch.einsum("blv,bld->vd", one_hot, at_vectors)
    return both / ids.numel()

# %% right: one product, with the one-hot rows beside the gradients of the logits
def shared_gradient(ids, at_vectors, hidden, at_logits):
    V, d_model = at_logits.shape[-1], hidden.shape[-1]
    one_hot = torch.nn.functional.one_hot(ids, V).to(hidden.dtype) * d_model**0.5  # (B, L, V)
    left = torch.cat([at_logits, one_hot], dim=1).flatten(0, 1)
    right = torch.cat([hidden, at_vectors], dim=1).flatten(0, 1)
    return left.T @ right

# %% right: position by position
def shared_gradient(ids, at_vectors, hidden, at_logits):
    B, L, d_model = hidden.shape
    gradient = torch.zeros(at_logits.shape[-1], d_model, dtype=hidden.dtype)
    for b in range(B):
        for t in range(L):
            gradient = gradient + torch.outer(at_logits[b, t], hidden[b, t])
            gradient[ids[b, t]] += at_vectors[b, t] * d_model**0.5
    return gradient
