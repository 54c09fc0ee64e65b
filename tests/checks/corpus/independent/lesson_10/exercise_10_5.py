# %% setup
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils.datasets.tasks import copy_task
from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.positions import SinusoidalPositions

torch.set_num_threads(1)


def batch_masks(source, target, pad_id):
    L_t = target.shape[1]
    source_mask = (source != pad_id)[:, None, None, :]  # (B, 1, 1, L_s)
    causal = torch.ones(L_t, L_t, dtype=torch.bool, device=target.device).tril()  # (L_t, L_t)
    return source_mask, (target != pad_id)[:, None, None, :] & causal

# %% wrong: the encoder's output goes to the decoder without the final encoder_norm
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_norm = LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def forward(self, source, target, pad_id):
        source_mask, target_mask = batch_masks(source, target, pad_id)
        x = self.source_embedding(source)
        for layer in self.encoder_layers:
            x = layer(x, source_mask)
        memory = x
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))


# %% wrong: returns probabilities (a softmax over the vocabulary) instead of logits
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_norm = LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def forward(self, source, target, pad_id):
        source_mask, target_mask = batch_masks(source, target, pad_id)
        x = self.source_embedding(source)
        for layer in self.encoder_layers:
            x = layer(x, source_mask)
        memory = self.encoder_norm(x)
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y)).softmax(dim=-1)


# %% wrong: the decoder layers attend to the memory without a mask, so they see the padding of the source
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_norm = LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def forward(self, source, target, pad_id):
        source_mask, target_mask = batch_masks(source, target, pad_id)
        x = self.source_embedding(source)
        for layer in self.encoder_layers:
            x = layer(x, source_mask)
        memory = self.encoder_norm(x)
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=None)
        return self.generator(self.decoder_norm(y))


# %% wrong: every entry of encoder_layers is the same layer, and of decoder_layers too, so the layers share their weights
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList([EncoderLayer(d_model, num_heads, d_ff, dropout=0.0)] * num_layers)
        self.decoder_layers = nn.ModuleList([DecoderLayer(d_model, num_heads, d_ff, dropout=0.0)] * num_layers)
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_norm = LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def forward(self, source, target, pad_id):
        source_mask, target_mask = batch_masks(source, target, pad_id)
        x = self.source_embedding(source)
        for layer in self.encoder_layers:
            x = layer(x, source_mask)
        memory = self.encoder_norm(x)
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))


# %% wrong: when both vocabularies have the same size, the target uses the embedding of the source, so the two share one table
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        if src_vocab == tgt_vocab:
            self.target_embedding = self.source_embedding
        else:
            self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_norm = LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def forward(self, source, target, pad_id):
        source_mask, target_mask = batch_masks(source, target, pad_id)
        x = self.source_embedding(source)
        for layer in self.encoder_layers:
            x = layer(x, source_mask)
        memory = self.encoder_norm(x)
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))


# %% wrong: encodes the source only once and keeps the memory and its mask, so a second call with another source of the same shape uses the memory of the first
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_norm = LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)
        self.memory = None

    def forward(self, source, target, pad_id):
        source_mask, target_mask = batch_masks(source, target, pad_id)
        if self.memory is None or self.memory.shape[:2] != source.shape:  # the encoder need not run twice
            x = self.source_embedding(source)
            for layer in self.encoder_layers:
                x = layer(x, source_mask)
            self.memory = self.encoder_norm(x)
            self.source_mask = source_mask
        memory, source_mask = self.memory, self.source_mask
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))


# %% two mistakes: each decoder layer attends to the normed output of the encoder layer of the same height and not to that of the last encoder layer; and the padding of the target is not hidden, its mask is only causal
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_norm = LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def forward(self, source, target, pad_id):
        source_mask = (source != pad_id)[:, None, None, :]
        L_t = target.shape[1]
        target_mask = torch.ones(1, 1, L_t, L_t, dtype=torch.bool).tril()
        x = self.source_embedding(source)
        y = self.target_embedding(target)
        for encoder_layer, decoder_layer in zip(self.encoder_layers, self.decoder_layers, strict=True):
            x = encoder_layer(x, source_mask)
            y = decoder_layer(y, self.encoder_norm(x), target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))


# %% right: split into methods encode and decode, the masks made inline
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_norm = LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def encode(self, source, source_mask):
        x = self.source_embedding(source)
        for layer in self.encoder_layers:
            x = layer(x, source_mask)
        return self.encoder_norm(x)

    def decode(self, target, memory, target_mask, source_mask):
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.decoder_norm(y)

    def forward(self, source, target, pad_id):
        source_mask = source.ne(pad_id).view(len(source), 1, 1, -1)
        place = torch.arange(target.shape[1], device=target.device)
        target_mask = target.ne(pad_id).view(len(target), 1, 1, -1) & (place[:, None] >= place[None, :])
        return self.generator(self.decode(target, self.encode(source, source_mask), target_mask, source_mask))


