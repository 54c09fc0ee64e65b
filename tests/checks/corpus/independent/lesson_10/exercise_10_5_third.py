# %% setup
from functools import reduce

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.positions import SinusoidalPositions


def batch_masks(source, target, pad_id):
    L_t = target.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()
    return (source != pad_id)[:, None, None, :], (target != pad_id)[:, None, None, :] & causal


# %% wrong: gives each decoder layer the output of the encoder layer of the same number instead of the last one, which is the same with one layer
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
        x, y = self.source_embedding(source), self.target_embedding(target)
        for encoder_layer, decoder_layer in zip(self.encoder_layers, self.decoder_layers, strict=True):
            x = encoder_layer(x, source_mask)
            y = decoder_layer(y, self.encoder_norm(x), target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))


# %% wrong: normalizes after every decoder layer instead of after the last one only, which is the same with one layer
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
            memory = layer(memory, source_mask)
        memory = self.encoder_norm(memory)
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = self.decoder_norm(layer(y, memory, target_mask=target_mask, memory_mask=source_mask))
        return self.generator(y)


# %% wrong: uses one embedding for source and target when the two vocabularies are equally large
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        if src_vocab == tgt_vocab:
            self.target_embedding = self.source_embedding
        else:
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
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))


# %% wrong: keeps the memory of the last source and takes it again when the same source comes, also after the weights have changed
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList([EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers)])
        self.decoder_layers = nn.ModuleList([DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers)])
        self.encoder_norm, self.decoder_norm = LayerNorm(d_model), LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)
        self.last_source = self.memory = None

    def forward(self, source, target, pad_id):
        source_mask, target_mask = batch_masks(source, target, pad_id)
        if self.last_source is None or not torch.equal(self.last_source, source):
            x = self.source_embedding(source)
            for layer in self.encoder_layers:
                x = layer(x, source_mask)
            self.last_source, self.memory = source.clone(), self.encoder_norm(x)
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, self.memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))


# %% right: sets the parts by name in a loop and folds the layers with reduce, with masks of its own
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        for side, vocabulary in (("source", src_vocab), ("target", tgt_vocab)):
            positions = SinusoidalPositions(d_model, max_len)
            self.add_module(f"{side}_embedding", InputEmbedding(vocabulary, d_model, positions=positions))
        for stack, kind in (("encoder", EncoderLayer), ("decoder", DecoderLayer)):
            layers = nn.ModuleList()
            while len(layers) < num_layers:
                layers.append(kind(d_model, num_heads, d_ff, dropout=0.0))
            self.add_module(f"{stack}_layers", layers)
            self.add_module(f"{stack}_norm", LayerNorm(d_model))
        self.generator = nn.Linear(d_model, tgt_vocab)

    def forward(self, source, target, pad_id):
        places = torch.arange(target.shape[1])
        source_mask = source.ne(pad_id).unsqueeze(1).unsqueeze(1)
        target_mask = torch.logical_and(target.ne(pad_id)[:, None, None], places[:, None] >= places)
        memory = self.encoder_norm(reduce(lambda x, layer: layer(x, source_mask), self.encoder_layers, self.source_embedding(source)))
        y = reduce(
            lambda y, layer: layer(y, memory, target_mask=target_mask, memory_mask=source_mask),
            self.decoder_layers,
            self.target_embedding(target),
        )
        return F.linear(self.decoder_norm(y), self.generator.weight, self.generator.bias)


# %% right: takes the pairs of the batch through the model one by one and joins the logits
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

    def one_pair(self, source, target, pad_id):
        source_mask, target_mask = batch_masks(source, target, pad_id)
        x = self.source_embedding(source)
        for i in range(len(self.encoder_layers)):
            x = self.encoder_layers[i](x, source_mask)
        memory = self.encoder_norm(x)
        y = self.target_embedding(target)
        for i in range(len(self.decoder_layers)):
            y = self.decoder_layers[i](y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))

    def forward(self, source, target, pad_id):
        return torch.cat([self.one_pair(s, t, pad_id) for s, t in zip(source.split(1), target.split(1), strict=True)])
