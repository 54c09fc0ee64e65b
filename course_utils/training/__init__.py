"""Training: seeds, losses, learning rates, optimizers, and a loop that can be interrupted and taken up again."""

from .loop import History, fit
from .losses import label_smoothing_loss, next_symbol_loss, target_symbols, teacher_forced_loss
from .optimizers import MuonWithAdam
from .schedules import one_cycle_rate, warmup_rate
from .seeds import seed_everything

__all__ = [
    "History",
    "MuonWithAdam",
    "fit",
    "label_smoothing_loss",
    "next_symbol_loss",
    "one_cycle_rate",
    "seed_everything",
    "target_symbols",
    "teacher_forced_loss",
    "warmup_rate",
]
