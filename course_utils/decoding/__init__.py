"""From a trained model to an output sequence: greedy decoding, beam search, sampling."""

from .sampling import LanguageModel, generate, sampling_distribution
from .search import Beams, Decoded, StepModel, beam_search, greedy_decode

__all__ = [
    "Beams",
    "Decoded",
    "LanguageModel",
    "StepModel",
    "beam_search",
    "generate",
    "greedy_decode",
    "sampling_distribution",
]
