# %% setup
import torch

# %% wrong: forgets the 2 of the middle term
def squared_distances(QQ, QK, KK):
    qq = QQ.diagonal(dim1=1, dim2=2)
    kk = KK.diagonal(dim1=1, dim2=2)
    return qq[:, :, None] - QK + kk[:, None, :]

# %% wrong: adds twice the product where it should subtract it: |q + k|^2
def squared_distances(QQ, QK, KK):
    qq = torch.diagonal(QQ, dim1=-2, dim2=-1).unsqueeze(-1)
    kk = torch.diagonal(KK, dim1=-2, dim2=-1).unsqueeze(-2)
    return qq + 2 * QK + kk

# %% wrong: puts queries along the columns and keys along the rows
def squared_distances(QQ, QK, KK):
    qq = QQ.diagonal(dim1=1, dim2=2)
    kk = KK.diagonal(dim1=1, dim2=2)
    return qq[:, None, :] - 2 * QK + kk[:, :, None]

# %% wrong: adds the whole tables
def squared_distances(QQ, QK, KK):
    return QQ - 2 * QK + KK

# %% wrong: diagonal without dims, which runs over the batch and the first of the two axes
def squared_distances(QQ, QK, KK):
    qq = QQ.diagonal()
    kk = KK.diagonal()
    return qq[:, :, None] - 2 * QK + kk[:, None, :]

# %% wrong: sums the rows of QQ and KK where it should take the diagonal
def squared_distances(QQ, QK, KK):
    return QQ.sum(dim=-1)[:, :, None] - 2 * QK + KK.sum(dim=-1)[:, None, :]

# %% wrong: takes the root: the distance, not its square
def squared_distances(QQ, QK, KK):
    qq = QQ.diagonal(dim1=-2, dim2=-1)[..., :, None]
    kk = KK.diagonal(dim1=-2, dim2=-1)[..., None, :]
    return (qq - 2 * QK + kk).clamp(min=0).sqrt()

# %% wrong: squares the diagonals, as if they held lengths
def squared_distances(QQ, QK, KK):
    qq = QQ.diagonal(dim1=1, dim2=2) ** 2
    kk = KK.diagonal(dim1=1, dim2=2) ** 2
    return qq[:, :, None] - 2 * QK + kk[:, None, :]

# %% wrong: takes the diagonals of the first item for all items
def squared_distances(QQ, QK, KK):
    qq = torch.diag(QQ[0])
    kk = torch.diag(KK[0])
    return qq[:, None] - 2 * QK + kk[None, :]

# %% wrong: one trace per item in place of a number per query and key
def squared_distances(QQ, QK, KK):
    qq = QQ.diagonal(dim1=1, dim2=2).sum(dim=1)
    kk = KK.diagonal(dim1=1, dim2=2).sum(dim=1)
    return qq[:, None, None] - 2 * QK + kk[:, None, None]

# %% wrong: adds the diagonals without axes of size 1, along the columns both
def squared_distances(QQ, QK, KK):
    qq = QQ.diagonal(dim1=1, dim2=2)
    kk = KK.diagonal(dim1=1, dim2=2)
    return (qq + kk)[:, None, :] - 2 * QK

# %% two mistakes: forgets the 2; and takes the root
def squared_distances(QQ, QK, KK):
    qq = QQ.diagonal(dim1=1, dim2=2)[:, :, None]
    kk = KK.diagonal(dim1=1, dim2=2)[:, None, :]
    return (qq - QK + kk).abs().sqrt()

# %% two mistakes: puts queries along the columns and keys along the rows; and forgets the 2
def squared_distances(QQ, QK, KK):
    qq = QQ.diagonal(dim1=1, dim2=2)
    kk = KK.diagonal(dim1=1, dim2=2)
    return qq.unsqueeze(1) + kk.unsqueeze(2) - QK

# %% right: pair by pair in three loops
def squared_distances(QQ, QK, KK):
    result = torch.zeros_like(QK)
    B, L_q, L_k = QK.shape
    for b in range(B):
        for i in range(L_q):
            for j in range(L_k):
                result[b, i, j] = QQ[b, i, i] - 2 * QK[b, i, j] + KK[b, j, j]
    return result

# %% right: the diagonals by einsum, and both terms of the middle one by one
def squared_distances(QQ, QK, KK):
    qq = torch.einsum("bii->bi", QQ)
    kk = torch.einsum("bjj->bj", KK)
    return (qq.unsqueeze(-1) - QK) + (kk.unsqueeze(-2) - QK)

# %% right: strikes all but the diagonal with a unit matrix and spreads it by a product with ones
def squared_distances(QQ, QK, KK):
    only_qq = QQ * torch.eye(QQ.shape[-1])
    only_kk = KK * torch.eye(KK.shape[-1])
    ones = torch.ones_like(QK)
    return only_qq @ ones + ones @ only_kk - 2 * QK

# %% right: makes one table of all vectors with all, and picks the corner of its distances
def squared_distances(QQ, QK, KK):
    top = torch.cat([QQ, QK], dim=-1)
    bottom = torch.cat([QK.transpose(1, 2), KK], dim=-1)
    G = torch.cat([top, bottom], dim=1)
    n = torch.arange(G.shape[-1])
    size = G[:, n, n]
    D = size[:, :, None] + size[:, None, :] - G - G.transpose(1, 2)
    return D[:, : QQ.shape[1], QQ.shape[1] :]
