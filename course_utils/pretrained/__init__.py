"""The models that come with the course: weights, a card and figures of each.

``pretrained.load("transformer")`` hands one out. From a terminal: ``python -m course_utils.pretrained pronounce|evaluate``.
"""

from .shipped import available, load, save, training_of

__all__ = ["available", "load", "save", "training_of"]
