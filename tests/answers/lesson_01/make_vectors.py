# %% setup
import collections
import math

import torch
import torch.nn.functional as F


def count(words, vocabulary, window):
    row = {word: i for i, word in enumerate(vocabulary)}
    counts = torch.zeros(len(vocabulary), len(vocabulary))
    for gap in range(1, window + 1):
        for a, b in zip(words, words[gap:]):
            if a in row and b in row:
                counts[row[a], row[b]] += 1
    return counts + counts.T


def weigh(counts):
    share = counts.sum(dim=1) / counts.sum()
    return torch.log(counts / counts.sum() / (share[:, None] * share)).clamp(min=0)

# %% wrong: takes the words that aren't in the vocabulary out of the text first
def make_vectors(words, vocabulary, window, r):
    words = [word for word in words if word in set(vocabulary)]
    U, sizes, _ = torch.linalg.svd(weigh(count(words, vocabulary, window)))
    return U[:, :r] * sizes[:r].sqrt()

# %% wrong: counts each meeting from one side only
def make_vectors(words, vocabulary, window, r):
    row = {word: i for i, word in enumerate(vocabulary)}
    counts = torch.zeros(len(vocabulary), len(vocabulary))
    for i, a in enumerate(words):
        for b in words[i + 1 : i + 1 + window]:
            if a in row and b in row:
                counts[row[a], row[b]] += 1
    pairs = counts / counts.sum()
    chance = pairs.sum(1, keepdim=True) * pairs.sum(0)
    ppmi = torch.log(pairs / chance).nan_to_num(0.0, 0.0, 0.0).clamp(min=0)
    U, sizes, _ = torch.linalg.svd(ppmi)
    return U[:, :r] * sizes[:r].sqrt()

# %% wrong: the window ends one place too early
def make_vectors(words, vocabulary, window, r):
    row = {word: i for i, word in enumerate(vocabulary)}
    counts = torch.zeros(len(vocabulary), len(vocabulary))
    for i in range(len(words)):
        for j in range(i + 1, min(i + window, len(words))):
            if words[i] in row and words[j] in row:
                counts[row[words[i]], row[words[j]]] += 1
                counts[row[words[j]], row[words[i]]] += 1
    U, sizes, _ = torch.linalg.svd(weigh(counts).nan_to_num())
    return U[:, :r] * sizes[:r].sqrt()

# %% wrong: counts only words that are exactly window places apart
def make_vectors(words, vocabulary, window, r):
    row = {word: i for i, word in enumerate(vocabulary)}
    counts = torch.zeros(len(vocabulary), len(vocabulary))
    for a, b in zip(words, words[window:]):
        if a in row and b in row:
            counts[row[a], row[b]] += 1
    counts = counts + counts.T
    U, sizes, _ = torch.linalg.svd(weigh(counts).nan_to_num())
    return U[:, :r] * sizes[:r].sqrt()

# %% wrong: a logarithm to the base of 2
def make_vectors(words, vocabulary, window, r):
    counts = count(words, vocabulary, window)
    share = counts.sum(dim=1) / counts.sum()
    ppmi = torch.log2(counts / counts.sum() / torch.outer(share, share)).clamp(min=0)
    U, sizes, _ = torch.linalg.svd(ppmi)
    return U[:, :r] * sizes[:r].sqrt()

# %% wrong: keeps negative values, only pairs that never met become 0
def make_vectors(words, vocabulary, window, r):
    counts = count(words, vocabulary, window)
    share = counts.sum(dim=1) / counts.sum()
    pmi = torch.log(counts / counts.sum() / torch.outer(share, share))
    pmi[counts == 0] = 0
    U, sizes, _ = torch.linalg.svd(pmi)
    return U[:, :r] * sizes[:r].sqrt()

# %% wrong: multiplies by the singular values, not by their roots
def make_vectors(words, vocabulary, window, r):
    U, sizes, _ = torch.linalg.svd(weigh(count(words, vocabulary, window)))
    return U[:, :r] * sizes[:r]

# %% wrong: leaves the singular values out
def make_vectors(words, vocabulary, window, r):
    U, _, _ = torch.linalg.svd(weigh(count(words, vocabulary, window)))
    return U[:, :r]

# %% wrong: smooths the counts of the contexts with the power 0.75, as the library does
def make_vectors(words, vocabulary, window, r):
    counts = count(words, vocabulary, window)
    word_share = counts.sum(dim=1) / counts.sum()
    context = counts.sum(dim=0) ** 0.75
    context = context / context.sum()
    ppmi = torch.log(counts / counts.sum() / (word_share[:, None] * context)).clamp(min=0)
    U, sizes, _ = torch.linalg.svd(ppmi)
    return U[:, :r] * sizes[:r].sqrt()

# %% wrong: takes the share of a word from how often it is in the text, not from the meetings
def make_vectors(words, vocabulary, window, r):
    counts = count(words, vocabulary, window)
    frequency = collections.Counter(words)
    share = torch.tensor([frequency[w] / len(words) for w in vocabulary])
    ppmi = torch.log(counts / counts.sum() / (share[:, None] * share)).clamp(min=0)
    U, sizes, _ = torch.linalg.svd(ppmi)
    return U[:, :r] * sizes[:r].sqrt()

# %% wrong: the SVD of the counts, without the comparison with chance
def make_vectors(words, vocabulary, window, r):
    U, sizes, _ = torch.linalg.svd(count(words, vocabulary, window))
    return U[:, :r] * sizes[:r].sqrt()

