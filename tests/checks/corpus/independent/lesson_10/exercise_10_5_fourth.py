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
    def forward(self, source, target, pad_id):
        source_mask, target_mask = self.masks(source, target, pad_id)
        memory = self.source_embedding(source)
        for layer in self.encoder_layers:
            memory = layer(memory, source_mask)
        y = self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))


# %% wrong: returns probabilities
class MyTransformer(Parts):
    def forward(self, source, target, pad_id):
        source_mask, target_mask = self.masks(source, target, pad_id)
        memory = self.source_embedding(source)
        for layer in self.encoder_layers:
            memory = layer(memory, source_mask)
        memory, y = self.encoder_norm(memory), self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y)).softmax(-1)


# %% wrong: the encoder runs without a mask, so its layers look at the padding
class MyTransformer(Parts):
    def forward(self, source, target, pad_id):
        source_mask, target_mask = self.masks(source, target, pad_id)
        memory = self.source_embedding(source)
        for layer in self.encoder_layers:
            memory = layer(memory)
        memory, y = self.encoder_norm(memory), self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))


# %% two mistakes: the target's padding is not hidden, and the decoder's stack ends with the encoder's norm
class MyTransformer(Parts):
    def forward(self, source, target, pad_id):
        source_mask, target_mask = self.masks(source, target, pad_id)
        memory = self.source_embedding(source)
        for layer in self.encoder_layers:
            memory = layer(memory, source_mask)
        memory, y = self.encoder_norm(memory), self.target_embedding(target)
        place = torch.arange(target.shape[1])
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=place[:, None] >= place, memory_mask=source_mask)
        return self.generator(self.encoder_norm(y))


# %% right: parts from a base class of its own
class MyTransformer(Parts):
    def forward(self, source, target, pad_id):
        source_mask, target_mask = self.masks(source, target, pad_id)
        memory = self.source_embedding(source)
        for layer in self.encoder_layers:
            memory = layer(memory, source_mask)
        memory, y = self.encoder_norm(memory), self.target_embedding(target)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))
