"""Interactive figures, one for each lesson: ``from course_utils import widgets``, then ``widgets.two_vectors()``."""

from .alignment import alignment_viewer
from .attention_viewer import attention_viewer
from .cache_and_state import cache_and_state
from .cache_calculator import cache_calculator
from .decoding_steps import decoding_steps
from .gradient_depth import gradient_by_depth
from .head_remover import head_remover
from .kernels import kernel_regression
from .mask_composer import mask_composer
from .position_viewer import position_viewer
from .prediction import came_out, predict, predictions
from .pronouncer import pronouncer
from .ring_steps import ring_steps
from .sampling_playground import sampling_playground
from .see_through import see_through
from .shapes import shape_viewer
from .vectors import two_vectors

__all__ = [
    "alignment_viewer",
    "attention_viewer",
    "cache_and_state",
    "cache_calculator",
    "came_out",
    "decoding_steps",
    "gradient_by_depth",
    "head_remover",
    "kernel_regression",
    "mask_composer",
    "position_viewer",
    "predict",
    "predictions",
    "pronouncer",
    "ring_steps",
    "sampling_playground",
    "see_through",
    "shape_viewer",
    "two_vectors",
]
