"""Whole models: the encoder-decoder Transformer and the decoder-only language model."""

from .config import DecoderConfig, TransformerConfig
from .decoder_lm import DecoderLM
from .transformer import Transformer, count_parameters, make_transformer

__all__ = [
    "DecoderConfig",
    "DecoderLM",
    "Transformer",
    "TransformerConfig",
    "count_parameters",
    "make_transformer",
]
