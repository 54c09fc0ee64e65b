# %% setup
import math
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
    L = target.shape[1]
    causal = torch.ones(L, L, dtype=torch.bool).tril()
    return (source != pad_id)[:, None, None, :], (target != pad_id)[:, None, None, :] & causal

# %% wrong: the list of layers repeats one and the same layer object num_layers times, so all layers of a stack share their weights
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList([EncoderLayer(d_model, num_heads, d_ff, dropout=0.0)] * num_layers)
        self.decoder_layers = nn.ModuleList([DecoderLayer(d_model, num_heads, d_ff, dropout=0.0)] * num_layers)
        self.encoder_norm, self.decoder_norm = LayerNorm(d_model), LayerNorm(d_model)
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

# %% wrong: applies encoder_norm after every encoder layer instead of only after the last, which shows only with two or more layers
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList([EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers)])
        self.decoder_layers = nn.ModuleList([DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers)])
        self.encoder_norm, self.decoder_norm = LayerNorm(d_model), LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def forward(self, source, target, pad_id):
        source_mask, target_mask = batch_masks(source, target, pad_id)
        memory = self.source_embedding(source)
        for layer in self.encoder_layers:
            memory = self.encoder_norm(layer(memory, source_mask))
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))

# %% wrong: detaches the memory, so no gradient reaches the encoder
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList([EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers)])
        self.decoder_layers = nn.ModuleList([DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers)])
        self.encoder_norm, self.decoder_norm = LayerNorm(d_model), LayerNorm(d_model)
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

# %% wrong: gives the decoder layers no memory mask, so the decoder looks at the padding of the source
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList([EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers)])
        self.decoder_layers = nn.ModuleList([DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers)])
        self.encoder_norm, self.decoder_norm = LayerNorm(d_model), LayerNorm(d_model)
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

# %% right: own methods encode and decode, masks made inside with arange
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()

        def embedding(vocabulary):
            return InputEmbedding(vocabulary, d_model, positions=SinusoidalPositions(d_model, max_len))

        self.source_embedding, self.target_embedding = embedding(src_vocab), embedding(tgt_vocab)
        self.encoder_layers, self.decoder_layers = nn.ModuleList(), nn.ModuleList()
        for _ in range(num_layers):
            self.encoder_layers.append(EncoderLayer(d_model, num_heads, d_ff, dropout=0.0))
            self.decoder_layers.append(DecoderLayer(d_model, num_heads, d_ff, dropout=0.0))
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_norm = LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def encode(self, source, mask):
        x = self.source_embedding(source)
        for layer in self.encoder_layers:
            x = layer(x, mask)
        return self.encoder_norm(x)

    def decode(self, target, memory, target_mask, memory_mask):
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=memory_mask)
        return self.decoder_norm(y)

    def forward(self, source, target, pad_id):
        source_mask = (source != pad_id)[:, None, None]
        i = torch.arange(target.shape[1])
        target_mask = (target != pad_id)[:, None, None] & (i[:, None] >= i)
        return self.generator(self.decode(target, self.encode(source, source_mask), target_mask, source_mask))

# %% right: runs the stacks with functools.reduce and the generator with F.linear
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.generator = nn.Linear(d_model, tgt_vocab)
        self.decoder_norm = LayerNorm(d_model)
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.encoder_layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))

    def forward(self, source, target, pad_id):
        from functools import reduce
        s_mask, t_mask = batch_masks(source, target, pad_id)
        memory = self.encoder_norm(reduce(lambda x, layer: layer(x, s_mask), self.encoder_layers, self.source_embedding(source)))
        y = reduce(lambda y, layer: layer(y, memory, target_mask=t_mask, memory_mask=s_mask), self.decoder_layers,
                   self.target_embedding(target))
        return F.linear(self.decoder_norm(y), self.generator.weight, self.generator.bias)
