# %% wrong: cuts the last axis into num_heads times num_heads
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, num_heads, num_heads).transpose(1, 2)
