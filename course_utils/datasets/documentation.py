"""Python's language reference, which comes with the course, and what the modules of the running Python say of themselves."""

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
    """The language reference that ``help()`` of Python 3.11 shows, as one text of about half a million characters.

    Its topics stand in alphabetical order, joined by empty lines. The text comes with the course, since that of the running
    Python differs from one release to the next: a model would be judged by sentences that it was trained on.

    Source:
        ``pydoc_data.topics`` of Python 3.11.7, copyright Python Software Foundation, under the PSF License, which stands
        beside it (``data/python_reference.LICENSE.txt``).
    """
    return (Path(__file__).parent / "data" / "python_reference.txt").read_text(encoding="utf-8")


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
    folder, texts = Path(sysconfig.get_path("stdlib")), {}
    for path in sorted(folder.rglob("*.py")):
        if not OTHERS.isdisjoint(path.relative_to(folder).parts):
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError):  # a template, or another encoding
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or ""
                if len(text) >= 80:
                    texts[text] = None  # a dictionary keeps the order
    return "\n\n".join(texts)


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
