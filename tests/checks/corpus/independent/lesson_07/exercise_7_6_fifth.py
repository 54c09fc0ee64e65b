# %% setup
import torch

# %% wrong: only the cut of the queries mended, the new axes of keys and values left before their heads
def grouped_attention(query, key, value, mask):
    B, H, L_q, d_k = query.shape
    H_kv = key.shape[1]
    q = query.reshape(B, H_kv, H // H_kv, L_q, d_k)
    scores = q @ key[:, None].transpose(-2, -1) / d_k**0.5
    weights = scores.masked_fill(~mask[:, None], float("-inf")).softmax(dim=-1)
    output = weights @ value[:, None]
    return output.reshape(B, H, L_q, value.shape[-1])

# %% wrong: the cut and the keys mended, the new axis of the values left before their heads
def grouped_attention(query, key, value, mask):
    B, H, L_q, d_k = query.shape
    H_kv = key.shape[1]
    q = query.reshape(B, H_kv, H // H_kv, L_q, d_k)
    scores = q @ key[:, :, None].transpose(-2, -1) / d_k**0.5
    weights = scores.masked_fill(~mask[:, None], float("-inf")).softmax(dim=-1)
    output = weights @ value[:, None]
    return output.reshape(B, H, L_q, value.shape[-1])
