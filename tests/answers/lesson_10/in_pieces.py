# %% setup
import torch

# %% wrong: the usual recipe, each piece's mean divided by the number of pieces
def in_pieces(model, loss_of, pieces, pad_id):
    total = 0.0
    for source, target in pieces:
        loss = loss_of(model(source, target[:, :-1]), target[:, 1:]) / len(pieces)
        loss.backward()
        total += loss.item()
    return total

# %% wrong: weighed by rows, as if each sequence had as many labels
def in_pieces(model, loss_of, pieces, pad_id):
    rows = sum(len(target) for _, target in pieces)
    total = 0.0
    for source, target in pieces:
        loss = loss_of(model(source, target[:, :-1]), target[:, 1:]) * len(target) / rows
        loss.backward()
        total += loss.item()
    return total

# %% wrong: right numbers, but every piece is held until one backward at the end
def in_pieces(model, loss_of, pieces, pad_id):
    sums, labels = 0.0, 0
    for source, target in pieces:
        count = (target[:, 1:] != pad_id).sum()
        sums = sums + loss_of(model(source, target[:, :-1]), target[:, 1:]) * count
        labels = labels + count
    loss = sums / labels
    loss.backward()
    return loss.item()

# %% two mistakes: start symbols are counted, and 0 is taken for padding
def in_pieces(model, loss_of, pieces, pad_id):
    counts = [(target != 0).sum().item() for _, target in pieces]
    total = 0.0
    for count, (source, target) in zip(counts, pieces):
        loss = loss_of(model(source, target[:, :-1]), target[:, 1:]) * count / sum(counts)
        loss.backward()
        total += loss.item()
    return total

# %% right: one count over all labels, laid end to end, before the model is asked
def in_pieces(model, loss_of, pieces, pad_id):
    everything = torch.cat([target[:, 1:].flatten() for _, target in pieces])
    labels = (everything != pad_id).sum().item()
    losses = []
    for source, target in pieces:
        wanted = target[:, 1:]
        share = wanted.ne(pad_id).sum().item() / labels
        part = share * loss_of(model(source, target[:, :-1]), wanted)
        part.backward()
        losses.append(part.item())
    return sum(losses)

# %% right: the weight goes in as the gradient that backward starts from
def in_pieces(model, loss_of, pieces, pad_id):
    counts = torch.tensor([int((target[:, 1:] != pad_id).sum()) for _, target in pieces])
    weights = (counts / counts.sum()).tolist()
    result = 0.0
    for weight, (source, target) in zip(weights, pieces):
        mean = loss_of(model(source, target[:, :-1]), target[:, 1:])
        mean.backward(torch.full_like(mean, weight))
        result += weight * float(mean)
    return result