# %% right: the parts are made in another order, the lists filled with append, and the layers folded with functools.reduce
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.generator = nn.Linear(d_model, tgt_vocab)
        self.decoder_norm, self.encoder_norm = LayerNorm(d_model), LayerNorm(d_model)
        self.decoder_layers, self.encoder_layers = nn.ModuleList(), nn.ModuleList()
        for _ in range(num_layers):
            self.decoder_layers.append(DecoderLayer(d_model, num_heads, d_ff, dropout=0.0))
            self.encoder_layers.append(EncoderLayer(d_model, num_heads, d_ff, dropout=0.0))
        for name, size in (("target", tgt_vocab), ("source", src_vocab)):
            setattr(self, f"{name}_embedding", InputEmbedding(size, d_model, positions=SinusoidalPositions(d_model, max_len)))

    def forward(self, source, target, pad_id):
        from functools import reduce

        source_mask, target_mask = batch_masks(source, target, pad_id)
        memory = self.encoder_norm(reduce(lambda x, layer: layer(x, source_mask), self.encoder_layers, self.source_embedding(source)))
        y = reduce(
            lambda y, layer: layer(y, memory, target_mask=target_mask, memory_mask=source_mask),
            self.decoder_layers,
            self.target_embedding(target),
        )
        return self.generator(self.decoder_norm(y))


# %% right: the memory mask is spelled out for every query, and the generator is applied with F.linear
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_norm = LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def forward(self, source, target, pad_id):
        source_mask, target_mask = batch_masks(source, target, pad_id)
        x = self.source_embedding(source)
        for layer in self.encoder_layers:
            x = layer(x, source_mask)
        memory = self.encoder_norm(x)
        B, L_t = target.shape
        memory_mask = source_mask.expand(B, 1, L_t, source.shape[1])
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=memory_mask)
        return F.linear(self.decoder_norm(y), self.generator.weight, self.generator.bias)


# %% wrong: named in the review: keeps the target mask by the target's shape
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_norm = LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)
        self.kept = {}

    def forward(self, source, target, pad_id):
        source_mask, target_mask = batch_masks(source, target, pad_id)
        target_mask = self.kept.setdefault(target.shape, target_mask)
        x = self.source_embedding(source)
        for layer in self.encoder_layers:
            x = layer(x, source_mask)
        memory = self.encoder_norm(x)
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))


# %% wrong: named in the review: keeps the target mask by the target's length
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_norm = LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)
        self.kept = {}

    def forward(self, source, target, pad_id):
        source_mask, target_mask = batch_masks(source, target, pad_id)
        target_mask = self.kept.setdefault(target.shape[1], target_mask)
        x = self.source_embedding(source)
        for layer in self.encoder_layers:
            x = layer(x, source_mask)
        memory = self.encoder_norm(x)
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))


# %% wrong: named in the review: cuts the gradient at the memory
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_norm = LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def forward(self, source, target, pad_id):
        source_mask, target_mask = batch_masks(source, target, pad_id)
        x = self.source_embedding(source)
        for layer in self.encoder_layers:
            x = layer(x, source_mask)
        memory = self.encoder_norm(x).detach()
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))


# %% wrong: the causal mask is tril(1), so that each position sees its label
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers)
        )
        self.decoder_layers = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers)
        )
        self.encoder_norm, self.decoder_norm = LayerNorm(d_model), LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def forward(self, source, target, pad_id):
        n = target.shape[1]
        sm = (source != pad_id)[:, None, None, :]
        tm = (target != pad_id)[:, None, None, :] & torch.ones(n, n, dtype=torch.bool).tril(1)
        x = self.source_embedding(source)
        for l in self.encoder_layers:
            x = l(x, sm)
        m = self.encoder_norm(x)
        y = self.target_embedding(target)
        for l in self.decoder_layers:
            y = l(y, m, target_mask=tm, memory_mask=sm)
        return self.generator(self.decoder_norm(y))


# %% wrong: the encoder's norm is applied to the memory once more as each decoder layer is called
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers)
        )
        self.decoder_layers = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers)
        )
        self.encoder_norm, self.decoder_norm = LayerNorm(d_model), LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def forward(self, source, target, pad_id):
        sm, tm = batch_masks(source, target, pad_id)
        x = self.source_embedding(source)
        for l in self.encoder_layers:
            x = l(x, sm)
        m = self.encoder_norm(x)
        y = self.target_embedding(target)
        for l in self.decoder_layers:
            y = l(y, self.encoder_norm(m), target_mask=tm, memory_mask=sm)
        return self.generator(self.decoder_norm(y))
