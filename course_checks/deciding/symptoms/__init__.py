"""What can be seen in a wrong answer to any exercise.

``EXACT`` symptoms reproduce the answer from what is right (``FORMS`` are those of its order, dtype and polarity);
``PROPERTIES`` say what is true of what is right and not of the answer; ``SIDE_EFFECTS`` lie beside right values; ``STOPS``
are answers that raise. Each is a function of a ``WrongAnswer``.
"""

from .exact import EXACT, FORMS
from .properties import PROPERTIES
from .side_effects import SIDE_EFFECTS
from .stops import STOPS

__all__ = ["EXACT", "FORMS", "PROPERTIES", "SIDE_EFFECTS", "STOPS"]
