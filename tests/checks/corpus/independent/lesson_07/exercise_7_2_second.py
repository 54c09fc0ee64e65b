# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils.masks import causal_mask


# %% wrong: refuses an update that would fill the cache to exactly the last position (>= instead of >)
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.keys = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.values = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.max_len = max_len
        self.length = 0

    def update(self, key, value):
        new = self.length + key.shape[2]
        if new >= self.max_len:
            raise ValueError("the cache is full")
        self.keys[:, :, self.length:new] = key
        self.values[:, :, self.length:new] = value
        self.length = new
        return self.keys[:, :, :new], self.values[:, :, :new]


# %% wrong: raises the length before the test for room, so after a refused update the length is too large
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.k = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.v = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.length = 0

    def update(self, key, value):
        start = self.length
        self.length += key.shape[2]
        if self.length > self.k.shape[2]:
            raise ValueError(f"only {self.k.shape[2]} positions fit")
        self.k[:, :, start:self.length] = key
        self.v[:, :, start:self.length] = value
        return self.k[:, :, :self.length], self.v[:, :, :self.length]


# %% wrong: the first update keeps the caller's own tensors instead of copies, so a later change of key or value changes the cache
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.max_len = max_len
        self.keys = None
        self.values = None
        self.length = 0

    def update(self, key, value):
        if self.length + key.shape[2] > self.max_len:
            raise ValueError("no room for the new positions")
        if self.keys is None:
            self.keys, self.values = key, value
        else:
            self.keys = torch.cat([self.keys, key], dim=2)
            self.values = torch.cat([self.values, value], dim=2)
        self.length = self.keys.shape[2]
        return self.keys, self.values


# %% wrong: writes only the first of the new positions when several come at once, the others stay zero
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.keys = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.values = torch.zeros_like(self.keys)
        self.length = 0
        self.max_len = max_len

    def update(self, key, value):
        L_new = key.shape[-2]
        if self.length + L_new > self.max_len:
            raise ValueError("does not fit")
        self.keys[:, :, self.length] = key[:, :, 0]
        self.values[:, :, self.length] = value[:, :, 0]
        self.length += L_new
        return self.keys[:, :, :self.length], self.values[:, :, :self.length]


# %% right: one common buffer for keys and values, filled with narrow and copy_
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.room = torch.empty(2, batch_size, num_kv_heads, max_len, d_head, dtype=torch.float32)
        self.length = 0

    @torch.no_grad()
    def update(self, key, value):
        L_new = key.size(2)
        free = self.room.size(3) - self.length
        if L_new > free:
            raise ValueError(f"{L_new} new positions, but room for {free} only")
        new = self.room.narrow(3, self.length, L_new)
        new[0].copy_(key)
        new[1].copy_(value)
        self.length += L_new
        keys, values = self.room.narrow(3, 0, self.length).unbind(0)
        return keys, values


# %% right: time first in the buffer, length as a property, and copies are given back
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self._k = torch.zeros(max_len, batch_size, num_kv_heads, d_head)
        self._v = torch.zeros(max_len, batch_size, num_kv_heads, d_head)
        self._free = max_len

    @property
    def length(self):
        return len(self._k) - self._free

    def update(self, key, value):
        if key.shape[2] > self._free:
            raise ValueError("the new positions do not fit into the cache")
        for t in range(key.shape[2]):
            at = self.length
            self._k[at] = key[:, :, t].detach()
            self._v[at] = value[:, :, t].detach()
            self._free -= 1
        n = self.length
        return self._k[:n].permute(1, 2, 0, 3).contiguous(), self._v[:n].permute(1, 2, 0, 3).contiguous()
