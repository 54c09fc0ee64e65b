# %% setup
import torch

# %% wrong: has the signs of the two sines exchanged, so the matrix goes back by delta instead of forward
def shift_matrix(delta, d_model):
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    M = torch.zeros(d_model, d_model)
    for i, w in enumerate(omega):
        c, s = torch.cos(delta * w), torch.sin(delta * w)
        M[2 * i, 2 * i], M[2 * i, 2 * i + 1] = c, -s
        M[2 * i + 1, 2 * i], M[2 * i + 1, 2 * i + 1] = s, c
    return M


# %% wrong: takes the delta-th power of the matrix for one step, which is a Python error for a fraction
def shift_matrix(delta, d_model):
    blocks = []
    for i in range(d_model // 2):
        w = torch.tensor(10000.0 ** (-2 * i / d_model), dtype=torch.float64)
        blocks.append(torch.stack([torch.stack([w.cos(), w.sin()]), torch.stack([-w.sin(), w.cos()])]))
    one_step = torch.block_diag(*blocks)
    return torch.linalg.matrix_power(one_step, delta).float()


# %% wrong: multiplies step by step in a loop over range(delta), so a negative delta gives the identity
def shift_matrix(delta, d_model):
    M = torch.eye(d_model, dtype=torch.float64)
    omega = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)

    def small(step):
        out = torch.zeros(d_model, d_model, dtype=torch.float64)
        even = torch.arange(0, d_model, 2)
        out[even, even] = out[even + 1, even + 1] = (step * omega).cos()
        out[even, even + 1] = (step * omega).sin()
        out[even + 1, even] = -(step * omega).sin()
        return out

    whole = int(delta)
    for _ in range(whole):
        M = small(1.0) @ M
    return (small(delta - whole) @ M if delta > 0 else M).float()


# %% wrong: arranges the matrix for a table with all sines left and all cosines right instead of alternating columns
def shift_matrix(delta, d_model):
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    c, s = torch.diag((delta * omega).cos()), torch.diag((delta * omega).sin())
    return torch.cat([torch.cat([c, s], dim=1), torch.cat([-s, c], dim=1)], dim=0)


# %% wrong: turns every pair with the frequency of pair 0, which is right only for d_model 2
def shift_matrix(delta, d_model):
    angle = torch.tensor(float(delta))
    block = torch.stack([angle.cos(), angle.sin(), -angle.sin(), angle.cos()]).view(2, 2)
    return torch.block_diag(*[block] * (d_model // 2))


# %% wrong: cuts the fraction off delta because it goes through an integer tensor
def shift_matrix(delta, d_model):
    delta = torch.tensor(delta, dtype=torch.long)
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angle = delta * omega
    M = torch.zeros(d_model, d_model)
    even = torch.arange(0, d_model, 2)
    M[even, even] = angle.cos()
    M[even + 1, even + 1] = angle.cos()
    M[even, even + 1] = angle.sin()
    M[even + 1, even] = -angle.sin()
    return M


# %% two mistakes: uses the exponent -i / d_model instead of -2 i / d_model; and takes the absolute value of delta, so a negative shift goes forward
def shift_matrix(delta, d_model):
    blocks = []
    for i in range(d_model // 2):
        angle = torch.tensor(abs(delta) * 10000.0 ** (-i / d_model))
        c, s = angle.cos().item(), angle.sin().item()
        blocks.append(torch.tensor([[c, s], [-s, c]]))
    return torch.block_diag(*blocks)


# %% right: the matrix exponential of delta times the generator of the rotation
def shift_matrix(delta, d_model):
    omega = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    quarter = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    generator = torch.block_diag(*[w * quarter for w in omega])
    return torch.linalg.matrix_exp(delta * generator).to(torch.float32)


# %% right: a sum of three diagonals
def shift_matrix(delta, d_model):
    omega = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = delta * omega
    beside = torch.stack([angle.sin(), torch.zeros_like(angle)], dim=1).flatten()[:-1]
    M = torch.diag(angle.cos().repeat_interleave(2)) + torch.diag(beside, 1) - torch.diag(beside, -1)
    return M.float()


# %% right: fills a four-axis tensor (pair, part, pair, part) with an einsum over an identity
def shift_matrix(delta, d_model):
    import math

    pairs = d_model // 2
    angles = [delta * 10000.0 ** (-2 * i / d_model) for i in range(pairs)]
    turns = torch.tensor([[[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]] for a in angles])
    return torch.einsum("irs,ij->irjs", turns, torch.eye(pairs)).reshape(d_model, d_model)
