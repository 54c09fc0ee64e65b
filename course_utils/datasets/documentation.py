"""A text that every Python carries: its own language reference."""

import ast
import re
import sysconfig
from pathlib import Path
from typing import NamedTuple

WORD = re.compile(r"[a-z_]*[a-z][a-z_]*")
# The characters of the language model that comes with the course: the same whatever release of Python the text is from.
CHARACTERS = ("\n", *map(chr, range(ord(" "), ord("~") + 1)))
# Folders of the standard library that document nothing, or are not part of it.
OTHERS = {
    "test",
    "tests",
    "site-packages",
    "dist-packages",
    "idlelib",
    "lib2to3",
    "pydoc_data",
    "turtledemo",
    "ensurepip",
}
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


def docstrings() -> str:
    """What the modules of Python's standard library say of themselves, as one text of about 1.4 million characters.

    The docstrings of modules, classes and functions, in the order of the files' names and of their lines; those shorter than
    80 characters and repetitions are left out. They are read from the source files of the running Python, so the text differs
    from one release to the next; nothing is imported or run.
    """
    folder, found = Path(sysconfig.get_path("stdlib")), {}
    for path in sorted(folder.rglob("*.py")):
        if not OTHERS.isdisjoint(path.relative_to(folder).parts):
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError):  # a template, or another encoding
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                said = ast.get_docstring(node) or ""
                if len(said) >= 80:
                    found[said] = None  # a dictionary keeps the order
    return "\n\n".join(found)


class DocumentationSplit(NamedTuple):
    """The parts of the documentation: to train on, to choose by, and to judge by when nothing is chosen any more."""

    train: str
    valid: str
    test: str


def documentation_split() -> DocumentationSplit:
    """The documentation as plain text: the first 85 % for training, the next 5 % for validation, the last tenth for the test.

    Topics stand in alphabetical order and share some sentences, so a part of the test text has been seen in training.
    """
    text = plain_text(python_documentation())
    train, valid = len(text) * 85 // 100, len(text) * 9 // 10
    return DocumentationSplit(text[:train], text[train:valid], text[valid:])
