"""The exercise checks. In a notebook: ``from course_checks import check, failing_case, hint``, then ``check("1.2", answer)``.

``running`` calls an answer and notes what it did, as plain data, and knows nothing of what is right; ``deciding`` compares
that with the worked solution and says what the answer looks like, and runs no student code; ``lesson_05/masked_softmax.py``
is all that one exercise says of its check. ``catalogue.json`` and ``deciding/solutions.json`` are made by the build.
"""

__all__ = ["NotYet", "check", "failing_case", "hint"]


def __getattr__(name: str) -> object:
    """PyTorch comes with the engine: who wants the catalogue alone need not wait for it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import engine

    return getattr(engine, name)
