"""What a model is built from."""

from dataclasses import dataclass

from ..arguments import require_divides, require_probability, require_sizes

POSITIONS = ("sinusoidal", "learned", "rotary", "none")


@dataclass(frozen=True)
class TransformerConfig:
    """Everything that a ``Transformer`` is built from. The defaults are the base model of the paper, but for the norms.

    Args:
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
        sizes = "src_vocab tgt_vocab num_layers d_model d_ff num_heads max_len".split()
        require_sizes(**{name: getattr(self, name) for name in sizes})
        _require_heads(self)
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


@dataclass(frozen=True)
class DecoderConfig:
    """Everything that a ``DecoderLM`` is built from.

    Args:
        num_layers: N.
        d_model: Size of a token's vector.
        d_ff: Width of the gated feed-forward networks.
        num_heads: H; must divide ``d_model``.
        num_kv_heads: H_kv; must divide ``num_heads``. None: as many.
        max_len: Positions there is room for.
        rope_base: Base of the rotary positions' wavelengths.
        tie_embeddings: Whether the output's matrix is the embedding's.
    """

    vocab_size: int
    num_layers: int = 4
    d_model: int = 128
    d_ff: int = 344
    num_heads: int = 4
    num_kv_heads: int | None = None
    dropout: float = 0.0
    max_len: int = 1024
    rope_base: float = 10000.0
    norm_eps: float = 1e-6
    tie_embeddings: bool = True

    def __post_init__(self) -> None:
        sizes = "vocab_size num_layers d_model d_ff num_heads max_len".split()
        require_sizes(**{name: getattr(self, name) for name in sizes})
        _require_heads(self)
        kv_heads = self.num_heads if self.num_kv_heads is None else self.num_kv_heads
        if kv_heads < 1 or self.num_heads % kv_heads:
            raise ValueError(f"num_kv_heads ({kv_heads}) must be at least 1 and divide num_heads ({self.num_heads})")
        if self.d_model // self.num_heads % 2:
            raise ValueError(
                f"d_model / num_heads ({self.d_model // self.num_heads}) must be even for rotary positions: they turn pairs"
            )
        if self.rope_base <= 0 or self.norm_eps <= 0:
            raise ValueError(f"rope_base ({self.rope_base}) and norm_eps ({self.norm_eps}) must be positive")


def _require_heads(config: TransformerConfig | DecoderConfig) -> None:
    require_divides("num_heads", config.num_heads, "d_model", config.d_model)
    require_probability(dropout=config.dropout)
