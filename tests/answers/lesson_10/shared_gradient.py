# %% setup
import torch

# %% wrong: adds the bottom's gradients by indexing, so of several places with one id only one counts
def shared_gradient(ids, at_vectors, hidden, at_logits):
    V, d = at_logits.shape[-1], hidden.shape[-1]
    grad = at_logits.reshape(-1, V).T @ hidden.reshape(-1, d)
    grad[ids.reshape(-1)] += d ** 0.5 * at_vectors.reshape(-1, d)
    return grad

# %% wrong: forgets the root of d_model at the bottom
def shared_gradient(ids, at_vectors, hidden, at_logits):
    V, d = at_logits.shape[-1], hidden.shape[-1]
    top = torch.einsum("blv,bld->vd", at_logits, hidden)
    bottom = torch.zeros(V, d, dtype=hidden.dtype)
    bottom.index_add_(0, ids.flatten(), at_vectors.flatten(0, 1))
    return top + bottom

# %% wrong: multiplies the sum of both ends by the root, so the top is scaled too
def shared_gradient(ids, at_vectors, hidden, at_logits):
    V, d = at_logits.shape[-1], hidden.shape[-1]
    top = at_logits.flatten(0, 1).T @ hidden.flatten(0, 1)
    both = top.index_add(0, ids.flatten(), at_vectors.flatten(0, 1))
    return d ** 0.5 * both

# %% wrong: divides the bottom by the root of d_model instead of multiplying
def shared_gradient(ids, at_vectors, hidden, at_logits):
    V, d = at_logits.shape[-1], hidden.shape[-1]
    top = at_logits.flatten(0, 1).T @ hidden.flatten(0, 1)
    return top.index_add(0, ids.flatten(), at_vectors.flatten(0, 1) / d ** 0.5)

# %% wrong: averages over all positions instead of adding up
def shared_gradient(ids, at_vectors, hidden, at_logits):
    V, d = at_logits.shape[-1], hidden.shape[-1]
    top = at_logits.flatten(0, 1).T @ hidden.flatten(0, 1)
    grad = top.index_add(0, ids.flatten(), d ** 0.5 * at_vectors.flatten(0, 1))
    return grad / ids.numel()

# %% wrong: a tied matrix is counted once, so it takes the average of the two ends
def shared_gradient(ids, at_vectors, hidden, at_logits):
    V, d = at_logits.shape[-1], hidden.shape[-1]
    top = torch.einsum("blv,bld->vd", at_logits, hidden)
    hot = torch.nn.functional.one_hot(ids, V).to(hidden.dtype)
    bottom = d ** 0.5 * torch.einsum("blv,bld->vd", hot, at_vectors)
    return (top + bottom) / 2

# %% wrong: adds the top's gradient only in the rows that were looked up
def shared_gradient(ids, at_vectors, hidden, at_logits):
    V, d = at_logits.shape[-1], hidden.shape[-1]
    grad = torch.zeros(V, d)
    for b in range(ids.shape[0]):
        for t in range(ids.shape[1]):
            i = ids[b, t]
            grad[i] += d ** 0.5 * at_vectors[b, t]
            grad[i] += at_logits[b, t, i] * hidden[b, t]
    return grad

# %% wrong: scales by the root of the vocabulary instead of the root of d_model
def shared_gradient(ids, at_vectors, hidden, at_logits):
    V, d = at_logits.shape[-1], hidden.shape[-1]
    top = at_logits.flatten(0, 1).T @ hidden.flatten(0, 1)
    return top.index_add(0, ids.flatten(), V ** 0.5 * at_vectors.flatten(0, 1))

# %% wrong: the top alone, as if the matrix were the generator's only
def shared_gradient(ids, at_vectors, hidden, at_logits):
    return torch.einsum("blv,bld->vd", at_logits, hidden)

# %% two mistakes: keeps one of several places with one id, and forgets the root
def shared_gradient(ids, at_vectors, hidden, at_logits):
    grad = torch.einsum("blv,bld->vd", at_logits, hidden)
    grad[ids] += at_vectors
    return grad

# %% right: two loops, one position after another, outer products
def shared_gradient(ids, at_vectors, hidden, at_logits):
    B, L = ids.shape
    V, d = at_logits.shape[2], hidden.shape[2]
    grad = torch.zeros(V, d, dtype=hidden.dtype)
    for b in range(B):
        for t in range(L):
            grad += torch.outer(at_logits[b, t], hidden[b, t])
            grad[ids[b, t]] += d ** 0.5 * at_vectors[b, t]
    return grad

# %% right: one matrix product, the one-hot ids beside the logits' gradients and the scaled vectors below the hidden ones
def shared_gradient(ids, at_vectors, hidden, at_logits):
    V, d = at_logits.shape[-1], hidden.shape[-1]
    hot = torch.eye(V, dtype=hidden.dtype)[ids.reshape(-1)]
    left = torch.cat([at_logits.reshape(-1, V), hot])
    right = torch.cat([hidden.reshape(-1, d), at_vectors.reshape(-1, d) * d ** 0.5])
    return left.T @ right

# %% right: index_put with accumulate, in double precision and back
def shared_gradient(ids, at_vectors, hidden, at_logits):
    V, d = at_logits.shape[-1], hidden.shape[-1]
    grad = torch.tensordot(at_logits.double(), hidden.double(), dims=([0, 1], [0, 1]))
    grad.index_put_((ids,), at_vectors.double() * d ** 0.5, accumulate=True)
    return grad.to(hidden.dtype)
