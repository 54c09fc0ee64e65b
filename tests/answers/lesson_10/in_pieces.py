# %% setup
import torch

# %% wrong: divides each piece's mean by the number of pieces, the usual recipe
def in_pieces(model, loss_of, pieces, pad_id):
    total = 0.0
    for source, target in pieces:
        loss = loss_of(model(source, target[:, :-1]), target[:, 1:]) / len(pieces)
        loss.backward()
        total += loss.item()
    return total

# %% wrong: the gradients are those of the sum of the means, only the returned number is weighted
def in_pieces(model, loss_of, pieces, pad_id):
    total, count = 0.0, 0
    for source, target in pieces:
        labels = target[:, 1:]
        n = (labels != pad_id).sum().item()
        loss = loss_of(model(source, target[:, :-1]), labels)
        loss.backward()
        total += loss.item() * n
        count += n
    return total / count

# %% wrong: weights each piece by its rows, not by its real labels
def in_pieces(model, loss_of, pieces, pad_id):
    rows = sum(len(target) for _, target in pieces)
    total = 0.0
    for source, target in pieces:
        loss = loss_of(model(source, target[:, :-1]), target[:, 1:]) * len(target) / rows
        loss.backward()
        total += loss.item()
    return total

# %% wrong: counts all labels, padding too
def in_pieces(model, loss_of, pieces, pad_id):
    everything = sum(target[:, 1:].numel() for _, target in pieces)
    total = 0.0
    for source, target in pieces:
        labels = target[:, 1:]
        loss = loss_of(model(source, target[:, :-1]), labels) * labels.numel() / everything
        loss.backward()
        total += loss.item()
    return total

# %% wrong: counts the real symbols of the whole target, the start symbols included
def in_pieces(model, loss_of, pieces, pad_id):
    counts = [(target != pad_id).sum().item() for _, target in pieces]
    total = 0.0
    for (source, target), n in zip(pieces, counts):
        loss = loss_of(model(source, target[:, :-1]), target[:, 1:]) * (n / sum(counts))
        loss.backward()
        total += loss.item()
    return total

# %% wrong: divides by the labels counted so far, not by all of them
def in_pieces(model, loss_of, pieces, pad_id):
    seen, total = 0, 0.0
    for source, target in pieces:
        labels = target[:, 1:]
        n = int((labels != pad_id).sum())
        seen += n
        loss = loss_of(model(source, target[:, :-1]), labels)
        (loss * n / seen).backward()
        total += loss.item() * n
    return total / seen

# %% wrong: adds up all pieces and goes back once at the end
def in_pieces(model, loss_of, pieces, pad_id):
    count = sum((target[:, 1:] != pad_id).sum() for _, target in pieces)
    total = 0
    for source, target in pieces:
        labels = target[:, 1:]
        total = total + loss_of(model(source, target[:, :-1]), labels) * (labels != pad_id).sum()
    total = total / count
    total.backward()
    return total.item()

# %% wrong: leaves the gradient of the sum over all labels, not of the mean
def in_pieces(model, loss_of, pieces, pad_id):
    total, count = 0.0, 0
    for source, target in pieces:
        labels = target[:, 1:]
        n = (labels != pad_id).sum().item()
        loss = loss_of(model(source, target[:, :-1]), labels) * n
        loss.backward()
        total += loss.item()
        count += n
    return total / count

# %% wrong: returns the last piece's share of the loss instead of the whole
def in_pieces(model, loss_of, pieces, pad_id):
    count = sum((target[:, 1:] != pad_id).sum().item() for _, target in pieces)
    for source, target in pieces:
        labels = target[:, 1:]
        weight = (labels != pad_id).sum().item() / count
        loss = loss_of(model(source, target[:, :-1]), labels) * weight
        loss.backward()
    return loss.item()

# %% wrong: gives the decoder the labels, so nothing is shifted
def in_pieces(model, loss_of, pieces, pad_id):
    count = sum((target[:, 1:] != pad_id).sum().item() for _, target in pieces)
    total = 0.0
    for source, target in pieces:
        labels = target[:, 1:]
        weight = (labels != pad_id).sum().item() / count
        loss = loss_of(model(source, target[:, 1:]), labels) * weight
        loss.backward()
        total += loss.item()
    return total

# %% two mistakes: takes 0 for the padding, and divides by the number of pieces besides
def in_pieces(model, loss_of, pieces, pad_id):
    count = sum((target[:, 1:] != 0).sum().item() for _, target in pieces)
    total = 0.0
    for source, target in pieces:
        labels = target[:, 1:]
        weight = (labels != 0).sum().item() / count / len(pieces)
        loss = loss_of(model(source, target[:, :-1]), labels) * weight
        loss.backward()
        total += loss.item()
    return total

# %% right: hands the gradient to backward instead of scaling the loss
def in_pieces(model, loss_of, pieces, pad_id):
    counts = torch.tensor([(target[:, 1:] != pad_id).sum() for _, target in pieces])
    shares = counts / counts.sum()
    means = []
    for (source, target), share in zip(pieces, shares):
        loss = loss_of(model(source, target[:, :-1]), target[:, 1:])
        loss.backward(gradient=share.to(loss.dtype))
        means.append(loss.detach())
    return float((torch.stack(means) * shares).sum())

# %% right: walks through the pieces from the last to the first
def in_pieces(model, loss_of, pieces, pad_id):
    def real(target):
        return int(target[:, 1:].ne(pad_id).sum())

    everything = sum(real(target) for _, target in pieces)
    mean = 0.0
    for source, target in reversed(pieces):
        part = real(target) / everything * loss_of(model(source, target[:, :-1]), target[:, 1:])
        part.backward()
        mean += part.item()
    return mean

# %% right: recursive, the first piece and then the rest
def in_pieces(model, loss_of, pieces, pad_id):
    n_all = torch.cat([target[:, 1:].flatten() for _, target in pieces]).ne(pad_id).sum().item()

    def go(rest):
        if not rest:
            return 0.0
        (source, target), *more = rest
        loss = loss_of(model(source, target[:, :-1]), target[:, 1:])
        loss = loss * target[:, 1:].ne(pad_id).sum() / n_all
        loss.backward()
        return loss.item() + go(more)

    return go(pieces)
