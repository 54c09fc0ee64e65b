# %% setup
import torch
from torch import nn

from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.positions import SinusoidalPositions


class Parts(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()

        def embedding(size):
            return InputEmbedding(size, d_model, positions=SinusoidalPositions(d_model, max_len))

        self.source_embedding, self.target_embedding = embedding(src_vocab), embedding(tgt_vocab)
        self.encoder_layers, self.decoder_layers = nn.ModuleList(), nn.ModuleList()
        for _ in range(num_layers):
            self.encoder_layers.append(EncoderLayer(d_model, num_heads, d_ff, dropout=0.0))
            self.decoder_layers.append(DecoderLayer(d_model, num_heads, d_ff, dropout=0.0))
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_norm = LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def masks(self, source, target, pad_id):
        place = torch.arange(target.shape[1])
        future = place[:, None] >= place
        return (source != pad_id)[:, None, None], (target != pad_id)[:, None, None] & future

# %% wrong: the memory skips the encoder's final norm
class MyTransformer(Parts):
    def forward(self, sources, target, pad_id):
        B, K, L_s = sources.shape
        source = sources.flatten(0, 1)
        source_mask, target_mask = self.masks(source, target, pad_id)
        memory = self.source_embedding(source)
        for layer in self.encoder_layers:
            memory = layer(memory, source_mask)
        memory = memory.reshape(B, K * L_s, -1)
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask.reshape(B, 1, 1, -1))
        return self.generator(self.decoder_norm(y))

# %% wrong: returns probabilities
class MyTransformer(Parts):
    def forward(self, sources, target, pad_id):
        B, K, L_s = sources.shape
        source = sources.flatten(0, 1)
        source_mask, target_mask = self.masks(source, target, pad_id)
        memory = self.source_embedding(source)
        for layer in self.encoder_layers:
            memory = layer(memory, source_mask)
        memory, y = self.encoder_norm(memory).reshape(B, K * L_s, -1), self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask.reshape(B, 1, 1, -1))
        return self.generator(self.decoder_norm(y)).softmax(-1)

# %% wrong: the encoder runs without a mask, so its layers look at the padding
class MyTransformer(Parts):
    def forward(self, sources, target, pad_id):
        B, K, L_s = sources.shape
        source = sources.flatten(0, 1)
        source_mask, target_mask = self.masks(source, target, pad_id)
        memory = self.source_embedding(source)
        for layer in self.encoder_layers:
            memory = layer(memory)
        memory, y = self.encoder_norm(memory).reshape(B, K * L_s, -1), self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask.reshape(B, 1, 1, -1))
        return self.generator(self.decoder_norm(y))

# %% two mistakes: the target's padding is not hidden, and the decoder's stack ends with the encoder's norm
class MyTransformer(Parts):
    def forward(self, sources, target, pad_id):
        B, K, L_s = sources.shape
        source = sources.flatten(0, 1)
        source_mask, target_mask = self.masks(source, target, pad_id)
        memory = self.source_embedding(source)
        for layer in self.encoder_layers:
            memory = layer(memory, source_mask)
        memory, y = self.encoder_norm(memory).reshape(B, K * L_s, -1), self.target_embedding(target)
        place = torch.arange(target.shape[1])
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=place[:, None] >= place, memory_mask=source_mask.reshape(B, 1, 1, -1))
        return self.generator(self.encoder_norm(y))

# %% wrong: the sources are laid end to end and kept apart by a mask, so that positions run on from one to the next
class MyTransformer(Parts):
    def forward(self, sources, target, pad_id):
        source = sources.flatten(1)
        source_mask, target_mask = self.masks(source, target, pad_id)
        which = torch.arange(sources.shape[1]).repeat_interleave(sources.shape[2])
        own = source_mask & (which[:, None] == which)
        memory = self.source_embedding(source)
        for layer in self.encoder_layers:
            memory = layer(memory, own)
        memory, y = self.encoder_norm(memory), self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))

# %% wrong: each source is decoded on its own and the logits are averaged, so every source has a softmax of its own
class MyTransformer(Parts):
    def forward(self, sources, target, pad_id):
        logits = []
        for source in sources.unbind(1):
            source_mask, target_mask = self.masks(source, target, pad_id)
            memory = self.source_embedding(source)
            for layer in self.encoder_layers:
                memory = layer(memory, source_mask)
            memory, y = self.encoder_norm(memory), self.target_embedding(target)
            for layer in self.decoder_layers:
                y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
            logits.append(self.generator(self.decoder_norm(y)))
        return torch.stack(logits).mean(0)

# %% right: a loop over the sources, whose memories are joined
class MyTransformer(Parts):
    def forward(self, sources, target, pad_id):
        memories, hidden = [], []
        for source in sources.unbind(1):
            source_mask, target_mask = self.masks(source, target, pad_id)
            x = self.source_embedding(source)
            for layer in self.encoder_layers:
                x = layer(x, source_mask)
            memories.append(self.encoder_norm(x))
            hidden.append(source_mask)
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, torch.cat(memories, 1), target_mask=target_mask, memory_mask=torch.cat(hidden, -1))
        return self.generator(self.decoder_norm(y))

