"""What can be seen in a wrong answer to any exercise.

``EXACT`` symptoms reproduce the answer from what is right (the first ``PLAIN`` of them by its kind, not its numbers);
``PROPERTIES`` say what is true of what is right and not of the answer; ``SIDE_EFFECTS`` lie beside right values; ``STOPS``
are answers that raise. Each is a function of a ``View``.
"""

from .beside import SIDE_EFFECTS
from .exact import EXACT, PLAIN
from .properties import PROPERTIES
from .stops import STOPS

__all__ = ["EXACT", "PLAIN", "PROPERTIES", "SIDE_EFFECTS", "STOPS"]