# %% wrong: doesn't count a word that meets itself
def make_vectors(words, vocabulary, window, r):
    counts = count(words, vocabulary, window)
    counts.fill_diagonal_(0)
    U, sizes, _ = torch.linalg.svd(weigh(counts))
    return U[:, :r] * sizes[:r].sqrt()

# %% wrong: takes the first r columns of the third matrix, which has its directions in rows
def make_vectors(words, vocabulary, window, r):
    U, sizes, V = torch.linalg.svd(weigh(count(words, vocabulary, window)))
    return V[:, :r] * sizes[:r].sqrt()

# %% wrong: by eigenvalues, the largest first by value, so that directions with large negative ones are lost
def make_vectors(words, vocabulary, window, r):
    sizes, U = torch.linalg.eigh(weigh(count(words, vocabulary, window)))
    sizes, U = sizes.flip(0), U.flip(1)
    return U[:, :r] * sizes[:r].abs().sqrt()

# %% wrong: subtracts the mean of each column before the SVD
def make_vectors(words, vocabulary, window, r):
    ppmi = weigh(count(words, vocabulary, window))
    U, sizes, _ = torch.linalg.svd(ppmi - ppmi.mean(dim=0))
    return U[:, :r] * sizes[:r].sqrt()

# %% wrong: brings the vectors to length 1
def make_vectors(words, vocabulary, window, r):
    U, sizes, _ = torch.linalg.svd(weigh(count(words, vocabulary, window)))
    return F.normalize(U[:, :r] * sizes[:r].sqrt(), dim=-1)

# %% wrong: divides each row by its own sum instead of all by the sum of all
def make_vectors(words, vocabulary, window, r):
    counts = count(words, vocabulary, window)
    share = counts.sum(dim=1) / counts.sum()
    rows = counts / counts.sum(dim=1, keepdim=True)
    ppmi = torch.log(rows / (share[:, None] * share)).clamp(min=0)
    U, sizes, _ = torch.linalg.svd(ppmi)
    return U[:, :r] * sizes[:r].sqrt()

# %% two mistakes: takes other words out of the text first; and multiplies by the whole singular values
def make_vectors(words, vocabulary, window, r):
    words = [word for word in words if word in vocabulary]
    U, sizes, _ = torch.linalg.svd(weigh(count(words, vocabulary, window)))
    return U[:, :r] * sizes[:r]

# %% two mistakes: keeps negative values; and leaves the singular values out
def make_vectors(words, vocabulary, window, r):
    counts = count(words, vocabulary, window)
    share = counts.sum(dim=1) / counts.sum()
    pmi = torch.log(counts / counts.sum() / (share[:, None] * share))
    pmi[pmi.isinf()] = 0
    U, _, _ = torch.linalg.svd(pmi)
    return U[:, :r]

# %% right: by eigenvalues, ordered by their size without the sign
def make_vectors(words, vocabulary, window, r):
    sizes, U = torch.linalg.eigh(weigh(count(words, vocabulary, window)).double())
    order = sizes.abs().argsort(descending=True)[:r]
    return (U[:, order] * sizes[order].abs().sqrt()).float()

# %% right: looks to both sides of each word and counts in a Counter; the table number by number
def make_vectors(words, vocabulary, window, r):
    met = collections.Counter()
    for i, word in enumerate(words):
        for j in range(max(0, i - window), min(len(words), i + window + 1)):
            if j != i and word in vocabulary and words[j] in vocabulary:
                met[word, words[j]] += 1
    total = sum(met.values())
    alone = collections.Counter()
    for (word, _), n in met.items():
        alone[word] += n
    table = []
    for a in vocabulary:
        line = []
        for b in vocabulary:
            if met[a, b] == 0:
                line.append(0.0)
            else:
                line.append(max(0.0, math.log(met[a, b] * total / (alone[a] * alone[b]))))
        table.append(line)
    U, sizes, _ = torch.linalg.svd(torch.tensor(table))
    return U[:, :r] @ torch.diag(sizes[:r].sqrt())

# %% right: counts by products of one-hot tables; takes the directions from the other side, which is the same up to signs
def make_vectors(words, vocabulary, window, r):
    hot = torch.tensor([[float(w == v) for v in vocabulary] for w in words])
    counts = torch.zeros(len(vocabulary), len(vocabulary))
    for gap in range(1, min(window, len(words) - 1) + 1):
        counts += hot[:-gap].T @ hot[gap:] + hot[gap:].T @ hot[:-gap]
    total = counts.sum()
    ratio = counts * total / (counts.sum(0) * counts.sum(0)[:, None])
    ppmi = torch.where(ratio > 1, ratio, torch.ones_like(ratio)).log()
    _, sizes, Vh = torch.linalg.svd(ppmi)
    return (sizes[:r].sqrt()[:, None] * Vh[:r]).T

# %% right: counts every meeting four times, which changes no share; in float64 to the end
def make_vectors(words, vocabulary, window, r):
    row = dict(zip(vocabulary, range(len(vocabulary))))
    counts = torch.zeros(len(row), len(row), dtype=torch.float64)
    for i in range(len(words)):
        for j in range(len(words)):
            if 0 < abs(i - j) <= window and words[i] in row and words[j] in row:
                counts[row[words[i]], row[words[j]]] += 1
                counts[row[words[j]], row[words[i]]] += 1
    p = counts / counts.sum()
    pmi = p.log() - p.sum(1, keepdim=True).log() - p.sum(0).log()
    U, sizes, _ = torch.linalg.svd(pmi.clamp(min=0))
    return U[:, :r] * sizes[:r] ** 0.5
