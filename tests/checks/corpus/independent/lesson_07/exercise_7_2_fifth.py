# %% setup
import torch

# %% wrong: joins before it checks the room, so a refused update leaves its positions behind
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.max_len, self.length = max_len, 0
        self.keys = torch.zeros(batch_size, num_kv_heads, 0, d_head); self.values = self.keys.clone()
    def update(self, key, value):
        self.keys, self.values = torch.cat([self.keys, key], 2), torch.cat([self.values, value], 2)
        end = self.length + key.shape[2]
        if end > self.max_len:
            raise ValueError("the cache has no room for these positions")
        self.length = end
        return self.keys, self.values

# %% wrong: writes into the room before it checks it, so PyTorch stops the write with an error of its own
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.max_len, self.length = max_len, 0
        self.keys = torch.zeros(batch_size, num_kv_heads, max_len, d_head); self.values = self.keys.clone()
    def update(self, key, value):
        end = self.length + key.shape[2]
        self.keys[:, :, self.length : end] = key
        self.values[:, :, self.length : end] = value
        if end > self.max_len:
            raise ValueError("the cache has no room for these positions")
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]
