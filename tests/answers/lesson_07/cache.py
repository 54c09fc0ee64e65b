# %% setup
import torch

from course_utils.masks import causal_mask

# %% wrong: keys and values are one and the same tensor, so the values overwrite the keys
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.keys = self.values = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.length = 0

    def update(self, key, value):
        room = self.keys.shape[2] - self.length
        if key.shape[2] > room:
            raise ValueError(f"only {room} positions are free")
        new = slice(self.length, self.length + key.shape[2])
        self.keys[:, :, new] = key
        self.values[:, :, new] = value
        self.length = new.stop
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]

# %% wrong: keeps the keys of the first update by reference
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.max_len, self.length = max_len, 0

    def update(self, key, value):
        if self.length + key.shape[2] > self.max_len:
            raise ValueError("these positions do not fit")
        if self.length == 0:
            self.keys, self.values = key, value
        else:
            self.keys, self.values = torch.cat((self.keys, key), dim=2), torch.cat((self.values, value), dim=2)
        self.length += key.shape[2]
        return self.keys, self.values

# %% wrong: keeps keys in a list by reference, values as copies
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.max_len, self.keys, self.values = max_len, [], []

    @property
    def length(self):
        return sum(key.shape[2] for key in self.keys)

    def update(self, key, value):
        if self.length + key.shape[2] > self.max_len:
            raise ValueError("these positions do not fit")
        self.keys.append(key)
        self.values.append(value.clone())
        return torch.cat(self.keys, dim=2), torch.cat(self.values, dim=2)

# %% right: one tensor of two planes for keys and values, and length as a property over a private counter
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self._room = torch.full((2, batch_size, num_kv_heads, max_len, d_head), float("nan"))
        self._used = 0

    @property
    def length(self):
        return self._used

    def update(self, key, value):
        new, free = key.shape[-2], self._room.shape[-2] - self._used
        if new > free:
            raise ValueError(f"{new} new positions, but only {free} are free")
        self._room.narrow(3, self._used, new).copy_(torch.stack([key, value]))
        self._used += new
        keys, values = self._room.narrow(3, 0, self._used)
        return keys, values

# %% right: writes position by position in a loop, with an own error class that is a ValueError
class CacheFull(ValueError):
    pass


class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        shape = (batch_size, num_kv_heads, max_len, d_head)
        self.key_room, self.value_room = torch.empty(shape), torch.empty(shape)
        self.max_len, self.length = max_len, 0

    def update(self, key, value):
        steps = key.size(2)
        if not self.length + steps <= self.max_len:
            raise CacheFull("The cache is too small for these positions.")
        for step in range(steps):
            self.key_room[:, :, self.length] = key[:, :, step]
            self.value_room[:, :, self.length] = value[:, :, step]
            self.length += 1
        return self.key_room[..., : self.length, :], self.value_room[..., : self.length, :]

# %% setup
import torch

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

# %% right: lists of cloned positions, stacked when asked for
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.kept, self.room = ([], []), max_len

    @property
    def length(self):
        return len(self.kept[0])

    def update(self, key, value):
        if key.shape[2] > self.room - self.length:
            raise ValueError(f"only {self.room - self.length} positions are free")
        for kept, new in zip(self.kept, (key, value)):
            kept.extend(new.float().clone().unbind(dim=2))
        return tuple(torch.stack(kept, dim=2) for kept in self.kept)
