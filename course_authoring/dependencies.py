"""What a notebook's outputs depend on besides its cells: the modules of the library that they import, and its data.

``sources/built_with.txt`` keeps for each notebook one digest of all that, as it was when the notebook was run: of every module
that its cells import, directly or through other modules of the library, without comments, docstrings and empty lines; of the
data files of these modules' packages; and, where the cells use the checks, of what the lessons of its checks have there.

The digest follows import statements. So outside the checks no module may be imported by a name that is worked out at run
time; a test holds that.
"""

import ast
import hashlib
import io
import json
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from course_utils.files import write_whole

from .catalogue import CATALOGUE, SOLUTIONS
from .errors import AuthoringError

RECORD = "sources/built_with.txt"
ADDRESS = "address"
CHECKS = "course_checks"  # its files of a lesson are found by the number of an exercise, not by an import statement
PACKAGES = ("course_utils", CHECKS)
DATA = (".csv", ".js", ".json", ".md", ".safetensors", ".txt")
Dotted = tuple[str, ...]


class Library:
    """The library as it stands now; each of its files is read once.

    Args:
        root: The project's folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._modules: dict[Path, tuple[str, list[Dotted]]] = {}
        self._data: dict[Path, bytes] = {}

    def digest(self, cells: Iterable[str], lessons: set[int]) -> str:
        """Of all that these code cells of a notebook depend on.

        Args:
            cells: Their text.
            lessons: The lessons whose checks it uses.

        Raises:
            AuthoringError: A module is not Python.
        """
        modules = self._reached([name for cell in cells for name in imported(ast.parse(cell))], lessons)
        digests = {path: self._modules[path][0] for path in modules}
        for package in (path.parent for path in modules if path.name == "__init__.py"):
            digests |= {path: self._data_digest(path, lessons) for path in _data_files(package)}
        lines = sorted(f"{path.relative_to(self._root).as_posix()} {digest}" for path, digest in digests.items())
        return _digest("\n".join(lines).encode())

    def _reached(self, names: list[Dotted], lessons: set[int]) -> set[Path]:
        """The files of all modules that are imported where these are; importing ``a.b`` imports ``a`` as well."""
        reached: set[Path] = set()
        while names:
            name = names.pop()
            for length in range(1, len(name) + 1):
                path = self._file(name[:length])
                if path is not None and path not in reached:
                    reached.add(path)
                    names += self._read(path, name[:length])
                    if name[:length] == (CHECKS,):
                        names += self._checks_of(lessons)
        return reached

    def _file(self, name: Dotted) -> Path | None:
        base = self._root.joinpath(*name)
        paths = (base / "__init__.py", base.with_suffix(".py")) if name[0] in PACKAGES else ()
        return next((path for path in paths if path.is_file()), None)

    def _read(self, path: Path, name: Dotted) -> list[Dotted]:
        """The names that a module imports; its digest is kept."""
        if path not in self._modules:
            text = path.read_text(encoding="utf-8")
            try:
                tree = ast.parse(text)
            except SyntaxError as problem:
                reason = f"syntax error at line {problem.lineno}: {problem.msg}"
                raise AuthoringError(reason, path.relative_to(self._root).as_posix()) from None
            package = name if path.name == "__init__.py" else name[:-1]
            self._modules[path] = _digest(code_of(text, tree).encode()), list(imported(tree, package))
        return self._modules[path][1]

    def _checks_of(self, lessons: set[int]) -> list[Dotted]:
        """The modules in the folders of the lessons' checks, and their drivers."""
        paths = (self._root / CHECKS).rglob("*.py")
        names = [path.relative_to(self._root).with_suffix("").parts for path in paths]
        folders = {f"lesson_{lesson:02d}" for lesson in lessons}
        return [name for name in names if not folders.isdisjoint(name)]

    def _data_digest(self, path: Path, lessons: set[int]) -> str:
        if path not in self._data:
            data = path.read_bytes()  # text may be checked out with other line endings
            self._data[path] = data if b"\0" in data else data.replace(b"\r\n", b"\n")
        data = self._data[path]
        if path.relative_to(self._root).as_posix() in (CATALOGUE, SOLUTIONS):
            entries = json.loads(data).items()
            data = json.dumps([entry for entry in entries if int(entry[0].partition(".")[0]) in lessons]).encode()
        return _digest(data)


def imported(tree: ast.AST, package: Dotted = ()) -> Iterator[Dotted]:
    """What the import statements in the code name, modules and what is taken from them; relative ones start from ``package``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            yield from ((*base, alias.name) for alias in node.names)


def code_of(text: str, tree: ast.AST) -> str:
    """A module's text without comments, docstrings and empty lines: the same in every release of Python, unlike its tree."""
    lines, dropped = text.split("\n"), set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.NL):
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
            if not lines[row - 1]:
                dropped.add(row)
    for node in ast.walk(tree):
        is_text = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        if is_text and not lines[node.lineno - 1][: node.col_offset].strip():
            dropped.update(range(node.lineno, node.end_lineno + 1))
    return "\n".join(line for row, line in enumerate(lines, 1) if row not in dropped)


def read_record(root: Path) -> dict[str, str]:
    """Path of a notebook -> digest of what it was last run with; ``ADDRESS`` -> the address that all of them hold."""
    path = root / RECORD
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def write_record(root: Path, digests: Mapping[str, str]) -> None:
    """Keep these digests, and no others."""
    write_whole(root / RECORD, "".join(f"{digest}  {path}\n" for path, digest in sorted(digests.items())))


def _data_files(package: Path) -> Iterator[Path]:
    """The files of a package that hold data, with those in its folders of data."""
    for path in package.iterdir():
        if path.is_dir() and path.name[0] not in "._" and not (path / "__init__.py").is_file():
            yield from _data_files(path)
        elif path.is_file() and path.suffix in DATA:
            yield path


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]
