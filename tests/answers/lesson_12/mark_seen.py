# %% setup
import torch

# %% wrong: marks only where a seen stretch begins
def mark_seen(train, text, size):
    known = {train[i : i + size] for i in range(len(train) - size + 1)}
    return torch.tensor([text[i : i + size] in known for i in range(len(text))], dtype=torch.bool)

# %% wrong: a mask of stretches instead of characters
def mark_seen(train, text, size):
    return torch.tensor([text[i : i + size] in train for i in range(len(text) - size + 1)], dtype=torch.bool)

# %% wrong: marks what was not seen
def mark_seen(train, text, size):
    fresh = torch.ones(len(text), dtype=torch.bool)
    for i in range(len(text) - size + 1):
        if text[i : i + size] in train:
            fresh[i : i + size] = False
    return fresh

# %% two mistakes: small letters throughout, and the last character of a stretch is not marked
def mark_seen(train, text, size):
    train, text = train.lower(), text.lower()
    seen = torch.zeros(len(text), dtype=torch.bool)
    for i in range(len(text) - size + 1):
        if text[i : i + size] in train:
            seen[i : i + size - 1] = True
    return seen

# %% wrong: asks whether the stretch that ends at a character is known, so only the ends are marked
def mark_seen(train, text, size):
    known = {train[i : i + size] for i in range(len(train) - size + 1)}
    return torch.tensor([text[max(0, i - size + 1) : i + 1] in known for i in range(len(text))], dtype=torch.bool)

# %% wrong: train is stepped through in strides of size // 2
def mark_seen(train, text, size):
    known = {train[i : i + size] for i in range(0, len(train) - size + 1, max(1, size // 2))}
    seen = torch.zeros(len(text), dtype=torch.bool)
    for i in range(len(text) - size + 1):
        if text[i : i + size] in known:
            seen[i : i + size] = True
    return seen

# %% right: asks for each character whether a stretch around it is in train
def mark_seen(train, text, size):
    def covered(j):
        first, last = max(0, j - size + 1), min(j, len(text) - size)
        return any(text[i : i + size] in train for i in range(first, last + 1))

    return torch.tensor([covered(j) for j in range(len(text))])

# %% right: remembers how far the marks go
def mark_seen(train, text, size):
    known, seen, until = {train[i : i + size] for i in range(max(len(train) - size + 1, 0))}, [], 0
    for i in range(len(text)):
        piece = text[i : i + size]
        if len(piece) == size and piece in known:
            until = i + size
        seen.append(i < until)
    return torch.tensor(seen, dtype=torch.bool)

# %% right: hits first, then a sum over the window by differences
def mark_seen(train, text, size):
    known = frozenset(map("".join, zip(*(train[k:] for k in range(size)))))
    change = torch.zeros(len(text) + 1, dtype=torch.long)
    for i, stretch in enumerate(map("".join, zip(*(text[k:] for k in range(size))))):
        if stretch in known:
            change[i] += 1
            change[i + size] -= 1
    return change.cumsum(0)[:-1] > 0
