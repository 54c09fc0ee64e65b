# %% setup
import torch
from course_utils.masks import causal_mask


# %% wrong: relies on the failing slice assignment to notice that there is no room; with a full cache and one new position the empty slice takes it by broadcasting, so no error comes and length runs past max_len
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.keys = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.values = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.length = 0

    def update(self, key, value):
        end = self.length + key.shape[2]
        try:
            self.keys[:, :, self.length : end] = key
            self.values[:, :, self.length : end] = value
        except RuntimeError:
            raise ValueError("the new positions do not fit into the cache") from None
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% wrong: keeps the tensors of the first update themselves instead of copies, so changing key or value in place afterwards changes the cache (later updates are copied by cat)
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.max_len = max_len
        self.keys = None
        self.values = None
        self.length = 0

    def update(self, key, value):
        if self.length + key.shape[2] > self.max_len:
            raise ValueError(f"no room for {key.shape[2]} more positions")
        if self.keys is None:
            self.keys, self.values = key, value
        else:
            self.keys = torch.cat([self.keys, key], dim=2)
            self.values = torch.cat([self.values, value], dim=2)
        self.length = self.keys.shape[2]
        return self.keys, self.values


# %% wrong: keeps what was written in lists that belong to the class, so that two caches write into the same lists and return each other's positions
class Cache:
    all_keys = []
    all_values = []

    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.max_len = max_len
        self.length = 0

    def update(self, key, value):
        new_length = self.length + key.shape[2]
        if new_length > self.max_len:
            raise ValueError("the cache is full")
        self.all_keys.append(key.float().clone())
        self.all_values.append(value.float().clone())
        self.length = new_length
        return torch.cat(self.all_keys, dim=2), torch.cat(self.all_values, dim=2)


# %% wrong: when the new positions do not all fit it first writes as many as there is room for and moves length, then raises the error, so the cache is not left as it was
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.keys = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.values = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.max_len = max_len
        self.length = 0

    def update(self, key, value):
        for i in range(key.shape[2]):
            if self.length == self.max_len:
                raise ValueError(f"only {i} of {key.shape[2]} new positions fit")
            self.keys[:, :, self.length] = key[:, :, i]
            self.values[:, :, self.length] = value[:, :, i]
            self.length += 1
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]


# %% right: one tensor for keys and values together with the position as first axis, filled by index_copy_ and permuted on the way out
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.room = torch.zeros(max_len, 2, batch_size, num_kv_heads, d_head)
        self.length = 0

    def update(self, key, value):
        new = torch.stack([key, value]).permute(3, 0, 1, 2, 4).to(self.room.dtype)
        where = torch.arange(self.length, self.length + new.shape[0])
        if self.length + len(where) > self.room.shape[0]:
            raise ValueError(f"{len(where)} new positions do not fit behind {self.length} of {self.room.shape[0]}")
        self.room.index_copy_(0, where, new)
        self.length += len(where)
        keys, values = self.room[: self.length].permute(1, 2, 3, 0, 4)
        return keys, values


# %% right: narrow and copy_ position by position after the room was checked, length computed from a boolean tensor of written positions, copies handed back
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.store = {name: torch.zeros(batch_size, num_kv_heads, max_len, d_head) for name in ("k", "v")}
        self.written = torch.zeros(max_len, dtype=torch.bool)

    @property
    def length(self):
        return int(self.written.sum())

    def update(self, key, value):
        free = (~self.written).nonzero().flatten().tolist()
        if len(free) < key.shape[-2]:
            raise ValueError("There is not enough free room in this cache.")
        for source, target in enumerate(free[: key.shape[-2]]):
            self.store["k"].narrow(2, target, 1).copy_(key.narrow(2, source, 1))
            self.store["v"].narrow(2, target, 1).copy_(value.narrow(2, source, 1))
            self.written[target] = True
        return tuple(self.store[name][:, :, self.written] for name in ("k", "v"))
