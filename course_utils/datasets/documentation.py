"""A text that every Python carries: its own language reference."""

import re

WORD = re.compile(r"[a-z_]*[a-z][a-z_]*")


def python_documentation() -> str:
    """The language reference that ``help()`` shows, as one text of about half a million characters.

    It comes from ``pydoc_data.topics`` of the running Python, so it differs a little from one Python release to the next.

    Returns:
        The topics in alphabetical order, joined by empty lines.

    Raises:
        RuntimeError: This Python comes without ``pydoc_data`` (some minimal system packages leave it out).
    """
    try:
        from pydoc_data.topics import topics
    except ImportError:
        raise RuntimeError(
            "this Python has no pydoc_data module, from which the text is read; install Python from python.org, conda "
            "or your system's full python3 package"
        ) from None
    return "\n\n".join(topics[name] for name in sorted(topics))


def split_words(text: str) -> list[str]:
    """Lower-case words of a text in order: runs of letters and underscores with at least one letter.

    Example:
        >>> split_words("Call float('nan') or __init__!")
        ['call', 'float', 'nan', 'or', '__init__']
    """
    return WORD.findall(text.lower())
