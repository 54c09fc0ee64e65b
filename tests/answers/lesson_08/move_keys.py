# %% setup
import torch

# %% wrong: turns by the new position without undoing the old one
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    freq = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = new.double()[:, None] * freq
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

# %% wrong: turns by old - new, the wrong way
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    freq = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = (old - new).double()[:, None] * freq
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

# %% wrong: pairs of neighbors instead of halves
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    freq = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = (new - old).double()[:, None] * freq
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys[..., 0::2], keys[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

# %% wrong: angles in float32, so the float64 case is off in the eighth digit
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    freq = base ** (-torch.arange(0, d, 2) / d)
    angle = (new - old)[:, None] * freq
    cos, sin = angle.cos(), angle.sin()
    a, b = keys.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1).to(keys.dtype)

# %% wrong: the result is float64 whatever the keys are
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    freq = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = (new - old).double()[:, None] * freq
    cos, sin = angle.cos(), angle.sin()
    a, b = keys.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

# %% wrong: writes into the keys it is given
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    h = d // 2
    freq = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = (new - old).double()[:, None] * freq
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys[..., :h].clone(), keys[..., h:].clone()
    with torch.no_grad():
        keys[..., :h] = a * cos - b * sin
        keys[..., h:] = a * sin + b * cos
    return keys

# %% wrong: all keys move by the distance of the first token
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    freq = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = float(new[0] - old[0]) * freq
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

# %% wrong: counts pairs with i / d_head in the exponent, not 2i / d_head
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    freq = base ** (-torch.arange(d // 2, dtype=torch.float64) / d)
    angle = (new - old).double()[:, None] * freq
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

# %% wrong: divides the angle of the new position by that of the old, new / old
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    freq = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    ratio = new.double() / old.double().clamp(min=1)
    angle = ratio[:, None] * freq
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

# %% wrong: rotates by undoing the old turn only and leaves the keys unturned
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    freq = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = old.double()[:, None] * freq
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys.chunk(2, dim=-1)
    return torch.cat([a * cos + b * sin, b * cos - a * sin], dim=-1)

# %% wrong: a reused first half, so the second half is turned with numbers that are turned already
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    freq = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = (new - old).double()[:, None] * freq
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys.chunk(2, dim=-1)
    a = a * cos - b * sin
    b = a * sin + b * cos
    return torch.cat([a, b], dim=-1)

# %% wrong: puts the tokens in the order of their new positions as well
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    freq = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = (new - old).double()[:, None] * freq
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys.chunk(2, dim=-1)
    moved = torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
    return moved[:, :, new.argsort()]

# %% wrong: base 10000 whatever is asked for
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    freq = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = (new - old).double()[:, None] * freq
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

# %% wrong: works on detached keys, so no gradient gets through
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    x = keys.detach().double()
    freq = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    turn = torch.exp(1j * (new - old).double()[:, None] * freq)
    z = torch.complex(x[..., : d // 2], x[..., d // 2 :]) * turn
    return torch.cat([z.real, z.imag], dim=-1).to(keys.dtype)

# %% two mistakes: turns the wrong way, by old - new; and pairs neighbors instead of halves
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    freq = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = (old - new).double()[:, None] * freq
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys[..., 0::2], keys[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

# %% two mistakes: turns by the new position without undoing the old; and counts pairs with i / d_head in the exponent
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    freq = base ** (-torch.arange(d // 2, dtype=torch.float64) / d)
    angle = new.double()[:, None] * freq
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

# %% two mistakes: only turns back; and takes base 10000 whatever base is given
def move_keys(keys, old, new, base):
    d_head = keys.shape[-1]
    omega = 10000.0 ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
    angle = -old[:, None] * omega
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

# %% right: complex numbers
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    freq = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    turn = torch.exp(1j * (new - old).double()[:, None] * freq)
    x = keys.double()
    z = torch.complex(x[..., : d // 2], x[..., d // 2 :]) * turn
    return torch.cat([z.real, z.imag], dim=-1).to(keys.dtype)

# %% right: two turns one after the other, back from the old position and on to the new, in float64
def move_keys(keys, old, new, base):
    def turn(x, pos, sign):
        d = x.shape[-1]
        freq = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
        angle = torch.outer(pos.double(), freq).repeat(1, 2) * sign
        a, b = x.chunk(2, dim=-1)
        return x * angle.cos() + torch.cat([-b, a], dim=-1) * angle.sin()
    return turn(turn(keys.double(), old, -1), new, 1).to(keys.dtype)

# %% right: one rotation matrix for each token and an einsum
def move_keys(keys, old, new, base):
    d = keys.shape[-1]
    h = d // 2
    mats = []
    for shift in (new - old).tolist():
        t = shift * torch.tensor([float(base) ** (-2 * i / d) for i in range(h)], dtype=torch.float64)
        c, s = torch.diag(t.cos()), torch.diag(t.sin())
        mats.append(torch.cat([torch.cat([c, -s], 1), torch.cat([s, c], 1)], 0))
    R = torch.stack(mats).to(keys.dtype)
    return torch.einsum("lij,bhlj->bhli", R, keys)
