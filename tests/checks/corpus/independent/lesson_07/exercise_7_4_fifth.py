# %% setup
import torch

# %% wrong: the queries by W_q as it is, not transposed
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head, n = d_model // num_heads, num_heads // num_kv_heads
    q = (x @ W_q).view(B, L, num_heads, d_head).transpose(1, 2)
    k = (x @ W_k.T).view(B, L, num_kv_heads, d_head).transpose(1, 2).repeat_interleave(n, dim=1)
    v = (x @ W_v.T).view(B, L, num_kv_heads, d_head).transpose(1, 2).repeat_interleave(n, dim=1)
    scores = (q @ k.transpose(-2, -1) / d_head**0.5).masked_fill(~mask, float("-inf"))
    return (scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T
