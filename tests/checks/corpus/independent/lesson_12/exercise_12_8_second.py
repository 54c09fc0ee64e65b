# %% setup
import torch


# %% right: the set of stretches is turned around: those of the text that stand in train, looked up by a second pass
def mark_seen(train, text, size):
    wanted = {}
    for i in range(len(text) - size + 1):
        wanted.setdefault(text[i : i + size], []).append(i)
    marks = [False] * len(text)
    for j in range(len(train) - size + 1):
        for i in wanted.pop(train[j : j + size], ()):
            marks[i : i + size] = [True] * size
    return torch.tensor(marks, dtype=torch.bool)


# %% right: differences at the ends of the stretches, summed up
def mark_seen(train, text, size):
    known = set(train[i : i + size] for i in range(max(0, len(train) - size + 1)))
    steps = torch.zeros(len(text) + size + 1, dtype=torch.long)
    for i in range(len(text) - size + 1):
        if text[i : i + size] in known:
            steps[i] += 1
            steps[i + size] -= 1
    return steps.cumsum(0)[: len(text)] > 0


# %% right: max pooling of the beginnings
def mark_seen(train, text, size):
    known = {train[i : i + size] for i in range(len(train) - size + 1)}
    begins = torch.tensor([float(text[i : i + size] in known) for i in range(len(text) - size + 1)])
    if not len(begins):
        return torch.zeros(len(text), dtype=torch.bool)
    padded = torch.nn.functional.pad(begins, (size - 1, size - 1))
    return torch.nn.functional.max_pool1d(padded[None], size, stride=1)[0].bool()


# %% wrong: asks whether the stretch that ends at a character is known, so only the ends are marked
def mark_seen(train, text, size):
    known = {train[i : i + size] for i in range(len(train) - size + 1)}
    return torch.tensor([text[max(0, i - size + 1) : i + 1] in known for i in range(len(text))], dtype=torch.bool)


# %% wrong: marks stretches of the words that the two texts share, and not of characters
def mark_seen(train, text, size):
    words = {word for word in train.split() if len(word) >= size}
    seen = torch.zeros(len(text), dtype=torch.bool)
    for word in words:
        at = text.find(word)
        while at >= 0:
            seen[at : at + len(word)] = True
            at = text.find(word, at + 1)
    return seen


# %% wrong: str.find gives the first place alone, so a stretch that comes twice in the text is marked once
def mark_seen(train, text, size):
    seen = torch.zeros(len(text), dtype=torch.bool)
    for i in range(len(train) - size + 1):
        at = text.find(train[i : i + size])
        if at >= 0:
            seen[at : at + size] = True
    return seen


# %% wrong: train is stepped through in strides of size // 2
def mark_seen(train, text, size):
    known = {train[i : i + size] for i in range(0, len(train) - size + 1, max(1, size // 2))}
    seen = torch.zeros(len(text), dtype=torch.bool)
    for i in range(len(text) - size + 1):
        if text[i : i + size] in known:
            seen[i : i + size] = True
    return seen


# %% wrong: gives a list of 0 and 1 as the example prints them
def mark_seen(train, text, size):
    known = {train[i : i + size] for i in range(len(train) - size + 1)}
    seen = [0] * len(text)
    for i in range(len(text) - size + 1):
        if text[i : i + size] in known:
            seen[i : i + size] = [1] * size
    return seen


# %% two mistakes: size + 1 characters are compared; and one fewer is marked
def mark_seen(train, text, size):
    known = {train[i : i + size + 1] for i in range(len(train) - size)}
    seen = torch.zeros(len(text), dtype=torch.bool)
    for i in range(len(text) - size):
        if text[i : i + size + 1] in known:
            seen[i : i + size] = True
    return seen
