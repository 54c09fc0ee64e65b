"""The layers of a Transformer: embedding, norms, feed-forward networks, residual connections, encoder and decoder layer."""

from .decoder import DecoderLayer
from .decoder_only import FEED_FORWARDS, NORMS, DecoderOnlyLayer
from .embedding import InputEmbedding, embedded
from .encoder import EncoderLayer
from .feed_forward import FeedForward, SwiGLU
from .norms import LayerNorm, RMSNorm, layer_norm, rms_norm
from .residual import Residual

__all__ = [
    "FEED_FORWARDS",
    "NORMS",
    "DecoderLayer",
    "DecoderOnlyLayer",
    "EncoderLayer",
    "FeedForward",
    "InputEmbedding",
    "LayerNorm",
    "RMSNorm",
    "Residual",
    "SwiGLU",
    "embedded",
    "layer_norm",
    "rms_norm",
]
