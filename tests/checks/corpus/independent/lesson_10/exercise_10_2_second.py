# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: nn.Parameter(embedding.weight) makes a second parameter over the same numbers
class TiedEnds(nn.Module):
    def __init__(self, vocab, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.generator = nn.Linear(d_model, vocab)
        self.generator.weight = nn.Parameter(self.embedding.weight)
        self.root = math.sqrt(d_model)

    def embed(self, ids):
        return self.embedding(ids) * self.root

    def logits(self, hidden):
        return self.generator(hidden)


# %% wrong: from_pretrained wraps the generator's numbers in a parameter of their own, so an optimizer sees two
class TiedEnds(nn.Module):
    def __init__(self, vocab, d_model):
        super().__init__()
        self.generator = nn.Linear(d_model, vocab)
        self.embedding = nn.Embedding.from_pretrained(self.generator.weight, freeze=False)

    def embed(self, ids):
        return self.embedding(ids) * self.generator.in_features**0.5

    def logits(self, hidden):
        return self.generator(hidden)


# %% wrong: copies the embedding's numbers into the generator at every call, so there are two parameters and the generator's own never learns
class TiedEnds(nn.Module):
    def __init__(self, vocab, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.generator = nn.Linear(d_model, vocab)

    def embed(self, ids):
        return self.embedding(ids) * self.embedding.embedding_dim**0.5

    def logits(self, hidden):
        with torch.no_grad():
            self.generator.weight.copy_(self.embedding.weight)
        return self.generator(hidden)


# %% wrong: the root is taken in whole numbers, so it is too small unless d_model is a square
class TiedEnds(nn.Module):
    def __init__(self, vocab, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.generator = nn.Linear(d_model, vocab)
        self.generator.weight = self.embedding.weight
        self.root = math.isqrt(d_model)

    def embed(self, ids):
        return self.embedding(ids) * self.root

    def logits(self, hidden):
        return self.generator(hidden)


# %% wrong: multiplies by the root of the vocabulary's size
class TiedEnds(nn.Module):
    def __init__(self, vocab, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.generator = nn.Linear(d_model, vocab)
        self.generator.weight = self.embedding.weight

    def embed(self, ids):
        return self.embedding(ids) * math.sqrt(len(self.embedding.weight))

    def logits(self, hidden):
        return self.generator(hidden)


# %% wrong: the generator divides by the root, to undo the scaling of the embedding
class TiedEnds(nn.Module):
    def __init__(self, vocab, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.generator = nn.Linear(d_model, vocab)
        self.embedding.weight = self.generator.weight
        self.root = d_model**0.5

    def embed(self, ids):
        return self.embedding(ids) * self.root

    def logits(self, hidden):
        return self.generator(hidden / self.root)


# %% wrong: embed multiplies the shared matrix itself by the root, in place, at every call
class TiedEnds(nn.Module):
    def __init__(self, vocab, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.generator = nn.Linear(d_model, vocab)
        self.generator.weight = self.embedding.weight
        self.d_model = d_model

    def embed(self, ids):
        self.embedding.weight.data *= self.d_model**0.5
        return self.embedding(ids)

    def logits(self, hidden):
        return self.generator(hidden)


# %% right: ties through setattr, multiplies the vectors in place after looking them up, logits by einsum
class TiedEnds(nn.Module):
    def __init__(self, vocab, d_model):
        super().__init__()
        self.add_module("generator", nn.Linear(d_model, vocab, bias=True))
        self.add_module("embedding", nn.Embedding(vocab, d_model))
        setattr(self.embedding, "weight", self.generator.weight)

    def embed(self, ids):
        vectors = self.embedding(ids)
        return vectors.mul_(vectors.shape[-1] ** 0.5)

    def logits(self, hidden):
        scores = torch.einsum("bld,vd->blv", hidden, self.generator.weight)
        return scores + self.generator.bias


# %% right: the root as a buffer that is not saved
class TiedEnds(nn.Module):
    def __init__(self, vocab, d_model):
        super().__init__()
        self.register_buffer("root", torch.tensor(float(d_model)).sqrt(), persistent=False)
        self.embedding = nn.Embedding(vocab, d_model)
        self.generator = nn.Linear(d_model, vocab)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.generator.weight = self.embedding.weight

    def embed(self, ids):
        return self.root * self.embedding(ids)

    def logits(self, hidden):
        return self.generator.forward(hidden)
