"""A residual connection in both orders."""

import torch
from torch import nn

from ...exercise import Case, Exercise
from ...kit.connections import ORDER_FAULTS, Connection, connection_faults


class _Given(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for (B, L, d), pre_norm, training, dtype in (
        ((2, 3, 4), True, False, torch.float32),
        ((2, 3, 4), False, False, torch.float32),
        ((2, 3, 4), True, True, torch.float32),
        ((2, 3, 4), False, True, torch.float32),
        ((3, 5, 6), True, False, torch.float32),
        ((3, 5, 6), False, False, torch.float64),
    ):
        x = 1.5 * torch.randn(B, L, d, generator=rng) + torch.randn(B, L, 1, generator=rng)
        given = {
            "x": x,
            "norm.weight": 1 + 0.5 * torch.randn(d, generator=rng),
            "norm.bias": torch.randn(d, generator=rng),
            "_matrix": torch.randn(d, d, generator=rng) / d**0.5,
        }
        given = {name: value.to(dtype) for name, value in given.items()}
        seed = int(torch.randint(10**6, (), generator=rng))
        cases.append(Case(**given, dropout=0.4, pre_norm=pre_norm, training=training, _seed=seed))
    return cases


def _residual(*, order=lambda pre, number: pre, **steps):
    def forward(self, x, sublayer):
        pre = order(self.pre_norm, 1)
        return Connection(lambda y, x: sublayer(y), self.norm, self.dropout, pre, 1, steps)(x)

    return type("Residual", (_Given,), {"forward": forward})


EXERCISE = Exercise(
    answer="Residual",
    cases=_cases,
    reference=_residual,
    returns=("output",),
    faults=(
        *ORDER_FAULTS,
        *connection_faults({0: ""}),
    ),
    advice="write down both formulas of section 9.8, and go through yours from the inside out.",
)
