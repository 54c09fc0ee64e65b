# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: adds W times the bias by means of the new matrix, so the bias is multiplied by the norm's weight
def fold_norm(weight, bias, W, c):
    W = W * weight
    return W, c + W @ bias

# %% wrong: moves the weight into the matrix and leaves c as it was, the norm's bias is lost
def fold_norm(weight, bias, W, c):
    return W * weight, c

# %% wrong: the new bias is W times the norm's bias, and c is lost
def fold_norm(weight, bias, W, c):
    new_W = W * weight[None, :]
    new_c = torch.matmul(W, bias)
    return new_W, new_c

# %% wrong: multiplies the rows of W by the weight (diag on the left), which does not even fit unless W is square
def fold_norm(weight, bias, W, c):
    return torch.diag(weight) @ W, W @ bias + c

# %% wrong: divides the matrix by the weight
def fold_norm(weight, bias, W, c):
    return W / weight, W @ bias + c

# %% wrong: subtracts W times the norm's bias from c
def fold_norm(weight, bias, W, c):
    return W * weight, c - W @ bias

# %% wrong: works in place on the caller's W and c
def fold_norm(weight, bias, W, c):
    c += W @ bias
    W *= weight
    return W, c

# %% wrong: makes a new nn.Linear and copies the numbers into its data, so no gradient flows
def fold_norm(weight, bias, W, c):
    new = nn.Linear(W.shape[1], W.shape[0]).to(W.dtype)
    new.weight.data = W * weight
    new.bias.data = c + W @ bias
    return new.weight, new.bias

# %% wrong: returns the matrix the other way round, (d_model, d_out)
def fold_norm(weight, bias, W, c):
    new_W = weight.unsqueeze(1) * W.T
    return new_W, c + W @ bias

# %% wrong: adds the sum of the norm's bias to every entry of c
def fold_norm(weight, bias, W, c):
    return W * weight, c + bias.sum()

# %% wrong: divides the norm's bias by its weight before it goes through W
def fold_norm(weight, bias, W, c):
    shift = bias / weight
    return W * weight, c + W @ shift

# %% wrong: multiplies W by its own bias in place of weight: weight and bias are mixed up
def fold_norm(weight, bias, W, c):
    return W * bias, c + W @ weight

# %% wrong: takes the mean off each row of the new matrix as well, which is right behind a LayerNorm but not behind an RMSNorm
def fold_norm(weight, bias, W, c):
    new = W * weight
    return new - new.mean(dim=1, keepdim=True), F.linear(bias, W, c)

# %% wrong: adds the norm's bias to c as it is
def fold_norm(weight, bias, W, c):
    return W * weight, c + bias

# %% two mistakes: uses the scaled matrix for the bias, and changes W and c in place
def fold_norm(weight, bias, W, c):
    W.mul_(weight)
    c.add_(W @ bias)
    return W, c

# %% two mistakes: divides by the weight, and forgets c
def fold_norm(weight, bias, W, c):
    return W / weight, W @ bias

# %% right: asks the old layer: what it gives at z = 0 is the bias, and each unit vector gives a column
def fold_norm(weight, bias, W, c):
    def old(z):
        return F.linear(z * weight + bias, W, c)

    zero = torch.zeros_like(weight)
    start = old(zero)
    unit = torch.eye(len(weight), dtype=W.dtype)
    columns = [old(unit[i]) - start for i in range(len(weight))]
    return torch.stack(columns, dim=1), start

# %% right: one product of two homogeneous matrices, [W c] times [[diag(weight), bias], [0, 1]], returned as a list
def fold_norm(weight, bias, W, c):
    d = weight.shape[0]
    norm = torch.cat((torch.diag(weight), bias[:, None]), dim=1)
    last = torch.zeros(1, d + 1, dtype=W.dtype)
    last[0, d] = 1
    both = torch.cat((W, c[:, None]), dim=1) @ torch.cat((norm, last))
    return [both[:, :d], both[:, d]]

# %% right: einsum and a sum over the columns
def fold_norm(weight, bias, W, c):
    return torch.einsum("oi,i->oi", W, weight), c + (W * bias).sum(dim=-1)
