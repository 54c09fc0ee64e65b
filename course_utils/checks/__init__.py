"""The exercise checks. In a notebook: ``from course_utils.checks import check``, then ``check("1.2", your_answer)``.

``engine`` holds ``check``; ``exercise`` what an entry says; ``probe`` and ``judge`` the two halves; ``codec`` the plain data
that crosses from one to the other; ``lesson_NN`` the entries themselves. ``python -m course_utils.checks`` prints how many
known mistakes each check refuses and names.
"""

from .engine import NotYet, check

__all__ = ["NotYet", "check"]
