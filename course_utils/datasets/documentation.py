"""A text that every Python carries: its own language reference."""

import re

WORD = re.compile(r"[a-z_]*[a-z][a-z_]*")
# The characters of the language model that comes with the course: the same whatever release of Python the text is from.
CHARACTERS = ("\n", *map(chr, range(ord(" "), ord("~") + 1)))
PLAIN = str.maketrans(
    {
        "\u201c": '"',
        "\u201d": '"',
        "\u2018": "'",
        "\u2019": "'",
        "\u2013": "-",
        "\u2014": "-",
        "\u2026": "...",
        "\t": " " * 4,
    }
)


def python_documentation() -> str:
    """The language reference that ``help()`` shows, as one text of about half a million characters.

    Its topics stand in alphabetical order, joined by empty lines. They come from ``pydoc_data.topics`` of the running
    Python, so the text differs a little from one Python release to the next.

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


def plain_text(text: str) -> str:
    r"""The text in the 96 characters of ``CHARACTERS``: typographic quotes, dashes and dots become plain ones, the rest ``?``.

    Example:
        >>> plain_text("\u201c\u2026it\u2019s 20 \u00b0\u201d")
        '"...it\'s 20 ?"'
    """
    return re.sub(r"[^\n -~]", "?", text.translate(PLAIN))


def documentation_split() -> tuple[str, str]:
    """The documentation as plain text: the first nine tenths for training, the last tenth held out.

    Topics stand in alphabetical order and share some sentences, so a part of the held-out text has been seen in training.
    """
    text = plain_text(python_documentation())
    cut = len(text) * 9 // 10
    return text[:cut], text[cut:]
