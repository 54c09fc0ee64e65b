"""Looking inside a trained model: what its heads look at, what they carry over, what each adds to a logit, what breaks without.

A head is named by its attention's name in the model and its number: ``("layers.1.self_attention", 3)``.
"""

from .attribution import Contributions, contributions
from .interventions import Head, cut_path, replaced_heads
from .matrices import (
    Bilinear,
    Linear,
    composition_score,
    copying_score,
    ov_circuit,
    qk_circuit,
    token_table,
)
from .scores import (
    current_token_mask,
    duplicate_token_mask,
    first_token_mask,
    induction_mask,
    mean_weight,
    previous_token_mask,
    uniform_weight,
)

__all__ = [
    "Bilinear",
    "Contributions",
    "Head",
    "Linear",
    "composition_score",
    "contributions",
    "copying_score",
    "current_token_mask",
    "cut_path",
    "duplicate_token_mask",
    "first_token_mask",
    "induction_mask",
    "mean_weight",
    "ov_circuit",
    "previous_token_mask",
    "qk_circuit",
    "replaced_heads",
    "token_table",
    "uniform_weight",
]
