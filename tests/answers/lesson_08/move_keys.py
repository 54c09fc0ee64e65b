# %% setup
import torch

# %% wrong: turns the keys by their new positions on top of the old ones
def move_keys(keys, old, new, base):
    d_head = keys.shape[-1]
    omega = base ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
    angle = new[:, None] * omega
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

# %% wrong: turns by old minus new, so the keys go the wrong way
def move_keys(keys, old, new, base):
    half = keys.shape[-1] // 2
    omega = base ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = (old - new).double().outer(omega)
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys[..., :half], keys[..., half:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

# %% wrong: right turns, but in pairs of neighbors
def move_keys(keys, old, new, base):
    d_head = keys.shape[-1]
    omega = base ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
    angle = (new - old)[:, None] * omega
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys[..., 0::2], keys[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

# %% two mistakes: only turns back; and takes base 10000 whatever base is given
def move_keys(keys, old, new, base):
    d_head = keys.shape[-1]
    omega = 10000.0 ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
    angle = -old[:, None] * omega
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

# %% right: two turns, back to position 0 and on to the new one, with complex numbers
def move_keys(keys, old, new, base):
    half = keys.shape[-1] // 2
    omega = float(base) ** (-torch.arange(half, dtype=torch.float64) / half)
    z = torch.complex(*keys.double().split(half, dim=-1))
    for where, way in ((old, -1), (new, 1)):
        angle = way * where.double().outer(omega)
        z = z * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([z.real, z.imag], dim=-1).to(keys.dtype)

# %% right: one rotation matrix for each token, multiplied by einsum
def move_keys(keys, old, new, base):
    d_head = keys.shape[-1]
    half = d_head // 2
    matrices = torch.zeros(len(old), d_head, d_head, dtype=torch.float64)
    for i in range(half):
        a = (new - old).double() * float(base) ** (-2 * i / d_head)
        matrices[:, i, i] = matrices[:, i + half, i + half] = a.cos()
        matrices[:, i, i + half], matrices[:, i + half, i] = -a.sin(), a.sin()
    return torch.einsum("lij,bhlj->bhli", matrices.to(keys.dtype), keys)
