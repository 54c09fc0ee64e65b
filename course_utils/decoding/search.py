"""From a trained model to an output sequence: greedy decoding and beam search.

A model can be decoded that has two methods: ``start_decoding(source, max_len=...) -> state`` and ``decode_step(state,
tokens) -> (log_probs, state)``, the log-probabilities of the symbol after ``tokens``, shape ``(B, vocab)``. The recurrent
models and the Transformer have them; what a state holds (a GRU's vector, a key/value cache) is the model's own business.
For beam search a state also has ``reorder(rows) -> state``: the given rows of the batch, in that order, perhaps repeated.

Shape letters: ``B`` batch, ``K`` beams, ``L_s`` source length, ``L_out`` length of the longest output.
"""

import math
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..tokenizers import END_ID, PAD_ID, START_ID


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
        tokens: Ids after the start symbol, up to the end symbol, if one came, then padding.
        log_probs: Of each whole sequence, its end symbol included.
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
    ended, or after ``max_len`` symbols, the end symbol included. Call ``model.eval()`` first, or dropout makes the choice.
    """
    _require_inputs(source, max_len)
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


class Beams(NamedTuple):
    """The best output sequences found for each source, best first.

    Args:
        tokens: Ids after the start symbol, up to the end symbol, if one came, then padding.
        scores: What they are ranked by, ``log_probs / length ** length_penalty``; minus infinity where fewer than K
            sequences exist.
        log_probs: Of each whole sequence, its end symbol included.
    """

    tokens: Int[Tensor, "B K L_out"]
    scores: Float[Tensor, "B K"]
    log_probs: Float[Tensor, "B K"]

    def best(self) -> Decoded:
        """The first of each, in the form that ``greedy_decode`` gives."""
        return Decoded(self.tokens[:, 0], self.log_probs[:, 0])


@torch.no_grad()
def beam_search(
    model: StepModel,
    source: Int[Tensor, "B L_s"],
    *,
    max_len: int,
    beam_size: int = 5,
    length_penalty: float = 1.0,
    start_id: int = START_ID,
    end_id: int = END_ID,
    pad_id: int = PAD_ID,
) -> Beams:
    """Follow the ``beam_size`` most probable unfinished sequences at every step instead of one.

    Log-probabilities are added, so that no product of small numbers vanishes. A sequence that takes the end symbol while
    among the best ``beam_size`` is finished: it is set aside and not extended. Finished ones are ranked by log-probability
    divided by ``length ** length_penalty``: without that (``length_penalty=0``) short ones win, having lost less.

    A source is done when ``beam_size`` sequences are finished **and** no live one can still win. A log-probability only
    falls, and a length is at most ``max_len``, so what a live one has now, divided by ``max_len ** length_penalty``, is more
    than it can end with. (To stop as soon as ``beam_size`` are finished would be wrong: two improbable sequences that end
    early would stop a search whose best one is still growing, and two beams would do worse than one.)
    With ``beam_size=1, length_penalty=0`` this is greedy decoding.

    Args:
        model: As for ``greedy_decode``; its states have ``reorder``.
        max_len: Most symbols in an output, the end symbol included. What is unfinished then is ranked as it stands.
        length_penalty: Exponent of the length, at least 0; 1: the mean log-probability of a symbol.

    Source:
        Graves, "Sequence Transduction with Recurrent Neural Networks", 2012, algorithm 1 (beam search); normalization by
        length: Wu et al., "Google's Neural Machine Translation System", 2016, section 7, here with the plain length.
    """
    _require_inputs(source, max_len)
    if beam_size < 1:
        raise ValueError(f"beam_size ({beam_size}) must be at least 1")
    if length_penalty < 0:
        raise ValueError(f"length_penalty ({length_penalty}) must be at least 0")
    batch, device = source.shape[0], source.device
    state = model.start_decoding(source, max_len=max_len)
    # One sequence to begin with; the other beams are impossible until the first step has filled them.
    alive = torch.full((batch, 1, 0), pad_id, dtype=torch.long, device=device)  # (B, beams, step)
    alive_log_probs = torch.zeros(batch, 1, device=device)  # (B, beams)
    finished = torch.full((batch, beam_size, max_len), pad_id, dtype=torch.long, device=device)
    finished_log_probs = torch.full((batch, beam_size), -math.inf, device=device)
    finished_scores = finished_log_probs.clone()
    done = torch.zeros(batch, 1, dtype=torch.bool, device=device)
    tokens = torch.full((batch,), start_id, dtype=torch.long, device=device)
    for step in range(1, max_len + 1):
        log_probs, state = model.decode_step(state, tokens)  # (B * beams, vocab)
        vocab, beams = log_probs.shape[-1], alive.shape[1]
        total = alive_log_probs[:, :, None] + log_probs.view(batch, beams, vocab)  # (B, beams, vocab)
        # Twice as many as beams: each beam can end in one way only, so at least beam_size of them go on.
        best, places = total.flatten(1).topk(min(2 * beam_size, beams * vocab))  # (B, candidates)
        parents, symbols = places // vocab, places % vocab
        grown = torch.cat((alive.gather(1, parents[:, :, None].expand(-1, -1, step - 1)), symbols[:, :, None]), dim=2)
        ended = symbols == end_id
        ranked = torch.arange(best.shape[1], device=device) < beam_size
        last = step == max_len
        new = torch.where((ended | last) & ranked & ~done, best, -math.inf)  # what is finished by this step
        padded = torch.nn.functional.pad(grown, (0, max_len - step), value=pad_id)
        finished_scores, order = torch.cat((finished_scores, new / step**length_penalty), dim=1).topk(beam_size)
        finished_log_probs = torch.cat((finished_log_probs, new), dim=1).gather(1, order)
        finished = torch.cat((finished, padded), dim=1).gather(1, order[:, :, None].expand(-1, -1, max_len))
        alive_log_probs, kept = best.masked_fill(ended, -math.inf).topk(min(beam_size, best.shape[1]))
        beaten = alive_log_probs[:, :1] / max_len**length_penalty <= finished_scores[:, :1]  # no live one can win
        done = finished_scores[:, -1:].isfinite() & beaten  # (B, 1)
        if done.all() or last:
            break
        alive = grown.gather(1, kept[:, :, None].expand(-1, -1, step))  # (B, beams, step)
        tokens = alive[:, :, -1].flatten()  # (B * beams,)
        first_rows = torch.arange(batch, device=device)[:, None] * beams  # (B, 1)
        state = state.reorder((first_rows + parents.gather(1, kept)).flatten())
    longest = int(((finished != pad_id) * torch.arange(1, max_len + 1, device=device)).max())
    return Beams(finished[:, :, :longest], finished_scores, finished_log_probs)


def _require_inputs(source: Tensor, max_len: int) -> None:
    if max_len < 1:
        raise ValueError(f"max_len ({max_len}) must be at least 1")
    if source.dim() != 2 or source.shape[0] == 0:
        raise ValueError(f"source has shape {tuple(source.shape)}; expected (B, L_s) with at least one sequence")
