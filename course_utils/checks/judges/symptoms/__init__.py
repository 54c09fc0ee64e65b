"""What can be seen in a wrong answer to any exercise.

``EXACT`` symptoms reproduce the answer from what is right; ``PROPERTIES`` say what what is right has and the answer has
not; ``SIDE_EFFECTS`` lie beside right values; ``STOPS`` are answers that raise. Each is a function of a ``View``.
"""

from .beside import SIDE_EFFECTS
from .exact import EXACT
from .properties import PROPERTIES
from .stops import STOPS

__all__ = ["EXACT", "PROPERTIES", "SIDE_EFFECTS", "STOPS"]
