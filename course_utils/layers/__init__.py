"""The layers of a Transformer: embedding, norms, feed-forward networks, residual connections, encoder and decoder layer."""

from .blocks import DecoderLayer, DecoderOnlyLayer, EncoderLayer, Residual
from .embedding import InputEmbedding
from .feed_forward import FeedForward, SwiGLU
from .norms import LayerNorm, RMSNorm, layer_norm, rms_norm

__all__ = [
    "DecoderLayer",
    "DecoderOnlyLayer",
    "EncoderLayer",
    "FeedForward",
    "InputEmbedding",
    "LayerNorm",
    "RMSNorm",
    "Residual",
    "SwiGLU",
    "layer_norm",
    "rms_norm",
]
