# %% setup
import torch

# %% wrong: no offset: query i sees keys 0 to i, as if the queries were the first positions
def causal_mask(L_q, L_k):
    return torch.ones(L_q, L_k, dtype=torch.bool).tril()

# %% wrong: the mask is inverted, True marks the keys of the future
def causal_mask(L_q, L_k):
    return torch.triu(torch.ones(L_q, L_k, dtype=torch.bool), diagonal=L_k - L_q + 1)

# %% wrong: off by one: a query does not see its own position
def causal_mask(L_q, L_k):
    positions = torch.arange(L_q).unsqueeze(1) + (L_k - L_q)
    return torch.arange(L_k) < positions

# %% wrong: the offset is a fixed 1, as in the example, right only if there is exactly one more key than queries
def causal_mask(L_q, L_k):
    return torch.tril(torch.ones(L_q, L_k, dtype=torch.bool), diagonal=1)

# %% wrong: remembers masks by L_k alone, so a second call with another L_q gets the first one's mask
_masks = {}


def causal_mask(L_q, L_k):
    if L_k not in _masks:
        offset = L_k - L_q
        _masks[L_k] = torch.ones(L_q, L_k, dtype=torch.bool).tril(offset)
    return _masks[L_k]

# %% wrong: takes the first L_q rows of the square mask instead of the last
def causal_mask(L_q, L_k):
    full = torch.tril(torch.ones(L_k, L_k, dtype=torch.bool))
    return full[:L_q]

# %% two mistakes: the offset has the wrong sign, L_q - L_k; and the result is of numbers 1.0 and 0.0 instead of booleans
def causal_mask(L_q, L_k):
    return torch.tril(torch.ones(L_q, L_k), diagonal=L_q - L_k)

# %% right: the positions are compared by broadcasting
def causal_mask(L_q, L_k):
    query_positions = torch.arange(L_k - L_q, L_k)
    return query_positions[:, None] >= torch.arange(L_k)[None, :]

# %% right: a double loop over rows and columns that fills in True
def causal_mask(L_q, L_k):
    mask = torch.zeros(L_q, L_k, dtype=torch.bool)
    for i in range(L_q):
        for j in range(L_k):
            if j <= i + L_k - L_q:
                mask[i, j] = True
    return mask

# %% right: all True for the cached keys and a square triangle for the new ones, put side by side
def causal_mask(L_q, L_k):
    past = torch.ones(L_q, L_k - L_q).bool()
    new = ~torch.ones(L_q, L_q).triu(1).bool()
    return torch.cat((past, new), dim=1)


# %% wrong: named in the review: keeps masks by L_q alone, so a second call with another L_k gets the first one's mask
_masks = {}


def causal_mask(L_q, L_k):
    if L_q not in _masks:
        _masks[L_q] = torch.ones(L_q, L_k, dtype=torch.bool).tril(diagonal=L_k - L_q)
    return _masks[L_q]
