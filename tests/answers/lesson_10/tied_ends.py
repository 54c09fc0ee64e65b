# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: two matrices, nothing is shared
class TiedEnds(nn.Module):
    def __init__(self, vocab, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.generator = nn.Linear(d_model, vocab)

    def embed(self, ids):
        return self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)

    def logits(self, hidden):
        return self.generator(hidden)

# %% wrong: the embedding is not scaled
class TiedEnds(nn.Module):
    def __init__(self, vocab, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.generator = nn.Linear(d_model, vocab)
        self.generator.weight = self.embedding.weight

    def embed(self, ids):
        return self.embedding(ids)

    def logits(self, hidden):
        return self.generator(hidden)

# %% two mistakes: nothing is scaled and nothing is shared
class TiedEnds(nn.Module):
    def __init__(self, vocab, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.generator = nn.Linear(d_model, vocab)

    def embed(self, ids):
        return self.embedding(ids)

    def logits(self, hidden):
        return self.generator(hidden)

# %% two mistakes: no bias, and the numbers are only copied
class TiedEnds(nn.Module):
    def __init__(self, vocab, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.generator = nn.Linear(d_model, vocab, bias=False)
        self.generator.weight.data.copy_(self.embedding.weight.data)

    def embed(self, ids):
        return self.embedding(ids) * self.embedding.embedding_dim**0.5

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

# %% right: the embedding takes the generator's matrix, and looks rows up by indexing
class TiedEnds(nn.Module):
    def __init__(self, vocab, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.generator = nn.Linear(d_model, vocab)
        self.embedding.weight = self.generator.weight

    def embed(self, ids):
        return self.generator.weight[ids] * math.sqrt(self.generator.in_features)

    def logits(self, hidden):
        return hidden @ self.embedding.weight.T + self.generator.bias

# %% right: the two modules are made around one Parameter
class TiedEnds(nn.Module):
    def __init__(self, vocab, d_model):
        super().__init__()
        matrix = nn.Parameter(torch.randn(vocab, d_model) / d_model**0.5)
        self.embedding, self.generator = nn.Embedding(vocab, d_model), nn.Linear(d_model, vocab)
        self.embedding.weight = self.generator.weight = matrix

    def embed(self, ids):
        return F.embedding(ids, self.embedding.weight) * self.embedding.embedding_dim**0.5

    def logits(self, hidden):
        return F.linear(hidden, self.generator.weight, self.generator.bias)

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
