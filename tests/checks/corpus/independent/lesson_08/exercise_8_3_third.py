# %% setup
import torch


# %% wrong: the halves are views of the copy that is written into, so the second half is computed with the first half already turned
def rope(x, positions, base):
    half = x.shape[-1] // 2
    freq = base ** (-torch.arange(0, x.shape[-1], 2, dtype=torch.float64) / x.shape[-1])
    angle = positions[:, None] * freq
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    out = x.clone()
    a, b = out[..., :half], out[..., half:]
    out[..., :half] = a * cos - b * sin
    out[..., half:] = a * sin + b * cos
    return out


# %% wrong: lays the angles out for neighboring pairs (each frequency twice in a row) but turns the halves, so features get another pair's angle; right for d_head 2 or base 1
def rope(x, positions, base):
    d_head = x.shape[-1]
    freq = base ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
    angle = (positions[:, None] * freq).repeat_interleave(2, dim=-1)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-b, a], dim=-1) * sin


# %% wrong: angles in float64 are multiplied with x without casting back, so a float32 x comes back as float64
def rope(x, positions, base):
    d_head = x.shape[-1]
    freq = base ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
    angle = positions.double()[:, None] * freq
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1)


# %% wrong: counts positions from the smallest one given, so that the first token is not turned even if its position is not 0
def rope(x, positions, base):
    d_head = x.shape[-1]
    freq = base ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
    start = positions.min()
    angle = (positions - start)[:, None] * freq
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


# %% right: complex multiplication in float64, real and imaginary part side by side, cast back to the dtype of x
def rope(x, positions, base):
    half = x.shape[-1] // 2
    theta = positions.double().outer(float(base) ** (-torch.arange(half, dtype=torch.float64) / half))
    a, b = x.double().split(half, dim=-1)
    z = torch.complex(a, b) * torch.polar(torch.ones_like(theta), theta)
    return torch.cat([z.real, z.imag], dim=-1).to(x.dtype)


# %% right: one rotation matrix for each token and pair, multiplied by einsum with x viewed as (B, H, L, 2, d_head / 2)
def rope(x, positions, base):
    d_head = x.shape[-1]
    pair = torch.arange(d_head // 2).to(torch.float64)
    angle = torch.einsum("l,p->lp", positions.to(torch.float64), torch.as_tensor(base, dtype=torch.float64) ** (-2 * pair / d_head))
    c, s = torch.cos(angle), torch.sin(angle)
    turn = torch.stack([torch.stack([c, -s]), torch.stack([s, c])]).to(x.dtype)  # (2, 2, L, d_head / 2)
    return torch.einsum("ijlp,bhljp->bhlip", turn, x.unflatten(-1, (2, d_head // 2))).flatten(-2)
