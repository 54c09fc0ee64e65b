"""Pictures of mechanisms, drawn from the tensors and modules that a lesson runs: tensors in, matplotlib Axes out."""

from .flow import attention_flow

__all__ = ["attention_flow"]
