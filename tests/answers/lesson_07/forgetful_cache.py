# %% setup
import torch

# %% wrong: plain sliding window
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        self.m, self.k, self.v = num_first + num_latest, None, None

    def update(self, key, value):
        self.k = key if self.k is None else torch.cat([self.k, key], 2)
        self.v = value if self.v is None else torch.cat([self.v, value], 2)
        self.k, self.v = self.k[:, :, -self.m :].clone(), self.v[:, :, -self.m :].clone()
        return self.k, self.v

# %% wrong: first positions twice while the text is short
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        self.n, self.m, self.k, self.v = num_first, num_latest, None, None

    def update(self, key, value):
        self.k = key.clone() if self.k is None else torch.cat([self.k, key], 2)
        self.v = value.clone() if self.v is None else torch.cat([self.v, value], 2)
        cut = lambda t: torch.cat([t[:, :, : self.n], t[:, :, -self.m :]], 2)
        return cut(self.k), cut(self.v)

# %% wrong: slices end with -0 when num_first is 0
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        self.n, self.m, self.k, self.v = num_first, num_latest, None, None

    def update(self, key, value):
        self.k = key.clone() if self.k is None else torch.cat([self.k, key], 2)
        self.v = value.clone() if self.v is None else torch.cat([self.v, value], 2)
        if self.k.shape[2] > self.n + self.m:
            room = self.k.shape[2] - self.n
            self.k = torch.cat([self.k[:, :, :-room], self.k[:, :, -self.m :]], 2) if self.n else self.k
            self.v = torch.cat([self.v[:, :, :-room], self.v[:, :, -self.m :]], 2) if self.n else self.v
        return self.k, self.v

# %% wrong: values not forgotten
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        self.n, self.m, self.k, self.v = num_first, num_latest, None, None

    def update(self, key, value):
        self.k = key.clone() if self.k is None else torch.cat([self.k, key], 2)
        self.v = value.clone() if self.v is None else torch.cat([self.v, value], 2)
        if self.k.shape[2] > self.n + self.m:
            self.k = torch.cat([self.k[:, :, : self.n], self.k[:, :, -self.m :]], 2)
        return self.k, self.v

# %% wrong: keeps the tensors that it was given
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        self.n, self.m, self.pieces = num_first, num_latest, []

    def update(self, key, value):
        self.pieces.append((key, value))
        k, v = (torch.cat(parts, 2) for parts in zip(*self.pieces))
        L = k.shape[2]
        places = [i for i in range(L) if i < self.n or i >= L - self.m]
        return k[:, :, places], v[:, :, places]

# %% two mistakes: only the latest, and newest first
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        self.m, self.k, self.v = num_latest, None, None

    def update(self, key, value):
        self.k = key.clone() if self.k is None else torch.cat([key, self.k], 2)
        self.v = value.clone() if self.v is None else torch.cat([value, self.v], 2)
        return self.k[:, :, : self.m], self.v[:, :, : self.m]

# %% two mistakes: nothing forgotten, values and keys exchanged
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        self.k = self.v = None

    def update(self, key, value):
        self.k = key.clone() if self.k is None else torch.cat([self.k, key], 2)
        self.v = value.clone() if self.v is None else torch.cat([self.v, value], 2)
        return self.v, self.k

# %% two mistakes: plain sliding window, of the tensors that were handed over
class ForgetfulCache:
    def __init__(self, a, b):
        self.m, self.k, self.v = a + b, None, None

    def update(self, key, value):
        self.k = key if self.k is None else torch.cat([self.k, key], 2)
        self.v = value if self.v is None else torch.cat([self.v, value], 2)
        self.k, self.v = self.k[:, :, -self.m :], self.v[:, :, -self.m :]
        return self.k, self.v

# %% right: two lists of single positions
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        self.a, self.b, self.rows = num_first, num_latest, []

    def update(self, key, value):
        self.rows += [(k.clone(), v.clone()) for k, v in zip(key.unbind(2), value.unbind(2))]
        if len(self.rows) > self.a + self.b:
            self.rows = self.rows[: self.a] + self.rows[len(self.rows) - self.b :]
        return torch.stack([k for k, _ in self.rows], 2), torch.stack([v for _, v in self.rows], 2)

# %% right: everything kept inside, an index chosen
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        self.n, self.m = num_first, num_latest
        self.k = self.v = None

    def update(self, key, value):
        self.k = key.clone() if self.k is None else torch.cat([self.k, key], 2)
        self.v = value.clone() if self.v is None else torch.cat([self.v, value], 2)
        L = self.k.shape[2]
        places = [i for i in range(L) if i < self.n or i >= L - self.m]
        return self.k[:, :, places], self.v[:, :, places]

# %% right: single positions in a list for the first and a deque for the latest
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        from collections import deque
        self.num_first, self.first, self.latest = num_first, [], deque(maxlen=num_latest)

    def update(self, key, value):
        for pair in zip(key.clone().unbind(2), value.clone().unbind(2)):
            (self.first if len(self.first) < self.num_first else self.latest).append(pair)
        keys, values = zip(*self.first, *self.latest)
        return torch.stack(keys, 2), torch.stack(values, 2)

# %% setup
import torch
from collections import deque

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
