"""Interactive figures, one for each lesson: ``from course_utils import widgets``, then ``widgets.two_vectors()``."""

from .kernels import kernel_regression
from .shapes import shape_viewer
from .vectors import two_vectors

__all__ = ["kernel_regression", "shape_viewer", "two_vectors"]
