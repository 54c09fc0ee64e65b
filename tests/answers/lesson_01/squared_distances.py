# %% setup
import torch

# %% wrong: forgets that the mixed product comes twice
def squared_distances(QQ, QK, KK):
    q = torch.diagonal(QQ, dim1=1, dim2=2).unsqueeze(2)
    k = torch.diagonal(KK, dim1=1, dim2=2).unsqueeze(1)
    return q + k - QK

# %% wrong: takes the root at the end and so gives distances
def squared_distances(QQ, QK, KK):
    q = torch.diagonal(QQ, dim1=1, dim2=2).unsqueeze(2)
    k = torch.diagonal(KK, dim1=1, dim2=2).unsqueeze(1)
    return torch.sqrt(q + k - 2 * QK)

# %% wrong: takes the diagonal over batch and rows, torch.diagonal's default axes
def squared_distances(QQ, QK, KK):
    return torch.diagonal(QQ)[:, :, None] + torch.diagonal(KK)[:, None, :] - 2 * QK

# %% wrong: takes the diagonals' roots, so lengths stand where their squares belong
def squared_distances(QQ, QK, KK):
    out = torch.zeros_like(QK)
    for b in range(QK.shape[0]):
        for i in range(QK.shape[1]):
            for j in range(QK.shape[2]):
                out[b, i, j] = QQ[b, i, i] ** 0.5 + KK[b, j, j] ** 0.5 - 2 * QK[b, i, j]
    return out

# %% right: three loops, one sum for each pair
def squared_distances(QQ, QK, KK):
    out = torch.zeros_like(QK)
    for b in range(QK.shape[0]):
        for i in range(QK.shape[1]):
            for j in range(QK.shape[2]):
                out[b, i, j] = QQ[b, i, i] - 2 * QK[b, i, j] + KK[b, j, j]
    return out

# %% right: the diagonals by einsum
def squared_distances(QQ, QK, KK):
    return torch.einsum("bii->bi", QQ).unsqueeze(-1) - QK - QK + torch.einsum("bjj->bj", KK).unsqueeze(-2)
