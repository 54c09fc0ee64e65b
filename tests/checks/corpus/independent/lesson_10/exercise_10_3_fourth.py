# %% setup
import torch
import torch.nn.functional as F


# %% wrong: PyTorch's own label_smoothing, which shares among all V symbols, the right one and padding included
def smoothed_loss(logits, labels, smoothing, pad_id):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, label_smoothing=smoothing)


# %% wrong: padded positions count as 0 but the mean is over all positions
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    q = torch.full_like(logits, smoothing / (V - 2))
    q[..., pad_id] = 0
    q.scatter_(-1, labels.unsqueeze(-1), 1 - smoothing)
    each = -(q * F.log_softmax(logits, -1)).sum(-1)
    return each.masked_fill(labels == pad_id, 0.0).mean()


# %% wrong: shares the smoothing among V - 1 symbols and then blanks padding, so the shares do not sum to 1
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    q = torch.full_like(logits, smoothing / (V - 1))
    q[..., pad_id] = 0
    q.scatter_(-1, labels.unsqueeze(-1), 1 - smoothing)
    return -(q * F.log_softmax(logits, -1)).sum(-1)[labels != pad_id].mean()


# %% two mistakes: no share for padding but the label gets 1, and the sum is returned
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    q = torch.full_like(logits, smoothing / (V - 2))
    q[..., pad_id] = 0
    q.scatter_(-1, labels.unsqueeze(-1), 1.0)
    return -(q * F.log_softmax(logits, -1)).sum(-1)[labels != pad_id].sum()


# %% right: starts from one-hot labels; only real positions are kept from the first line on
def smoothed_loss(logits, labels, smoothing, pad_id):
    real = labels.ne(pad_id)
    z, y = logits[real], labels[real]
    V = z.size(-1)
    one = F.one_hot(y, V)
    rest = 1 - one
    rest[:, pad_id] = 0
    q = (1 - smoothing) * one + smoothing / (V - 2) * rest
    return (q * (z.logsumexp(-1, keepdim=True) - z)).sum() / len(y)
