"""The encoder-decoder Transformer.

Shape letters: ``B`` batch, ``H`` heads, ``L_s`` source and ``L_t`` target positions, ``d_model`` size of a token's vector.
Tokens are ids; masks are boolean, True = may attend.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ..kv_cache import KVCache
from ..layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from ..masks import AttentionMask, causal_mask, combine_masks, padding_mask
from ..positions import LearnedPositions, RotaryPositions, SinusoidalPositions
from .config import TransformerConfig
from .decoding_state import DecodingState


class Transformer(nn.Module):
    """The encoder-decoder Transformer.

    ``generator`` gives logits, one for each target token. The log-softmax belongs to the loss (``F.cross_entropy`` applies
    it) and to decoding (``decode_step`` applies it). A softmax in the model, before such a loss,
    would be one too many.

    Args:
        config: Its sizes.

    Source:
        Vaswani et al., "Attention Is All You Need", 2017, section 3 and figure 1. Initialization: Glorot, Bengio,
        "Understanding the Difficulty of Training Deep Feedforward Neural Networks", 2010, equation 16.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = c = config
        rotary = RotaryPositions(c.d_model // c.num_heads, max_len=c.max_len) if c.positions == "rotary" else None
        table = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}.get(c.positions)

        def embedding(vocab_size: int) -> InputEmbedding:
            positions = table(c.d_model, c.max_len) if table else None
            return InputEmbedding(vocab_size, c.d_model, positions=positions, dropout=c.dropout)

        self.source_embedding, self.target_embedding = embedding(c.src_vocab), embedding(c.tgt_vocab)
        sizes = (c.d_model, c.num_heads, c.d_ff)
        options = {"dropout": c.dropout, "pre_norm": c.pre_norm, "rotary": rotary}
        self.encoder_layers = nn.ModuleList(EncoderLayer(*sizes, **options) for _ in range(c.num_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(*sizes, **options) for _ in range(c.num_layers))
        self.encoder_norm = LayerNorm(c.d_model) if c.final_norm else nn.Identity()
        self.decoder_norm = LayerNorm(c.d_model) if c.final_norm else nn.Identity()
        self.generator = nn.Linear(c.d_model, c.tgt_vocab)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        if c.tie_embeddings:
            self.generator.weight = self.target_embedding.tokens.weight

    def encode(
        self, source: Int[Tensor, "B L_s"], source_mask: Bool[Tensor, "..."] | AttentionMask | None = None
    ) -> Float[Tensor, "B L_s d_model"]:
        """Source to memory; ``source_mask`` broadcasts to ``(B, H, L_s, L_s)``, and None hides padding."""
        mask = padding_mask(source, self.config.pad_id) if source_mask is None else source_mask
        x, mask = self.source_embedding(source), AttentionMask.of(mask)  # (B, L_s, d_model)
        for layer in self.encoder_layers:
            x = layer(x, mask)
        return self.encoder_norm(x)

    def decode(
        self,
        target: Int[Tensor, "B L_t"],
        memory: Float[Tensor, "B L_s d_model"],
        *,
        memory_mask: Bool[Tensor, "..."] | AttentionMask | None,
        target_mask: Bool[Tensor, "..."] | AttentionMask | None = None,
    ) -> Float[Tensor, "B L_t d_model"]:
        """Target and memory to hidden vectors, which ``generator`` turns into logits.

        Args:
            target: Ids: what has been said so far, a start symbol first.
            memory: The encoder's output.
            memory_mask: Broadcastable to ``(B, H, L_t, L_s)``, as ``padding_mask(source, pad_id)``; None: all is seen.
            target_mask: Broadcastable to ``(B, H, L_t, L_t)``; None: the future and padding are hidden.
        """
        if target_mask is None:
            target_mask = self._no_future_no_padding(target)
        x = self.target_embedding(target)  # (B, L_t, d_model)
        target_mask, memory_mask = AttentionMask.of(target_mask), AttentionMask.of(memory_mask)
        for layer in self.decoder_layers:
            x = layer(x, memory, target_mask=target_mask, memory_mask=memory_mask)
        return self.decoder_norm(x)

    def _no_future_no_padding(self, target: Tensor) -> AttentionMask:
        padding = padding_mask(target, self.config.pad_id)  # (B, 1, 1, L_t)
        if padding.all():
            return AttentionMask(is_causal=True)
        return AttentionMask(combine_masks(padding, causal_mask(target.shape[1], device=target.device)))

    def forward(
        self,
        source: Int[Tensor, "B L_s"],
        target: Int[Tensor, "B L_t"],
        *,
        source_mask: Bool[Tensor, "#B 1 1 L_s"] | None = None,
        target_mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "B L_t tgt_vocab"]:
        """Logits of the token after each target position, all positions at once (teacher forcing).

        Args:
            source: Ids.
            target: Ids: the right answer shifted, a start symbol first.
            source_mask: Which source positions may be seen, by the encoder and by the decoder; None: those that are not
                padding.
            target_mask: Broadcastable to ``(B, H, L_t, L_t)``; None: the future and padding are hidden.

        Raises:
            ValueError: Shapes do not fit together, ids are outside a vocabulary, or a sequence is too long.
            TypeError: Ids are not whole numbers, or a mask is not boolean.
        """
        if source_mask is None:
            source_mask = padding_mask(source, self.config.pad_id)  # (B, 1, 1, L_s)
        elif source_mask.dim() != 4 or source_mask.shape[1:3] != (1, 1):
            raise ValueError(
                f"source_mask has shape {tuple(source_mask.shape)}; expected (B, 1, 1, L_s), for encoder and decoder alike. "
                "For a mask of the encoder alone, call encode and decode"
            )
        mask = AttentionMask(source_mask)
        memory = self.encode(source, mask)  # (B, L_s, d_model)
        return self.generator(self.decode(target, memory, memory_mask=mask, target_mask=target_mask))

    @torch.no_grad()
    def start_decoding(self, source: Int[Tensor, "B L_s"], *, max_len: int) -> DecodingState:
        """Encode the source once, its padding hidden, and set aside room for ``max_len`` target positions.

        Raises:
            ValueError: ``max_len`` is above the positions the model knows, or the model is in training mode, in which
                dropout would make the choice.
        """
        c = self.config
        if self.training and c.dropout > 0:
            raise ValueError(
                "the model is in training mode, so dropout would change what it says: call model.eval() first"
            )
        if max_len < 1 or (c.positions != "none" and max_len > c.max_len):
            raise ValueError(f"max_len ({max_len}) must be from 1 to the model's own max_len ({c.max_len})")
        mask = padding_mask(source, c.pad_id)  # (B, 1, 1, L_s)
        memory = self.encode(source, mask)  # (B, L_s, d_model)
        memory_kv = [layer.cross_attention.project_key_value(memory, memory) for layer in self.decoder_layers]
        sizes = (len(source), c.num_heads, max_len, c.d_model // c.num_heads)
        return DecodingState(
            max_len=max_len,
            caches=[KVCache(*sizes, dtype=memory.dtype, device=memory.device) for _ in self.decoder_layers],
            memory_kv=memory_kv,
            memory_mask=None if mask.all() else mask,
            rows=torch.arange(len(source), device=source.device),
            tokens=source[:, :0],
        )

    @torch.no_grad()
    def decode_step(
        self, state: DecodingState, tokens: Int[Tensor, " B"]
    ) -> tuple[Float[Tensor, "B tgt_vocab"], DecodingState]:
        """Log-probabilities of the next token of each sequence, and the state, which is changed.

        ``tokens`` are the ids just chosen, the start symbol first. What came before them is in the state and is not
        computed again; there is room for ``max_len`` steps.
        """
        if tokens.shape != state.rows.shape:
            raise ValueError(f"tokens has shape {tuple(tokens.shape)}; expected one for each row, ({len(state.rows)},)")
        if state.length == state.max_len:
            raise ValueError(
                f"{state.max_len} steps were made, and there is room for no more: start with a larger max_len"
            )
        x = self.target_embedding(tokens[:, None], start=state.length)  # (B, 1, d_model)
        state.tokens = torch.cat((state.tokens, tokens[:, None]), dim=1)  # (B, length)
        mask = padding_mask(state.tokens, self.config.pad_id)  # (B, 1, 1, length); there is no future to hide
        mask, memory_mask = AttentionMask.of(mask), AttentionMask.of(state.memory_mask)
        for layer, cache, memory_kv in zip(self.decoder_layers, state.caches, state.memory_kv, strict=True):
            x = layer(x, target_mask=mask, memory_mask=memory_mask, cache=cache, memory_kv=memory_kv)
        logits = self.generator(self.decoder_norm(x))[:, 0]  # (B, tgt_vocab)
        return logits.log_softmax(dim=-1), state


def make_transformer(
    src_vocab: int,
    tgt_vocab: int,
    num_layers: int = 6,
    d_model: int = 512,
    d_ff: int = 2048,
    num_heads: int = 8,
    dropout: float = 0.1,
) -> Transformer:
    """A ``Transformer`` by its sizes alone; the defaults are the base model of the paper (with pre-norm).

    Source:
        Vaswani et al., 2017, table 3, row "base".
    """
    return Transformer(TransformerConfig(src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, dropout))


def count_parameters(model: nn.Module) -> int:
    """Numbers that training can change; a matrix that two layers share counts once."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
