# %% setup
import torch


# %% right: joined tensors, copied once on the way in, and a limit
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.max_len = max_len
        self.k = torch.empty(batch_size, num_kv_heads, 0, d_head)
        self.v = torch.empty(batch_size, num_kv_heads, 0, d_head)

    @property
    def length(self):
        return self.k.size(2)

    def update(self, key, value):
        free = self.max_len - self.length
        if key.size(2) > free:
            raise ValueError(f"only {free} places are free")
        self.k, self.v = torch.cat((self.k, key.clone()), 2), torch.cat((self.v, value.clone()), 2)
        return self.k, self.v


# %% right: room of NaN, so that a place that nobody wrote would be seen
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.room = torch.full((2, batch_size, num_kv_heads, max_len, d_head), float("nan"))
        self.length = 0

    def update(self, key, value):
        new = torch.stack((key, value))
        start, stop = self.length, self.length + new.shape[-2]
        if stop > self.room.shape[-2]:
            raise ValueError("The cache is full.")
        self.room[..., start:stop, :] = new
        self.length = stop
        return self.room[0, ..., :stop, :], self.room[1, ..., :stop, :]


# %% wrong: the class of the page, which keeps the tail that nobody wrote, with a test for room
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.room = torch.zeros(2, batch_size, num_kv_heads, max_len, d_head)
        self.length = 0

    def update(self, key, value):
        end = self.length + key.shape[2]
        if end > self.room.shape[3]:
            raise ValueError("no room")
        self.room[0, :, :, self.length : end] = key
        self.room[1, :, :, self.length : end] = value
        self.length = end
        return self.room


# %% wrong: drops the oldest positions when the room is full, in place of an error
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.max_len, self.length = max_len, 0
        self.k = self.v = torch.empty(batch_size, num_kv_heads, 0, d_head)

    def update(self, key, value):
        self.k = torch.cat([self.k, key], 2)[:, :, -self.max_len :]
        self.v = torch.cat([self.v, value], 2)[:, :, -self.max_len :]
        self.length = self.k.shape[2]
        return self.k, self.v


# %% wrong: hands back the new positions only
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.k, self.v = torch.zeros(2, batch_size, num_kv_heads, max_len, d_head)
        self.length = 0

    def update(self, key, value):
        a, b = self.length, self.length + key.shape[2]
        if b > self.k.shape[2]:
            raise ValueError("too many positions")
        self.k[:, :, a:b], self.v[:, :, a:b] = key, value
        self.length = b
        return self.k[:, :, a:b], self.v[:, :, a:b]


# %% wrong: the length counts updates, not positions
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.k, self.v = torch.zeros(2, batch_size, num_kv_heads, max_len, d_head)
        self.length = 0

    def update(self, key, value):
        end = self.length + key.shape[2]
        if end > self.k.shape[2]:
            raise ValueError("too many positions")
        self.k[:, :, self.length : end], self.v[:, :, self.length : end] = key, value
        self.length += 1
        return self.k[:, :, :end], self.v[:, :, :end]
