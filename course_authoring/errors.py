"""What an author did wrong, said with the file, the cell and the reason."""


class AuthoringError(Exception):
    """A mistake in a source (or in the set-up of the build) that stops the build of that source.

    Args:
        reason: What is wrong and how to mend it.
        path: The file, relative to the project.
        cell: Ordinal of the cell in the source, from 1.
        line: Line of the source at which the cell begins.
    """

    def __init__(self, reason: str, path: str, cell: int | None = None, line: int | None = None) -> None:
        self.reason, self.path, self.cell, self.line = reason, path, cell, line
        where = path if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {'' if cell is None else f'cell {cell}: '}{reason}")
