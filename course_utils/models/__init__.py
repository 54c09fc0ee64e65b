"""Whole models: the encoder-decoder Transformer."""

from .config import TransformerConfig
from .transformer import AttentionWeights, Transformer, count_parameters, make_transformer

__all__ = ["AttentionWeights", "Transformer", "TransformerConfig", "count_parameters", "make_transformer"]
