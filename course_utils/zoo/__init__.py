"""The models that come with the course: weights, recipes, cards and figures of each.

``zoo.load("transformer")`` hands one out. From a terminal:
``python -m course_utils.zoo train|evaluate|ablate|bottleneck|pronounce``.
"""

from .shipped import available, load, save, training_of

__all__ = ["available", "load", "save", "training_of"]
