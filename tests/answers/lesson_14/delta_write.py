# %% setup
import torch
import torch.nn.functional as F

# %% wrong: adds
def delta_write(state, key, value, decay, beta):
    state = decay[:, None, None] * state
    k = F.normalize(key, dim=-1)
    return state + beta[:, None, None] * k[:, :, None] * value[:, None]

# %% wrong: the key stays as long as it is
def delta_write(state, key, value, decay, beta):
    state = decay[:, None, None] * state
    old = (key[:, None] @ state)[:, 0]
    return state + key[:, :, None] * (beta[:, None] * (value - old))[:, None]

# %% wrong: fades the whole state
def delta_write(state, key, value, decay, beta):
    state = decay[:, None, None] * state
    k, b = F.normalize(key, dim=-1), beta[:, None, None]
    return (1 - b) * state + b * k[:, :, None] * value[:, None]

# %% wrong: writes in place
def delta_write(state, key, value, decay, beta):
    state *= decay[:, None, None]
    k = F.normalize(key, dim=-1)
    state += k[:, :, None] * (beta[:, None] * (value - (k[:, None] @ state)[:, 0]))[:, None]
    return state

# %% two mistakes: takes the old value out whole; and normalizes over the batch
def delta_write(state, key, value, decay, beta):
    state = decay[:, None, None] * state
    k = F.normalize(key, dim=0)
    old = (k[:, None] @ state)[:, 0]
    return state + k[:, :, None] * (beta[:, None] * value - old)[:, None]

# %% right: a matrix that takes the key's direction out
def delta_write(state, key, value, decay, beta):
    state = decay[:, None, None] * state
    k = F.normalize(key, dim=-1)
    I = torch.eye(key.shape[-1], dtype=key.dtype)
    keep = I - beta[:, None, None] * k[:, :, None] @ k[:, None]
    return keep @ state + beta[:, None, None] * (k[:, :, None] @ value[:, None])

# %% right: row by row in a loop
def delta_write(state, key, value, decay, beta):
    state = decay[:, None, None] * state
    new = []
    for S, k, v, b in zip(state, key, value, beta):
        k = k / (k @ k).sqrt()
        new.append(S + b * torch.outer(k, v - k @ S))
    return torch.stack(new)


# %% setup
import torch
import torch.nn.functional as F
from course_utils.linear_attention import feature_map
import math

# %% wrong: the key is not brought to length 1
def delta_write(state, key, value, decay, beta):
    state = decay[:, None, None] * state
    old = torch.einsum("bk,bkv->bv", key, state)
    change = beta[:, None] * (value - old)
    return state + key[:, :, None] * change[:, None, :]
# %% wrong: the length is taken over the batch too
def delta_write(state, key, value, decay, beta):
    state = decay[:, None, None] * state
    k = key / key.norm()
    old = (k[:, :, None] * state).sum(dim=1)
    return state + k[:, :, None] * (beta[:, None] * (value - old))[:, None, :]
# %% wrong: the old value is not taken off
def delta_write(state, key, value, decay, beta):
    state = decay[:, None, None] * state
    k = F.normalize(key, dim=-1)
    return state + beta[:, None, None] * k[:, :, None] * value[:, None, :]
# %% wrong: the whole state fades by 1 - beta, also at right angles to the key
def delta_write(state, key, value, decay, beta):
    state = decay[:, None, None] * state
    k = F.normalize(key, dim=-1)
    b = beta[:, None, None]
    return (1 - b) * state + b * k[:, :, None] * value[:, None, :]
# %% wrong: the state that is given is changed
def delta_write(state, key, value, decay, beta):
    state *= decay[:, None, None]
    unit = key / key.norm(dim=-1, keepdim=True)
    old = torch.einsum("bk,bkv->bv", unit, state)
    state += torch.einsum("b,bk,bv->bkv", beta, unit, value - old)
    return state
# %% wrong: beta only on the new value, the old one is taken off whole
def delta_write(state, key, value, decay, beta):
    state = decay[:, None, None] * state
    k = F.normalize(key, dim=-1)
    old = torch.einsum("bk,bkv->bv", k, state)
    return state + k[:, :, None] * (beta[:, None] * value - old)[:, None, :]
# %% wrong: looked up with the unit key, written under the key as it is
def delta_write(state, key, value, decay, beta):
    state = decay[:, None, None] * state
    unit = F.normalize(key, dim=-1)
    old = (unit[:, None, :] @ state).squeeze(1)
    error = beta.unsqueeze(-1) * (value - old)
    return state + key.unsqueeze(-1) * error.unsqueeze(1)
# %% right: a matrix from the left takes the old value away, division by the squared length
def delta_write(state, key, value, decay, beta):
    state = decay[:, None, None] * state
    share = beta / (key * key).sum(dim=1)
    eye = torch.eye(key.shape[1], dtype=state.dtype)
    eraser = eye - torch.einsum("b,bi,bj->bij", share, key, key)
    length = key.pow(2).sum(dim=1, keepdim=True).sqrt()
    return eraser @ state + torch.einsum("b,bi,bj->bij", beta, key / length, value)
# %% right: one text after another, with outer and lerp
def delta_write(state, key, value, decay, beta):
    state = decay[:, None, None] * state
    def one(s, k, v, b):
        k = k / torch.linalg.vector_norm(k)
        old = k @ s
        wanted = torch.lerp(old, v, b)
        return s - torch.outer(k, old) + torch.outer(k, wanted)

    return torch.stack([one(*four) for four in zip(state, key, value, beta)])

# %% wrong: looks up before it fades
def delta_write(state, key, value, decay, beta):
    k = F.normalize(key, dim=-1)
    old = torch.einsum("bk,bkv->bv", k, state)
    return decay[:, None, None] * state + k[:, :, None] * (beta[:, None] * (value - old))[:, None]

# %% wrong: fades only what is under the key
def delta_write(state, key, value, decay, beta):
    k = F.normalize(key, dim=-1)
    old = decay[:, None] * torch.einsum("bk,bkv->bv", k, state)
    return state + k[:, :, None] * (beta[:, None] * (value - old))[:, None]

# %% wrong: writes first, then fades all
def delta_write(state, key, value, decay, beta):
    k = F.normalize(key, dim=-1)
    old = torch.einsum("bk,bkv->bv", k, state)
    return decay[:, None, None] * (state + k[:, :, None] * (beta[:, None] * (value - old))[:, None])
