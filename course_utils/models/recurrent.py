"""The recurrent encoder-decoder, without and with attention: what came before the Transformer.

Shape letters: ``B`` batch, ``L_s`` source length, ``L_t`` target length, ``d_embed`` size of an embedding, ``d_hidden`` size
of a state.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ..arguments import require_probability, require_sizes
from ..attention import AdditiveAttention


class Encoded(NamedTuple):
    """What the encoder hands on.

    Args:
        states: One for each source position, both directions side by side (``2 * d_hidden``); zeros at padding.
        summary: The last forward and the last backward state, side by side.
        mask: True at real source positions.
    """

    states: Float[Tensor, "B L_s d_states"]
    summary: Float[Tensor, "B d_states"]
    mask: Bool[Tensor, "B 1 L_s"]


class RecurrentEncoder(nn.Module):
    """Embedding (with dropout, in training) and a GRU in both directions, each with a state of size ``d_hidden``.

    Positions that hold ``pad_id`` are not read. ``vocab_size`` counts the special symbols too.

    Source:
        Bahdanau et al., "Neural Machine Translation by Jointly Learning to Align and Translate", 2015, section 3.2.
    """

    def __init__(self, vocab_size: int, d_embed: int, d_hidden: int, *, dropout: float = 0.0, pad_id: int = 0) -> None:
        super().__init__()
        require_sizes(vocab_size=vocab_size, d_embed=d_embed, d_hidden=d_hidden)
        require_probability(dropout=dropout)
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_embed, padding_idx=pad_id)
        self.dropout = nn.Dropout(dropout)
        self.gru = nn.GRU(d_embed, d_hidden, batch_first=True, bidirectional=True)

    def forward(self, source: Int[Tensor, "B L_s"]) -> Encoded:
        """Read the source.

        Raises:
            ValueError: A source holds no symbol besides padding, or has padding before a symbol.
        """
        mask = source != self.pad_id  # (B, L_s)
        lengths = mask.sum(1)  # (B,)
        if source.shape[1] == 0 or (lengths == 0).any():
            raise ValueError("a source is empty: expected at least one symbol besides padding in every row")
        if (mask[:, 1:] & ~mask[:, :-1]).any():
            raise ValueError("a source has padding before a symbol; expected padding at the end only")
        embedded = self.dropout(self.embedding(source))  # (B, L_s, d_embed)
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, last = self.gru(packed)  # last: (2, B, d_hidden)
        states, _ = pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])  # (B, L_s, 2 d_hidden)
        return Encoded(states, torch.cat((last[0], last[1]), dim=-1), mask[:, None, :])


@dataclass(frozen=True)
class RecurrentState:
    """Where decoding stands.

    Args:
        hidden: The decoder's state.
        encoded: What the encoder handed on.
        weights: Attention of the last step; None before the first and without attention.
    """

    hidden: Float[Tensor, "B d_hidden"]
    encoded: Encoded
    weights: Float[Tensor, "B L_s"] | None = None

    def reorder(self, rows: Int[Tensor, " B_new"]) -> "RecurrentState":
        """The state of the given rows of the batch, in that order; a row may be taken several times."""
        return RecurrentState(
            self.hidden[rows],
            Encoded(*(part[rows] for part in self.encoded)),
            None if self.weights is None else self.weights[rows],
        )


class RecurrentSeq2Seq(nn.Module):
    """A GRU encoder-decoder. With attention, each step looks at all encoder states; without, at their summary alone.

    At step t the context ``c_t`` is computed from the state before the step: with attention it is the average of the
    encoder's states weighted by ``AdditiveAttention(query=s_{t-1})``, without it is the same summary at every step. The GRU
    reads the embedding of the previous target symbol joined with ``c_t`` and gives ``s_t``; the scores of the next symbol
    are a linear function of ``s_t``, ``c_t`` and that embedding.

    Args:
        src_vocab: Source symbols, special ones included.
        tgt_vocab: Target symbols, special ones included.
        attention: Whether the decoder attends.
        d_hidden: Size of a state (of one direction, in the encoder).
        dropout: On embeddings and before the output layer, in training.
        pad_id: Padding, of the source and of the target.

    Source:
        With attention: Bahdanau et al., 2015, sections 3.1-3.2 and appendix A. Without: Cho et al., "Learning Phrase
        Representations using RNN Encoder-Decoder for Statistical Machine Translation", 2014, section 2.2.
    """

    def __init__(
        self,
        src_vocab: int,
        tgt_vocab: int,
        *,
        attention: bool,
        d_embed: int = 64,
        d_hidden: int = 128,
        dropout: float = 0.0,
        pad_id: int = 0,
    ) -> None:
        super().__init__()
        require_sizes(tgt_vocab=tgt_vocab)
        self.encoder = RecurrentEncoder(src_vocab, d_embed, d_hidden, dropout=dropout, pad_id=pad_id)
        self.first_state = nn.Linear(2 * d_hidden, d_hidden)
        self.attention = AdditiveAttention(d_hidden, 2 * d_hidden, d_hidden) if attention else None
        self.embedding = nn.Embedding(tgt_vocab, d_embed, padding_idx=pad_id)
        self.cell = nn.GRUCell(d_embed + 2 * d_hidden, d_hidden)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(d_embed + 3 * d_hidden, tgt_vocab)

    def forward(self, source: Int[Tensor, "B L_s"], target: Int[Tensor, "B L_t"]) -> Float[Tensor, "B L_t tgt_vocab"]:
        """Logits of the symbol after each target position, the true symbols before it being given (teacher forcing).

        Sources are padded at the end, targets begin with the start symbol; position t scores the symbol at t + 1.
        """
        if source.shape[0] != target.shape[0]:
            raise ValueError(f"{source.shape[0]} sources but {target.shape[0]} targets; they must agree")
        state = self.start_decoding(source)
        embedded = self.dropout(self.embedding(target))  # (B, L_t, d_embed)
        features = []
        for step in range(target.shape[1]):
            joined, state = self._step(state, embedded[:, step])
            features.append(joined)
        return self.output(self.dropout(torch.stack(features, dim=1)))  # (B, L_t, tgt_vocab)

    def start_decoding(self, source: Int[Tensor, "B L_s"], *, max_len: int | None = None) -> RecurrentState:
        """Read the source; the state before the first symbol. ``max_len`` is not needed here: a GRU's state never grows."""
        encoded = self.encoder(source)
        return RecurrentState(torch.tanh(self.first_state(encoded.summary)), encoded)

    def decode_step(
        self, state: RecurrentState, tokens: Int[Tensor, " B"]
    ) -> tuple[Float[Tensor, "B tgt_vocab"], RecurrentState]:
        """One step: the log-probabilities of the symbol after ``tokens``, and the state from which to go on."""
        joined, state = self._step(state, self.dropout(self.embedding(tokens)))
        return self.output(self.dropout(joined)).log_softmax(-1), state

    def _step(self, state: RecurrentState, embedded: Tensor) -> tuple[Tensor, RecurrentState]:
        encoded, weights = state.encoded, None
        if self.attention is None:
            context = encoded.summary  # (B, 2 d_hidden)
        else:
            query = state.hidden[:, None]  # (B, 1, d_hidden)
            context, weights = self.attention(query, encoded.states, encoded.states, encoded.mask)
            context, weights = context[:, 0], weights[:, 0]  # (B, 2 d_hidden), (B, L_s)
        hidden = self.cell(torch.cat((embedded, context), dim=-1), state.hidden)  # (B, d_hidden)
        joined = torch.cat((hidden, context, embedded), dim=-1)  # (B, d_embed + 3 d_hidden)
        return joined, replace(state, hidden=hidden, weights=weights)
