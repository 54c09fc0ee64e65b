"""The exercise checks. In a notebook: ``from course_utils.checks import check``, then ``check("1.2", your_answer)``.

``engine`` holds ``check`` and ``failing_case``; ``catalogue`` what exercises there are; ``probes`` call an answer and note
what it did, and know nothing of what is right; ``judges`` know, and run no student code: what crosses from one to the
other is plain data.
"""

from .engine import NotYet, check, failing_case

__all__ = ["NotYet", "check", "failing_case"]
