"""Writing files so that nobody ever sees half of one."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

# How the name of a file begins that is being written; one that is left over belongs to a dead process.
UNFINISHED = ".part-"


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file to write to; when the block ends it takes the place of ``path``, whenever the process or machine dies.

    Folders that are missing are made. If the block raises, ``path`` stays as it was and nothing is left over.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=UNFINISHED)
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        with open(unfinished, "rb+") as file:
            os.fsync(file.fileno())
        unfinished.chmod(0o644)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def write_whole(path: Path, text: str) -> None:
    """Write a text file, in UTF-8 and with its line endings as they are: it is there whole, or as it was before."""
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="")
