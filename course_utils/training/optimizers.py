"""How the longer-trained models of the course are trained: Muon for the matrices inside the layers, Adam for all else."""

from typing import Any

import torch
from torch import nn


class MuonWithAdam:
    """Two of PyTorch's optimizers that act as one: Muon on the layers' weight matrices, Adam on everything else.

    Muon replaces the averaged gradient of a matrix by the nearest matrix whose singular values are all about 1, so that an
    update moves in all directions alike. It is meant for matrices that vectors are multiplied by; embeddings, biases, norms
    and the last layer, whose rows stand for symbols, are Adam's. Both get the same learning rate: Muon's updates are scaled
    to the size that Adam's have.

    Args:
        apart: Words in the names of the matrices that are Adam's.
        weight_decay: Share, per step and unit of learning rate, by which Muon's matrices shrink.

    Raises:
        RuntimeError: This PyTorch is older than 2.9 and has no Muon.

    Source:
        Jordan et al., "Muon: An Optimizer for Hidden Layers in Neural Networks", 2024; the size of the updates: Liu et al.,
        "Muon is Scalable for LLM Training", 2025, section 2.2.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        apart: tuple[str, ...] = ("embedding", "generator"),
        weight_decay: float = 0.0,
    ) -> None:
        if not hasattr(torch.optim, "Muon"):
            raise RuntimeError(f"PyTorch {torch.__version__} has no Muon; 2.9 or newer is needed to train this model")
        matrices, others = [], []
        for name, parameter in model.named_parameters():
            inside = parameter.dim() == 2 and not any(word in name for word in apart)
            (matrices if inside else others).append(parameter)
        self.muon = torch.optim.Muon(matrices, lr=0.0, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw")
        self.adam = torch.optim.Adam(others, lr=0.0, betas=(0.9, 0.98), eps=1e-9)

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """The groups of both, whose learning rate ``"lr"`` may be set."""
        return self.muon.param_groups + self.adam.param_groups

    def zero_grad(self) -> None:
        """Forget the gradients."""
        self.muon.zero_grad()
        self.adam.zero_grad()

    def step(self) -> None:
        """Update all parameters."""
        self.muon.step()
        self.adam.step()

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on later."""
        return {"muon": self.muon.state_dict(), "adam": self.adam.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from ``state_dict``; ``ValueError`` if it belongs to other parameters or to another optimizer."""
        if set(state) != {"muon", "adam"}:
            raise ValueError(f"state holds {', '.join(state)}; expected muon, adam")
        self.muon.load_state_dict(state["muon"])
        self.adam.load_state_dict(state["adam"])