# %% right: parts from a base class of its own
class MyTransformer(Parts):
    def forward(self, sources, target, pad_id):
        B, K, L_s = sources.shape
        source = sources.flatten(0, 1)
        source_mask, target_mask = self.masks(source, target, pad_id)
        memory = self.source_embedding(source)
        for layer in self.encoder_layers:
            memory = layer(memory, source_mask)
        memory, y = self.encoder_norm(memory).reshape(B, K * L_s, -1), self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask.reshape(B, 1, 1, -1))
        return self.generator(self.decoder_norm(y))

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

    def forward(self, sources, target, pad_id):
        B, K, L_s = sources.shape
        source = sources.flatten(0, 1)
        source_mask, target_mask = batch_masks(source, target, pad_id)
        x = self.source_embedding(source)
        for layer in self.encoder_layers:
            x = layer(x, source_mask)
        memory = self.encoder_norm(x).reshape(B, K * L_s, -1)
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask.reshape(B, 1, 1, -1))
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

    def forward(self, sources, target, pad_id):
        B, K, L_s = sources.shape
        source = sources.flatten(0, 1)
        source_mask = (source != pad_id)[:, None, None, :]
        L_t = target.shape[1]
        target_mask = torch.ones(1, 1, L_t, L_t, dtype=torch.bool).tril()
        x = self.source_embedding(source)
        y = self.target_embedding(target)
        for encoder_layer, decoder_layer in zip(self.encoder_layers, self.decoder_layers, strict=True):
            x = encoder_layer(x, source_mask)
            y = decoder_layer(y, self.encoder_norm(x).reshape(B, K * L_s, -1), target_mask=target_mask, memory_mask=source_mask.reshape(B, 1, 1, -1))
        return self.generator(self.decoder_norm(y))

# %% wrong: cuts the gradient at the memory
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

    def forward(self, sources, target, pad_id):
        B, K, L_s = sources.shape
        source = sources.flatten(0, 1)
        source_mask, target_mask = batch_masks(source, target, pad_id)
        x = self.source_embedding(source)
        for layer in self.encoder_layers:
            x = layer(x, source_mask)
        memory = self.encoder_norm(x).reshape(B, K * L_s, -1).detach()
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask.reshape(B, 1, 1, -1))
        return self.generator(self.decoder_norm(y))

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

    def forward(self, sources, target, pad_id):
        B, K, L_s = sources.shape
        source = sources.flatten(0, 1)
        source_mask, target_mask = batch_masks(source, target, pad_id)
        if self.last_source is None or not torch.equal(self.last_source, source):
            x = self.source_embedding(source)
            for layer in self.encoder_layers:
                x = layer(x, source_mask)
            self.last_source, self.memory = source.clone(), self.encoder_norm(x).reshape(B, K * L_s, -1)
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, self.memory, target_mask=target_mask, memory_mask=source_mask.reshape(B, 1, 1, -1))
        return self.generator(self.decoder_norm(y))

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

    def one_pair(self, source, target, pad_id):  # (K, L_s), (1, L_t)
        source_mask, target_mask = batch_masks(source, target, pad_id)
        x = self.source_embedding(source)
        for i in range(len(self.encoder_layers)):
            x = self.encoder_layers[i](x, source_mask)
        memory = self.encoder_norm(x).flatten(0, 1)[None]
        y = self.target_embedding(target)
        for i in range(len(self.decoder_layers)):
            y = self.decoder_layers[i](y, memory, target_mask=target_mask, memory_mask=source_mask.reshape(1, 1, 1, -1))
        return self.generator(self.decoder_norm(y))

    def forward(self, sources, target, pad_id):
        return torch.cat([self.one_pair(s, t, pad_id) for s, t in zip(sources, target.split(1), strict=True)])

# %% setup
import torch
from torch import nn
from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.positions import SinusoidalPositions


def batch_masks(source, target, pad_id):
    L_t = target.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()
    return (source != pad_id)[:, None, None], (target != pad_id)[:, None, None] & causal

# %% right: reduce over the layers, modules added by setattr
class MyTransformer(nn.Module):
    def __init__(
        self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len
    ):
        super().__init__()
        for side, vocab in {"source": src_vocab, "target": tgt_vocab}.items():
            table = SinusoidalPositions(d_model, max_len)
            self.add_module(f"{side}_embedding", InputEmbedding(vocab, d_model, positions=table))
        for side, kind in {"encoder": EncoderLayer, "decoder": DecoderLayer}.items():
            stack = nn.ModuleList()
            while len(stack) < num_layers:
                stack.append(kind(d_model, num_heads, d_ff, dropout=0.0))
            self.add_module(f"{side}_layers", stack)
            self.add_module(f"{side}_norm", LayerNorm(d_model))
        self.generator = nn.Linear(d_model, tgt_vocab)

    def forward(self, sources, target, pad_id):
        B, K, L_s = sources.shape
        source = sources.flatten(0, 1)
        source_mask, target_mask = batch_masks(source, target, pad_id)
        from functools import reduce
        encoded = reduce(lambda x, layer: layer(x, source_mask), self.encoder_layers, self.source_embedding(source))
        masks = dict(memory=self.encoder_norm(encoded).reshape(B, K * L_s, -1), target_mask=target_mask, memory_mask=source_mask.reshape(B, 1, 1, -1))
        decoded = reduce(lambda y, layer: layer(y, **masks), self.decoder_layers, self.target_embedding(target))
        return self.generator(self.decoder_norm(decoded))
