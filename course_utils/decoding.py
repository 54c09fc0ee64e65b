"""From a trained model to an output sequence: greedy decoding.

A model can be decoded that has two methods: ``start_decoding(source, max_len=...) -> state`` and ``decode_step(state,
tokens) -> (log_probs, state)``, the log-probabilities of the symbol after ``tokens``, shape ``(B, vocab)``. The recurrent
models and the Transformer have them; what a state holds (a GRU's vector, a key/value cache) is the model's own business.

Shape letters: ``B`` batch, ``L_s`` source length, ``L_out`` length of the longest output.
"""

from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .tokenizers import END_ID, PAD_ID, START_ID


@runtime_checkable
class StepModel(Protocol):
    """What a model must offer to be decoded."""

    def start_decoding(self, source: Tensor, *, max_len: int) -> Any:
        """The state before the first symbol."""

    def decode_step(self, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        """Log-probabilities of the next symbol, and the state from which to go on."""


class Decoded(NamedTuple):
    """Output sequences.

    Args:
        tokens: Ids after the start symbol, shape ``(B, L_out)``: up to the end symbol, if one came, then padding.
        log_probs: Of each whole sequence, its end symbol included, shape ``(B,)``.
    """

    tokens: Int[Tensor, "B L_out"]
    log_probs: Float[Tensor, " B"]


@torch.no_grad()
def greedy_decode(
    model: StepModel,
    source: Int[Tensor, "B L_s"],
    *,
    max_len: int,
    start_id: int = START_ID,
    end_id: int = END_ID,
    pad_id: int = PAD_ID,
) -> Decoded:
    """Take the most probable symbol at every step, until each sequence has ended.

    A sequence that has ended gets padding, and nothing more is added to its log-probability; decoding stops when all have
    ended. Call ``model.eval()`` first, or dropout makes the choice.

    Args:
        model: Anything with ``start_decoding`` and ``decode_step``.
        source: Ids, shape ``(B, L_s)``.
        max_len: Most symbols in an output, the end symbol included.
        start_id: What stands before the first symbol.
        end_id: What ends a sequence.
        pad_id: What follows the end.

    Returns:
        The sequences and their log-probabilities.

    Raises:
        ValueError: ``max_len`` is not positive, or ``source`` holds no sequence.
    """
    if max_len < 1:
        raise ValueError(f"max_len ({max_len}) must be at least 1")
    if source.dim() != 2 or source.shape[0] == 0:
        raise ValueError(f"source has shape {tuple(source.shape)}; expected (B, L_s) with at least one sequence")
    state = model.start_decoding(source, max_len=max_len)
    tokens = torch.full((source.shape[0],), start_id, dtype=torch.long, device=source.device)
    ended = torch.zeros_like(tokens, dtype=torch.bool)
    total = torch.zeros(source.shape[0], device=source.device)
    output = []
    for _ in range(max_len):
        log_probs, state = model.decode_step(state, tokens)  # (B, vocab)
        best, tokens = log_probs.max(dim=-1)  # (B,)
        total = total + best.masked_fill(ended, 0.0)
        tokens = tokens.masked_fill(ended, pad_id)
        output.append(tokens)
        ended = ended | (tokens == end_id)
        if ended.all():
            break
    return Decoded(torch.stack(output, dim=1), total)
