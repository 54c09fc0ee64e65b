# %% setup
import torch
from collections import deque


# %% right: the first ones in a list, the latest in a deque that forgets by itself
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        self.num_first, self.first, self.latest = num_first, [], deque(maxlen=num_latest)

    def update(self, key, value):
        for pair in zip(key.clone().split(1, dim=2), value.clone().split(1, dim=2)):
            (self.first if len(self.first) < self.num_first else self.latest).append(pair)
        keys, values = zip(*self.first, *self.latest)
        return torch.cat(keys, dim=2), torch.cat(values, dim=2)


# %% right: each position's number is kept beside it, and decides
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        self.a, self.b, self.seen = num_first, num_latest, 0
        self.number = torch.empty(0, dtype=torch.long)
        self.k = self.v = None

    def update(self, key, value):
        number = torch.arange(self.seen, self.seen + key.shape[2])
        self.seen += key.shape[2]
        number = torch.cat([self.number, number])
        k = key if self.k is None else torch.cat([self.k, key], dim=2)
        v = value if self.v is None else torch.cat([self.v, value], dim=2)
        stays = (number < self.a) | (number >= self.seen - self.b)
        self.number, self.k, self.v = number[stays], k[:, :, stays], v[:, :, stays]
        return self.k, self.v


# %% wrong: hands back everything that came, and forgets only afterwards
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        self.a, self.b, self.k, self.v = num_first, num_latest, None, None

    def forget(self, t):
        if t.shape[2] <= self.a + self.b:
            return t.clone()
        return torch.cat([t[:, :, : self.a], t[:, :, -self.b :]], dim=2)

    def update(self, key, value):
        k = key if self.k is None else torch.cat([self.k, key], 2)
        v = value if self.v is None else torch.cat([self.v, value], 2)
        self.k, self.v = self.forget(k), self.forget(v)
        return k, v


# %% wrong: the first positions are taken from the first piece alone, however short it is
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        self.a, self.b, self.first = num_first, num_latest, None

    def update(self, key, value):
        new = torch.stack([key, value])
        if self.first is None:
            self.first, self.rest = new[:, :, :, : self.a].clone(), new[:, :, :, self.a :]
        else:
            self.rest = torch.cat([self.rest, new], dim=3)
        self.rest = self.rest[:, :, :, -self.b :].clone()
        return tuple(torch.cat([self.first, self.rest], dim=3))


# %% wrong: drops one position in each update, when there are too many, whatever number came
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        self.a, self.b, self.kept = num_first, num_latest, None

    def update(self, key, value):
        new = torch.stack([key, value])
        new = new if self.kept is None else torch.cat([self.kept, new], dim=3)
        if new.shape[3] > self.a + self.b:
            new = torch.cat([new[:, :, :, : self.a], new[:, :, :, self.a + 1 :]], dim=3)
        self.kept = new
        return new[0], new[1]


# %% wrong: num_latest is read as the size of the whole cache, the first ones among them
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        self.a, self.b, self.kept = num_first, num_latest, None

    def update(self, key, value):
        new = torch.stack([key, value])
        new = new if self.kept is None else torch.cat([self.kept, new], dim=3)
        n = new.shape[3]
        if n > self.b:
            tail = new[:, :, :, n - max(self.b - self.a, 0) :]
            new = torch.cat([new[:, :, :, : self.a], tail], dim=3)
        self.kept = new
        return new[0].clone(), new[1].clone()


# %% wrong: the latest first, then the first ones
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        self.a, self.b, self.all = num_first, num_latest, None

    def update(self, key, value):
        new = torch.stack([key, value])
        self.all = new if self.all is None else torch.cat([self.all, new], dim=3)
        if self.all.shape[3] <= self.a + self.b:
            return self.all[0].clone(), self.all[1].clone()
        return tuple(torch.cat([self.all[:, :, :, -self.b :], self.all[:, :, :, : self.a]], dim=3))
