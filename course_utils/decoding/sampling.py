"""Going on with a text: temperature, top-k and top-p sampling, with and without a key/value cache.

Shape letters: ``B`` batch, ``L`` tokens of the prompt, ``V`` vocabulary.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor


@runtime_checkable
class LanguageModel(Protocol):
    """What a model must offer to generate."""

    def start_cache(self, batch_size: int, max_len: int) -> Sequence[Any]:
        """An empty cache with room for ``max_len`` positions."""

    def next_logits(self, tokens: Tensor, *, cache: Sequence[Any] | None = None) -> Tensor:
        """Logits ``(B, V)`` of the token after the last of ``tokens``; with a cache these are those after the ones in it."""


def sampling_distribution(
    logits: Float[Tensor, "*B V"], *, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Float[Tensor, "*B V"]:
    """The distribution from which the next token is drawn.

    In this order: the logits are divided by ``temperature``; all but the ``top_k`` most probable tokens are ruled out and
    the rest renormalized; of these the fewest most probable ones whose probabilities reach ``top_p`` together are kept, the
    one that crosses the threshold included, and renormalized again. Of equally probable tokens those with lower ids come
    first.

    Args:
        temperature: Below 1 sharper, above 1 flatter; 0: all probability on the most probable token (greedy).
        top_k: How many tokens to keep; more than ``V``, or None: all.
        top_p: Probability to keep, from 0 (one token, the most probable) to 1 (all); None: all.

    Source:
        Top-k: Fan et al., "Hierarchical Neural Story Generation", 2018, section 5.4. Top-p: Holtzman et al., "The Curious
        Case of Neural Text Degeneration", 2020, section 3.1.

    Example:
        >>> sampling_distribution(torch.tensor([0.5, 0.3, 0.2]).log(), top_p=0.6)
        tensor([0.6250, 0.3750, 0.0000])
    """
    if temperature < 0:
        raise ValueError(f"temperature ({temperature}) must be at least 0; 0 always takes the most probable token")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k ({top_k}) must be at least 1, or None to keep all tokens")
    if top_p is not None and not 0.0 <= top_p <= 1.0:
        raise ValueError(f"top_p ({top_p}) must be between 0 and 1, or None to keep all tokens")
    if temperature == 0.0:
        return torch.zeros_like(logits).scatter(-1, logits.argmax(dim=-1, keepdim=True), 1.0)
    sorted_logits, order = (logits / temperature).sort(dim=-1, descending=True, stable=True)  # (*B, V)
    if top_k is not None:
        sorted_logits[..., top_k:] = -torch.inf
    probs = sorted_logits.softmax(dim=-1)  # (*B, V), falling
    if top_p is not None and top_p < 1.0:
        before = probs.cumsum(dim=-1) - probs  # what the more probable tokens have together
        dropped = before >= top_p
        dropped[..., 0] = False
        probs = probs.masked_fill(dropped, 0.0)
        probs = probs / probs.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probs).scatter(-1, order, probs)


def draw_token(
    logits: Float[Tensor, "B V"], *, temperature: float = 1.0, generator: torch.Generator | None = None, **options: Any
) -> Int[Tensor, "B 1"]:
    """One token for each row, drawn from ``sampling_distribution`` with this ``temperature`` and these options.

    At temperature 0 nothing is drawn, so that a seed makes no difference. ``generator`` None: PyTorch's own randomness.
    """
    probs = sampling_distribution(logits, temperature=temperature, **options)  # (B, V)
    return probs.argmax(-1, keepdim=True) if temperature == 0 else torch.multinomial(probs, 1, generator=generator)


@torch.no_grad()
def generate(
    model: LanguageModel,
    prompt: Int[Tensor, "B L"],
    *,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    use_cache: bool = True,
    cache: Sequence[Any] | None = None,
) -> Int[Tensor, "B L_all"]:
    """Go on with a prompt, one token at a time; the result is the prompt and the new tokens.

    Args:
        model: A language model. Call ``model.eval()`` first, or dropout has a say.
        temperature: As for ``sampling_distribution``, and so are ``top_k`` and ``top_p``.
        generator: Source of randomness; None: PyTorch's own.
        use_cache: Keep keys and values, so that a step computes one position; False: compute all again at every step. The
            tokens are the same.
        cache: An empty one to use in place of one that holds everything, such as ``model.start_window`` gives.
    """
    if max_new_tokens < 1:
        raise ValueError(f"max_new_tokens ({max_new_tokens}) must be at least 1")
    if prompt.dim() != 2 or 0 in prompt.shape:
        raise ValueError(f"prompt has shape {tuple(prompt.shape)}; expected (B, L) with at least one token")
    if cache is not None and not use_cache:
        raise ValueError("cache is given and use_cache is False; give one or the other")
    tokens = prompt
    if cache is None and use_cache:
        cache = model.start_cache(len(prompt), prompt.shape[1] + max_new_tokens - 1)
    fed = prompt
    for _ in range(max_new_tokens):
        logits = model.next_logits(fed, cache=cache)  # (B, V)
        new = draw_token(logits, generator=generator, temperature=temperature, top_k=top_k, top_p=top_p)  # (B, 1)
        tokens = torch.cat((tokens, new), dim=1)  # (B, L + 1, then one more each time)
        fed = tokens if cache is None else new
    return tokens
