"""A residual connection in both orders."""

import torch
import torch.nn.functional as F
from torch import nn

from ...exercise import Case, Exercise, Fault
from ...kit.connections import ORDER_FAULTS, Connection, connection_faults


class _Given(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm, self.dropout, self.pre_norm = nn.LayerNorm(d_model), nn.Dropout(dropout), pre_norm


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L, d, pre_norm, training, dtype=torch.float32):
        given = {
            "x": 1.5 * torch.randn(B, L, d, generator=rng) + torch.randn(B, L, 1, generator=rng),
            "norm.weight": 1 + 0.5 * torch.randn(d, generator=rng),
            "norm.bias": torch.randn(d, generator=rng),
            "_matrix": torch.randn(d, d, generator=rng) / d**0.5,
        }
        given = {name: value.to(dtype) for name, value in given.items()}
        number = int(torch.randint(10**6, (), generator=rng))
        return Case(**given, dropout=0.4, pre_norm=pre_norm, training=training, _seed=number)

    modes = ((True, False), (False, False), (True, True), (False, True))  # pre_norm, training
    small = [case(2, 3, 4, *mode) for mode in modes]
    return [*small, case(3, 5, 6, True, False), case(3, 5, 6, False, False, torch.float64)]


def _residual(*, order=lambda pre, number: pre, **steps):
    def forward(self, x, sublayer):
        pre = order(self.pre_norm, 1)
        return Connection(lambda y, x: sublayer(y), self.norm, self.dropout, pre, 1, steps)(x)

    return type("Residual", (_Given,), {"forward": forward})


ORDERS = "two formulas, one for each value of self.pre_norm: in each ask what the norm is applied to."

EXERCISE = Exercise(
    answer="Residual", cases=_cases, reference=_residual, returns=("output",), faults=(
        *(Fault(fault.name, fault.looks_like, ORDERS, **fault.parts) for fault in ORDER_FAULTS),
        *connection_faults({0: ""}),
        Fault("parameters of the norm not used", "normalized, but not by self.norm: its weight and bias play no part.",
            "call self.norm itself.", feed=lambda x, at: F.layer_norm(x, x.shape[-1:]) if at.pre else x,
            end=lambda total, at: total if at.pre else F.layer_norm(total, total.shape[-1:])),
    ), advice="write down both formulas of section 9.5, and go through yours from the inside out.",
)  # fmt: skip
