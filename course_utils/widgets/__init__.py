"""Interactive figures, one for each lesson: ``from course_utils import widgets``, then ``widgets.two_vectors()``."""

from .cache_calculator import cache_calculator
from .heads import head_viewer
from .kernels import kernel_regression
from .mask_composer import mask_composer
from .scaling import scaling
from .shapes import shape_viewer
from .vectors import two_vectors

__all__ = [
    "cache_calculator",
    "head_viewer",
    "kernel_regression",
    "mask_composer",
    "scaling",
    "shape_viewer",
    "two_vectors",
]
