# %% setup
import torch

# %% wrong: pairs neighboring features (2 i, 2 i + 1) instead of (i, i + d_head / 2)
def rope(x, positions, base):
    d_head = x.shape[-1]
    omega = base ** (-torch.arange(0, d_head, 2, dtype=x.dtype) / d_head)
    angle = positions[:, None] * omega
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


# %% wrong: turns clockwise, with the signs of the sines exchanged
def rope(x, positions, base):
    half = x.shape[-1] // 2
    omega = base ** (-torch.arange(half, dtype=x.dtype) / half)
    angle = positions.to(x.dtype)[:, None] * omega
    cos, sin = angle.cos(), angle.sin()
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos + b * sin, b * cos - a * sin], dim=-1)


# %% wrong: counts the positions from the first one in the list, so a sequence that does not start at 0 is turned too little
def rope(x, positions, base):
    d_head = x.shape[-1]
    positions = positions - positions[0]
    omega = base ** (-torch.arange(0, d_head, 2, dtype=x.dtype) / d_head)
    angle = positions[:, None] * omega
    a, b = x[..., : d_head // 2], x[..., d_head // 2 :]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1)


# %% wrong: writes the first half over before the second half is computed from it, on a copy of x
def rope(x, positions, base):
    half = x.shape[-1] // 2
    omega = base ** (-torch.arange(half, dtype=x.dtype) * 2 / x.shape[-1])
    angle = positions.to(x.dtype).unsqueeze(-1) * omega
    cos, sin = angle.cos(), angle.sin()
    out = x.clone()
    out[..., :half] = out[..., :half] * cos - out[..., half:] * sin
    out[..., half:] = out[..., :half] * sin + out[..., half:] * cos
    return out


# %% wrong: builds the result from Python numbers with torch.tensor, so no gradient reaches x
def rope(x, positions, base):
    import math

    B, H, L, d_head = x.shape
    half = d_head // 2
    out = x.tolist()
    for b in range(B):
        for h in range(H):
            for t in range(L):
                for i in range(half):
                    angle = positions[t].item() * base ** (-2 * i / d_head)
                    first, second = x[b, h, t, i].item(), x[b, h, t, i + half].item()
                    out[b][h][t][i] = first * math.cos(angle) - second * math.sin(angle)
                    out[b][h][t][i + half] = first * math.sin(angle) + second * math.cos(angle)
    return torch.tensor(out, dtype=x.dtype)


# %% wrong: turns x into float32 first and returns float32 whatever the dtype of x was
def rope(x, positions, base):
    x = x.float()
    d_head = x.shape[-1]
    angle = positions.float()[:, None] * base ** (-torch.arange(0, d_head, 2).float() / d_head)
    cos, sin = torch.cat([angle.cos()] * 2, -1), torch.cat([angle.sin()] * 2, -1)
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-b, a], dim=-1) * sin


# %% two mistakes: uses the exponent -i / d_head instead of -2 i / d_head; and takes base 10000 whatever base is given
def rope(x, positions, base):
    half = x.shape[-1] // 2
    omega = 10000.0 ** (-torch.arange(half, dtype=x.dtype) / x.shape[-1])
    angle = positions[:, None] * omega
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1)


# %% right: complex multiplication, the two halves as real and imaginary part
def rope(x, positions, base):
    half = x.shape[-1] // 2
    omega = torch.tensor([float(base) ** (-i / half) for i in range(half)], dtype=torch.float64, device=x.device)
    angle = (positions[:, None] * omega).to(x.dtype)
    turned = torch.complex(x[..., :half].contiguous(), x[..., half:].contiguous()) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([turned.real, turned.imag], dim=-1)


# %% right: one rotation matrix for each position, applied with einsum
def rope(x, positions, base):
    d_head = x.shape[-1]
    omega = base ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
    angle = positions.double()[:, None] * omega
    c, s = torch.diag_embed(angle.cos()), torch.diag_embed(angle.sin())
    R = torch.cat([torch.cat([c, -s], dim=2), torch.cat([s, c], dim=2)], dim=1).to(x.dtype)  # (L, d_head, d_head)
    return torch.einsum("lij,bhlj->bhli", R, x)


# %% right: the swap of the halves by roll, with a sign vector
def rope(x, positions, base):
    d_head = x.shape[-1]
    half = d_head // 2
    feature = torch.arange(d_head, dtype=torch.float64) % half
    angle = positions.to(torch.float64).view(-1, 1) * torch.pow(torch.tensor(float(base), dtype=torch.float64), -2 * feature / d_head)
    sign = torch.ones(d_head, dtype=torch.float64)
    sign[:half] = -1
    return x * angle.cos().to(x.dtype) + x.roll(half, dims=-1) * (sign * angle.sin()).to(x.dtype)
