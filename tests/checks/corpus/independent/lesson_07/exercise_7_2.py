# %% setup
import torch

from course_utils.masks import causal_mask

# %% wrong: writes every update at the beginning of the room instead of behind the old positions
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.keys = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.values = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.length = 0
        self.max_len = max_len

    def update(self, key, value):
        new = key.shape[2]
        if self.length + new > self.max_len:
            raise ValueError("the cache is full")
        self.keys[:, :, :new] = key
        self.values[:, :, :new] = value
        self.length += new
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]


# %% wrong: raises the error already when the new positions would fill the room exactly to the last position
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.max_len = max_len
        self.length = 0
        self.keys = torch.empty(batch_size, num_kv_heads, max_len, d_head)
        self.values = torch.empty_like(self.keys)

    def update(self, key, value):
        end = self.length + key.shape[-2]
        if end >= self.max_len:
            raise ValueError(f"no room for {key.shape[-2]} more positions")
        self.keys[:, :, self.length : end] = key
        self.values[:, :, self.length : end] = value
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% wrong: raises the length before it looks whether the positions fit, so a refused update leaves a wrong length behind
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.keys = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.values = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.max_len = max_len
        self.length = 0

    def update(self, key, value):
        start = self.length
        self.length += key.shape[2]
        if self.length > self.max_len:
            raise ValueError("does not fit into the cache any more")
        self.keys[:, :, start : self.length] = key
        self.values[:, :, start : self.length] = value
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]


# %% wrong: takes the number of new positions from the axis of the heads, which is right only if L_new equals H_kv
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.k = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.v = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.length = 0

    def update(self, key, value):
        L_new = key.shape[1]
        if self.length + L_new > self.k.shape[2]:
            raise ValueError("the cache has no room left")
        self.k[:, :, self.length : self.length + L_new] = key
        self.v[:, :, self.length : self.length + L_new] = value
        self.length += L_new
        return self.k[:, :, : self.length], self.v[:, :, : self.length]


# %% wrong: keeps the two tensors on the class, so that a second cache replaces the room of the first
class Cache:
    keys = None
    values = None

    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        Cache.keys = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        Cache.values = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.max_len = max_len
        self.length = 0

    def update(self, key, value):
        end = self.length + key.shape[2]
        if end > self.max_len:
            raise ValueError("cache overflow")
        Cache.keys[:, :, self.length : end] = key
        Cache.values[:, :, self.length : end] = value
        self.length = end
        return Cache.keys[:, :, :end], Cache.values[:, :, :end]


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


# %% two mistakes: returns the whole room including the positions not yet written; and looks only whether this update alone fits, not together with the old positions
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.keys = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.values = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.max_len = max_len
        self.length = 0

    def update(self, key, value):
        L_new = key.shape[2]
        if L_new > self.max_len:
            raise ValueError("too many positions")
        self.keys[:, :, self.length : self.length + L_new] = key
        self.values[:, :, self.length : self.length + L_new] = value
        self.length += L_new
        return self.keys, self.values


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


# %% right: the room has the positions on its first axis, writes with index_copy_ and hands out copies in a list
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.length = 0
        self.max_len = max_len
        self.store = {name: torch.zeros(max_len, batch_size, num_kv_heads, d_head) for name in ("keys", "values")}

    def update(self, key, value):
        where = torch.arange(self.length, self.length + key.shape[2])
        if len(where) and int(where[-1]) >= self.max_len:
            raise ValueError("The new positions do not fit into this cache.")
        self.store["keys"].index_copy_(0, where, key.permute(2, 0, 1, 3))
        self.store["values"].index_copy_(0, where, value.permute(2, 0, 1, 3))
        self.length += len(where)
        return [self.store[name][: self.length].permute(1, 2, 0, 3).clone() for name in ("keys", "values")]


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


# %% wrong: named in the review: keeps the keys of the first update by reference
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


# %% wrong: named in the review: keeps keys in a list by reference, values as copies
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


# %% wrong: named in the review: one store for all caches of the same size
_rooms = {}


class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        size = batch_size, num_kv_heads, max_len, d_head
        if size not in _rooms:
            _rooms[size] = torch.zeros(2, *size)
        self.room, self.length = _rooms[size], 0

    def update(self, key, value):
        end = self.length + key.shape[2]
        if end > self.room.shape[3]:
            raise ValueError("these positions do not fit")
        self.room[0, :, :, self.length : end] = key
        self.room[1, :, :, self.length : end] = value
        self.length = end
        return self.room[0, :, :, :end], self.room[1, :, :, :end]


# %% wrong: named in the review: infers the length from the nonzero keys
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.keys = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.values = torch.zeros(batch_size, num_kv_heads, max_len, d_head)

    @property
    def length(self):
        return int((self.keys != 0).any(dim=-1).any(dim=1).any(dim=0).sum())

    def update(self, key, value):
        end = self.length + key.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError("these positions do not fit")
        self.keys[:, :, end - key.shape[2] : end] = key
        self.values[:, :, end - key.shape[2] : end] = value
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% wrong: named in the review: raises a ValueError without a sentence
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.keys = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.values = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.length = 0

    def update(self, key, value):
        end = self.length + key.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError
        self.keys[:, :, self.length : end] = key
        self.values[:, :, self.length : end] = value
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]
