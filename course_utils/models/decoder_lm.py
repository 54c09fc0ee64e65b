"""The decoder-only language model: one stack, causal, with rotary positions, grouped queries and a key/value cache.

Shape letters: ``B`` batch, ``H`` heads, ``L`` new positions, ``L_all`` with those of a cache, ``V`` vocabulary.
"""

from jaxtyping import Float, Int
from torch import Tensor, nn

from ..kv_cache import KVCache, WindowCache
from ..layers import NORMS, DecoderOnlyLayer, embedded
from ..masks import AttentionMask, causal_mask
from ..positions import LearnedPositions, RotaryPositions
from .config import DecoderConfig


class DecoderLM(nn.Module):
    """A language model: the logits of the next token at every position, from that position and those before it.

    Args:
        config: Its sizes.

    Source:
        Radford et al., "Improving Language Understanding by Generative Pre-Training", 2018, section 3.1 (one causal stack);
        Touvron et al., "LLaMA", 2023, section 2.2 (RMSNorm, SwiGLU, rotary positions). Initialization: normal with standard
        deviation 0.02, that of the projections back into the stream divided by sqrt(2 N), as in Radford et al., "Language
        Models are Unsupervised Multitask Learners", 2019, section 2.3.
    """

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = c = config
        rotary = None
        if c.positions == "rotary":
            rotary = RotaryPositions(c.d_model // c.num_heads, base=c.rope_base, max_len=c.max_len)
        self.embedding = nn.Embedding(c.vocab_size, c.d_model)
        self.positions = LearnedPositions(c.d_model, c.max_len) if c.positions == "learned" else None
        self.dropout = nn.Dropout(c.dropout)
        options = {
            name: getattr(c, name) for name in ("num_kv_heads", "dropout", "norm", "norm_eps", "feed_forward", "bias")
        }
        self.layers = nn.ModuleList(
            DecoderOnlyLayer(c.d_model, c.num_heads, c.d_ff, rotary=rotary, **options) for _ in range(c.num_layers)
        )
        self.norm = NORMS[c.norm](c.d_model, eps=c.norm_eps)
        self.generator = nn.Linear(c.d_model, c.vocab_size, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                back = name.endswith(("o_proj.weight", "down_proj.weight"))
                nn.init.normal_(parameter, std=0.02 / (2 * c.num_layers) ** 0.5 if back else 0.02)
        if c.tie_embeddings:
            self.generator.weight = self.embedding.weight

    def forward(self, tokens: Int[Tensor, "B L"], *, cache: list[KVCache] | None = None) -> Float[Tensor, "B L V"]:
        """Logits of the token after each position.

        Args:
            tokens: Ids. With a cache: those after the ones in it.
            cache: Of ``start_cache``; it is filled, one entry a layer.

        Raises:
            ValueError: ``tokens`` has another shape, holds an unknown id, or there is no room for so many positions.
            TypeError: ``tokens`` are not whole numbers.
        """
        return self.generator(self.norm(self._stream(tokens, cache)))

    def next_logits(self, tokens: Int[Tensor, "B L"], *, cache: list[KVCache] | None = None) -> Float[Tensor, "B V"]:
        """Logits of the token after the last position alone, which is all that generation asks for."""
        return self.generator(self.norm(self._stream(tokens, cache)[:, -1]))

    def _stream(self, tokens: Tensor, cache: list[KVCache] | None) -> Tensor:
        x = embedded(self.embedding, tokens)  # (B, L, d_model)
        if cache is not None and len(cache) != len(self.layers):
            raise ValueError(f"cache has {len(cache)} entries; expected one for each of {len(self.layers)} layers")
        start, new = 0 if cache is None else cache[0].length, tokens.shape[1]
        if start + new > self.config.max_len:
            raise ValueError(f"{start + new} positions, but this model has room for max_len ({self.config.max_len})")
        x = self.dropout(x if self.positions is None else self.positions(x, start))
        if new == 1:
            mask = None  # one new position may see all there are
        elif start == 0:
            mask = AttentionMask(is_causal=True)
        else:
            mask = AttentionMask(causal_mask(new, start + new, device=tokens.device))  # (1, 1, L, L_all)
        for place, layer in enumerate(self.layers):
            x = layer(x, mask, cache=None if cache is None else cache[place])
        return x  # (B, L, d_model)

    def start_cache(self, batch_size: int, max_len: int) -> list[KVCache]:
        """An empty cache for each layer, with room for ``max_len`` positions.

        Raises:
            ValueError: A size is not positive, or ``max_len`` is above the model's own.
        """
        c = self.config
        if max_len > c.max_len:
            raise ValueError(f"max_len ({max_len}) is above the positions that this model has room for ({c.max_len})")
        return [self._cache(KVCache, batch_size, max_len) for _ in self.layers]

    def start_window(self, batch_size: int, window: int, *, sinks: int = 0) -> list[WindowCache]:
        """An empty cache for each layer that keeps the latest ``window`` positions and the first ``sinks``.

        Raises:
            ValueError: A size is not positive, both together are not below ``config.max_len``, or the model adds learned
                positions to its embeddings, which cannot move.
        """
        c = self.config
        if c.positions == "learned":
            raise ValueError(
                "a window moves along the text, but this model's learned positions are part of its embeddings"
            )
        if window + sinks >= c.max_len:
            raise ValueError(f"window + sinks ({window} + {sinks}) must be below this model's max_len ({c.max_len})")
        return [self._cache(WindowCache, batch_size, window, sinks=sinks) for _ in self.layers]

    def _cache(self, kind: type[KVCache], batch_size: int, room: int, **options: int) -> KVCache:
        c, weight = self.config, self.embedding.weight
        num_kv_heads, d_head = c.num_kv_heads or c.num_heads, c.d_model // c.num_heads
        return kind(batch_size, num_kv_heads, room, d_head, dtype=weight.dtype, device=weight.device, **options)
