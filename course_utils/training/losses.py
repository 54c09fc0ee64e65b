"""What training makes small: cross-entropy, with smoothed labels, of pairs and of a text.

Shape letters: ``B`` batch, ``L_s`` source and ``L_t`` target positions, ``L1`` characters of a window, ``V`` vocabulary.
"""

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..arguments import require_probability


def label_smoothing_loss(
    logits: Float[Tensor, "*B V"], target: Int[Tensor, "*B"], *, smoothing: float = 0.1, pad_id: int = 0
) -> Float[Tensor, ""]:
    """Mean cross-entropy, in nats a symbol, against a target that is a little unsure of itself; padding does not count.

    The right symbol gets ``1 - smoothing``; the other symbols share ``smoothing`` evenly, padding gets nothing. With
    ``smoothing=0`` this is ``F.cross_entropy(..., ignore_index=pad_id)``, but 0 if all is padding.

    Raises:
        ValueError: Shapes do not fit, or there are fewer than three symbols: padding and two others.

    Source:
        Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", 2016, section 7; Vaswani et al., 2017,
        section 5.4 (0.1).
    """
    require_probability(smoothing=smoothing)
    if logits.shape[:-1] != target.shape:
        raise ValueError(
            f"logits have shape {tuple(logits.shape)}, target {tuple(target.shape)}; expected (*B, V) and (*B)"
        )
    if logits.shape[-1] < 3:
        raise ValueError(f"logits score {logits.shape[-1]} symbols; expected padding and two others at least")
    log_probs = logits.log_softmax(dim=-1)  # (*B, V)
    right = log_probs.gather(-1, target[..., None])[..., 0]  # (*B)
    wrong = log_probs.sum(-1) - right - log_probs[..., pad_id]  # (*B)
    loss = -(1.0 - smoothing) * right - smoothing / (logits.shape[-1] - 2) * wrong  # (*B)
    real = target != pad_id  # (*B)
    return loss.masked_fill(~real, 0.0).sum() / real.sum().clamp(min=1)


def teacher_forced_loss(
    model: nn.Module, batch: tuple[Int[Tensor, "B L_s"], Int[Tensor, "B L_t"]], smoothing: float = 0.0
) -> Float[Tensor, ""]:
    """Mean cross-entropy of each target symbol, the true symbols before it being given; padding does not count.

    ``model(source, target)`` gives the logits of the symbol after each position of the target, and in ``batch`` the target
    stands between start and end symbol. ``smoothing`` is as for ``label_smoothing_loss``.
    """
    source, target = batch
    return label_smoothing_loss(model(source, target[:, :-1]), target[:, 1:], smoothing=smoothing)


def target_symbols(batch: tuple[Int[Tensor, "B L_s"], Int[Tensor, "B L_t"]], pad_id: int = 0) -> int:
    """How many symbols ``teacher_forced_loss`` of this batch is the mean of."""
    return int((batch[1][:, 1:] != pad_id).sum())


def next_symbol_loss(model: nn.Module, window: Int[Tensor, "B L1"]) -> Float[Tensor, ""]:
    """Mean cross-entropy, in nats, of each character given those before it in its window.

    ``model(tokens)`` gives the logits of the symbol after each.
    """
    logits = model(window[:, :-1])  # (B, L, V)
    return F.cross_entropy(logits.flatten(0, 1), window[:, 1:].flatten())
