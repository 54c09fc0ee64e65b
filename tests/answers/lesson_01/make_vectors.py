# %% setup
import collections
import math

import torch


def table(words, vocabulary, window):
    place = {w: i for i, w in enumerate(vocabulary)}
    met = collections.Counter()
    for i, w in enumerate(words):
        for j in range(max(0, i - window), min(len(words), i + window + 1)):
            if i != j and w in place and words[j] in place:
                met[place[w], place[words[j]]] += 1
    counts = torch.zeros(len(vocabulary), len(vocabulary))
    for (a, b), n in met.items():
        counts[a, b] = n
    return counts


def ppmi(counts):
    p = counts / counts.sum()
    return torch.log(p / p.sum(1, keepdim=True) / p.sum(0)).clamp(min=0)

# %% wrong: keeps the first r columns of the PPMI table instead of an SVD
def make_vectors(words, vocabulary, window, r):
    return ppmi(table(words, vocabulary, window))[:, :r]

# %% wrong: multiplies by the singular values, not by their roots
def make_vectors(words, vocabulary, window, r):
    U, s, _ = torch.linalg.svd(ppmi(table(words, vocabulary, window)))
    return U[:, :r] * s[:r]

# %% wrong: the text loses the words outside the vocabulary before the counting
def make_vectors(words, vocabulary, window, r):
    words = [w for w in words if w in vocabulary]
    U, s, _ = torch.linalg.svd(ppmi(table(words, vocabulary, window)))
    return U[:, :r] * s[:r] ** 0.5

# %% wrong: hands back the contexts' side, as columns
def make_vectors(words, vocabulary, window, r):
    _, s, Vt = torch.linalg.svd(ppmi(table(words, vocabulary, window)))
    return Vt[:r] * s[:r, None] ** 0.5

# %% right: eigenvalues of the symmetric table, sorted by size
def make_vectors(words, vocabulary, window, r):
    values, vectors = torch.linalg.eigh(ppmi(table(words, vocabulary, window)))
    order = values.abs().argsort(descending=True)[:r]
    return vectors[:, order] * values[order].abs().sqrt()

# %% right: PPMI cell by cell with math.log, then an SVD
def make_vectors(words, vocabulary, window, r):
    counts = table(words, vocabulary, window)
    total, rows = counts.sum().item(), counts.sum(1).tolist()
    cells = [[max(0.0, math.log(n * total / (a * b))) if n else 0.0 for n, b in zip(line, rows)]
             for line, a in zip(counts.tolist(), rows)]
    U, s, _ = torch.svd(torch.tensor(cells))
    return U[:, :r] @ torch.diag(s[:r].sqrt())
