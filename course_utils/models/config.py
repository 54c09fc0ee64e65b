"""What a model is built from."""

from dataclasses import dataclass

from ..arguments import require_divides, require_one_of, require_probability, require_sizes
from ..layers import FEED_FORWARDS, NORMS

POSITIONS = ("sinusoidal", "learned", "rotary", "none")
DECODER_POSITIONS = ("rotary", "learned", "none")


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
        require_one_of("positions", self.positions, POSITIONS)
        if self.positions == "sinusoidal" and self.d_model % 2:
            raise ValueError(f"d_model ({self.d_model}) must be even for sinusoidal positions: they come in pairs")
        _require_pairs(self)
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
        positions: One of ``"rotary"``, ``"learned"`` (added to the embeddings), ``"none"``.
        rope_base: Base of the rotary positions' wavelengths.
        norm: ``"rms"`` (RMSNorm) or ``"layer"`` (LayerNorm).
        feed_forward: ``"swiglu"``; ``"gelu"`` (GELU by its tanh formula) or ``"relu"`` between two matrices.
        bias: Whether attention's projections have biases. The feed-forward networks of two matrices always have.
        tie_embeddings: Whether the output's matrix is the embedding's.

    The defaults are Llama's parts; GPT-2 has ``positions="learned"``, ``norm="layer"``, ``feed_forward="gelu"`` and biases.
    """

    vocab_size: int
    num_layers: int = 4
    d_model: int = 128
    d_ff: int = 344
    num_heads: int = 4
    num_kv_heads: int | None = None
    dropout: float = 0.0
    max_len: int = 1024
    positions: str = "rotary"
    rope_base: float = 10000.0
    norm: str = "rms"
    norm_eps: float = 1e-6
    feed_forward: str = "swiglu"
    bias: bool = False
    tie_embeddings: bool = True

    def __post_init__(self) -> None:
        sizes = "vocab_size num_layers d_model d_ff num_heads max_len".split()
        require_sizes(**{name: getattr(self, name) for name in sizes})
        _require_heads(self)
        kv_heads = self.num_heads if self.num_kv_heads is None else self.num_kv_heads
        if kv_heads < 1 or self.num_heads % kv_heads:
            raise ValueError(f"num_kv_heads ({kv_heads}) must be at least 1 and divide num_heads ({self.num_heads})")
        require_one_of("positions", self.positions, DECODER_POSITIONS)
        require_one_of("norm", self.norm, NORMS)
        require_one_of("feed_forward", self.feed_forward, FEED_FORWARDS)
        _require_pairs(self)
        if self.rope_base <= 0 or self.norm_eps <= 0:
            raise ValueError(f"rope_base ({self.rope_base}) and norm_eps ({self.norm_eps}) must be positive")


def _require_pairs(config: TransformerConfig | DecoderConfig) -> None:
    d_head = config.d_model // config.num_heads
    if config.positions == "rotary" and d_head % 2:
        raise ValueError(f"d_model / num_heads ({d_head}) must be even for rotary positions: they turn pairs")


def _require_heads(config: TransformerConfig | DecoderConfig) -> None:
    require_divides("num_heads", config.num_heads, "d_model", config.d_model)
    require_probability(dropout=config.dropout)
