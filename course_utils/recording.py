"""The attention weights of a model while it runs, by the name of the module: no layer has to hand them up."""

import contextlib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from torch import Tensor, nn

from .attention import AdditiveAttention
from .multi_head import MultiHeadAttention


class AttentionRecord(Mapping):
    """Module name -> the weights of that module's latest call, ``(B, H, L_q, L_k)`` in multi-head attention.

    Names are the model's own (``model.named_modules()``), such as ``"encoder_layers.0.self_attention"``. A module that has
    not been called yet is not in it.
    """

    def __init__(self, names: list[str]) -> None:
        self._calls: dict[str, list[Tensor]] = {name: [] for name in names}

    def __getitem__(self, name: str) -> Tensor:
        """The latest weights of one module."""
        return self.calls(name)[-1]

    def __iter__(self) -> Iterator[str]:
        """The names, in the model's order."""
        return (name for name, calls in self._calls.items() if calls)

    def __len__(self) -> int:
        """How many modules have been called."""
        return sum(bool(calls) for calls in self._calls.values())

    def calls(self, name: str) -> list[Tensor]:
        """The weights of every call of one module, first call first: one for each step of decoding, say.

        Raises:
            KeyError: There is no attention of that name, or it was not called; the message names those that were.
        """
        if not self._calls.get(name):
            reason = "was not called" if name in self._calls else "is no attention of this model"
            raise KeyError(f"{name!r} {reason}; recorded: {', '.join(self) or 'nothing yet'}")
        return self._calls[name]

    def matching(self, pattern: str) -> list[Tensor]:
        """The latest weights of all modules whose names fit a pattern, such as ``"decoder_layers.*.cross_attention"``.

        Raises:
            KeyError: None fits.
        """
        matches = [self[name] for name in self if fnmatchcase(name, pattern)]
        if not matches:
            raise KeyError(f"{pattern!r} fits none of: {', '.join(self) or 'nothing yet'}")
        return matches


@contextlib.contextmanager
def record_attention(model: nn.Module) -> Iterator[AttentionRecord]:
    """While the block runs, keep the weights of every attention inside ``model``.

    The explicit path is taken meanwhile; the results are the same but for rounding. Weights are kept as they were applied,
    after dropout, and with their gradients where those are on.

    Raises:
        ValueError: The model has no attention.

    Example:
        >>> import torch
        >>> layer = MultiHeadAttention(8, 2)
        >>> with record_attention(nn.Sequential(layer)) as seen:
        ...     _ = layer(torch.zeros(1, 3, 8))
        >>> tuple(seen["0"].shape)
        (1, 2, 3, 3)
    """
    attentions = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, MultiHeadAttention | AdditiveAttention)
    }
    if not attentions:
        raise ValueError(f"this {type(model).__name__} has no attention: nothing could be recorded")
    record = AttentionRecord(list(attentions))
    hooks = [hook for name, module in attentions.items() for hook in _hooks(module, record._calls[name])]
    try:
        yield record
    finally:
        for hook in hooks:
            hook.remove()


def _hooks(module: nn.Module, calls: list[Tensor]) -> list:
    asked = []  # whether the caller wants the weights too

    def ask(_module: nn.Module, arguments: tuple, options: dict) -> tuple[tuple, dict]:
        asked[:] = [options.get("return_weights", False)]
        return arguments, options | {"return_weights": True}

    def keep(_module: nn.Module, _arguments: tuple, output: tuple[Tensor, Tensor]) -> Tensor | tuple[Tensor, Tensor]:
        calls.append(output[1])
        return output if all(asked) else output[0]

    kept = module.register_forward_hook(keep)
    if isinstance(module, AdditiveAttention):  # it hands its weights back in any case
        return [kept]
    return [module.register_forward_pre_hook(ask, with_kwargs=True), kept]
