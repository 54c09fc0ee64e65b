"""What a model is built from."""

from dataclasses import dataclass

POSITIONS = ("sinusoidal", "learned", "rotary", "none")


@dataclass(frozen=True)
class TransformerConfig:
    """Everything that a ``Transformer`` is built from. The defaults are the base model of the paper, but for the norms.

    Args:
        src_vocab: Number of source tokens.
        tgt_vocab: Number of target tokens.
        num_layers: N, of the encoder and of the decoder.
        d_model: Size of a token's vector.
        d_ff: Width of the feed-forward networks.
        num_heads: H; must divide ``d_model``.
        dropout: Probability, in training.
        max_len: Positions there is room for; without meaning for ``positions="none"``.
        pre_norm: Norms before each sublayer; False: after each sum, as in the paper.
        final_norm: One more norm after the last layer of each stack, as in ``nn.Transformer``. Pre-norm needs it.
        positions: One of ``"sinusoidal"``, ``"learned"``, ``"rotary"``, ``"none"``.
        tie_embeddings: Whether the generator's matrix is the target embedding's.
        pad_id: The id that the default masks hide.

    Raises:
        ValueError: A value is out of range, named with what was expected.
    """

    src_vocab: int
    tgt_vocab: int
    num_layers: int = 6
    d_model: int = 512
    d_ff: int = 2048
    num_heads: int = 8
    dropout: float = 0.1
    max_len: int = 512
    pre_norm: bool = True
    final_norm: bool = True
    positions: str = "sinusoidal"
    tie_embeddings: bool = False
    pad_id: int = 0

    def __post_init__(self) -> None:
        for name in ("src_vocab", "tgt_vocab", "num_layers", "d_model", "d_ff", "num_heads", "max_len"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} ({getattr(self, name)}) must be at least 1")
        if self.d_model % self.num_heads:
            raise ValueError(f"num_heads ({self.num_heads}) must divide d_model ({self.d_model})")
        if not 0.0 <= self.dropout < 1.0:
            raise ValueError(f"dropout ({self.dropout}) must be at least 0 and below 1")
        if self.positions not in POSITIONS:
            raise ValueError(f"positions ({self.positions!r}) must be one of {', '.join(map(repr, POSITIONS))}")
        if self.positions == "sinusoidal" and self.d_model % 2:
            raise ValueError(f"d_model ({self.d_model}) must be even for sinusoidal positions: they come in pairs")
        if self.positions == "rotary" and self.d_model // self.num_heads % 2:
            raise ValueError(
                f"d_model / num_heads ({self.d_model // self.num_heads}) must be even for rotary positions: they turn pairs"
            )
        if not 0 <= self.pad_id < min(self.src_vocab, self.tgt_vocab):
            raise ValueError(f"pad_id ({self.pad_id}) must be a token of both vocabularies")
