"""Reference implementations behind the course: attention, from the dot product to the Transformer.

Import from the module that holds the concept: ``from course_utils.attention import masked_softmax``.
Importing this package alone loads nothing else.
"""

__version__ = "0.1.0"
