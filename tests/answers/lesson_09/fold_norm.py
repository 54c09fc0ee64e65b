# %% setup
import torch

# %% wrong: scales the rows of the matrix instead of its columns
def fold_norm(weight, bias, W, c):
    return (W.T * weight).T if W.shape[0] == W.shape[1] else W * weight, c + W @ bias

# %% wrong: adds the norm's bias to c without sending it through the matrix
def fold_norm(weight, bias, W, c):
    new = c.clone()
    k = min(len(bias), len(c))
    new[:k] = new[:k] + bias[:k]
    return W * weight, new

# %% wrong: sends the norm's bias through the matrix that has the weight in it
def fold_norm(weight, bias, W, c):
    scaled = W @ torch.diag(weight)
    return scaled, scaled @ bias + c

# %% wrong: forgets the norm's bias
def fold_norm(weight, bias, W, c):
    return W @ torch.diag(weight), c + 0

# %% two mistakes: forgets c; and sends the bias through the scaled matrix
def fold_norm(weight, bias, W, c):
    return W * weight, (W * weight) @ bias

# %% right: by probing the layer with unit vectors
def fold_norm(weight, bias, W, c):
    def layer(z):
        return W @ (z * weight + bias) + c

    zero = torch.zeros_like(weight)
    new_c = layer(zero)
    columns = [layer(row) - new_c for row in torch.eye(len(weight), dtype=W.dtype)]
    return torch.stack(columns, dim=1), new_c

# %% right: by einsum and a diagonal matrix
def fold_norm(weight, bias, W, c):
    return W @ torch.diag(weight), torch.einsum("od,d->o", W, bias) + c
