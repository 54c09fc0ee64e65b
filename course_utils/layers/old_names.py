"""Weights that were saved when the norms of a layer had other names are loaded all the same."""

from typing import Any

from torch import nn

RENAMED = {
    "self_residual.norm.": "attention_norm.",
    "cross_residual.norm.": "cross_attention_norm.",
    "feed_forward_residual.norm.": "feed_forward_norm.",
}


def accept_old_names(layer: nn.Module) -> None:
    """From now on ``load_state_dict`` of ``layer``, or of a model around it, takes the old names for the new ones."""
    layer.register_load_state_dict_pre_hook(_rename)


def _rename(_layer: nn.Module, state: dict[str, Any], prefix: str, *_others: object) -> None:
    for name in [name for name in state if name.startswith(prefix)]:
        for old, new in RENAMED.items():
            if name.startswith(prefix + old):
                state[prefix + new + name.removeprefix(prefix + old)] = state.pop(name)
