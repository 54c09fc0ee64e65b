"""What a notebook's outputs depend on besides its cells: the library's code that they reach, and the data that ship with it.

Read from syntax trees; nothing is imported. A notebook depends on the top-level definitions that its cells name, on those
that these name in turn, and so on: a change to one function leaves a notebook alone that uses another function of the same
module. Comments, layout and docstrings do not count. What cannot be told from the names counts whole: a module that is
handed around, a name that no statement binds, what a lesson's exercises say of their checks, the data of a package whose
code says ``__file__``.

This rests on two rules, each held by a test: importing a module changes nothing outside it, and outside the checks no
module is imported by a name that is worked out at run time.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from .catalogue import CATALOGUE, SOLUTIONS
from .definitions import Dotted, Module, Names
from .errors import AuthoringError

CHECKS = "course_checks"  # its files of a lesson are found by the number of an exercise, not by an import statement
PACKAGES = ("course_utils", CHECKS)
# Code that names one of these sees comments and docstrings.
READS_TEXT = {"__doc__", "help", "inspect", "getsource", "getdoc"}
DOTTED = re.compile(rf"({'|'.join(PACKAGES)})(\.\w+)+")
EXERCISE_NUMBER = re.compile(r"(\d{1,2})\.\d{1,2}")


class Library:
    """The library as it stands now; each of its files is read once.

    Args:
        root: The project's folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._modules: dict[Dotted, Module | None] = {}
        self._data: dict[Path, bytes] = {}

    def module(self, name: Dotted) -> Module | None:
        """The module of that dotted name; None if the library has none.

        Raises:
            AuthoringError: Its file is not Python.
        """
        if name not in self._modules:
            base = self._root.joinpath(*name)
            paths = (path for path in (base / "__init__.py", base.with_suffix(".py")) if path.is_file())
            path = next(paths, None) if name[0] in PACKAGES else None
            try:
                self._modules[name] = path and Module(name, path, _same_everywhere(path.read_bytes()).decode())
            except SyntaxError as problem:
                raise AuthoringError(f"syntax error at line {problem.lineno}: {problem.msg}", self.file(path)) from None
        return self._modules[name]

    def file(self, path: Path) -> str:
        """The path relative to the project, with forward slashes."""
        return path.relative_to(self._root).as_posix()

    def provenance(self, cells: Names, lesson: int) -> dict[str, str]:
        """File of the library -> digest of what of it the cells reach.

        Args:
            cells: What the notebook's code cells name (``definitions.names_in``).
            lesson: The number of the lesson. If the cells use the checks, then what its exercises say of theirs counts,
                and so does that of the lesson of every exercise whose number stands in the cells.
        """
        reached = _Reached(self)
        reached.follow(cells)
        numbers = (EXERCISE_NUMBER.fullmatch(text) for text in cells.strings)
        lessons = {lesson, *(int(number.group(1)) for number in numbers if number)}
        if any(module.name[0] == CHECKS for module in reached.modules):
            for name in self._checks_of(lessons):
                reached.use(name)
        as_text = reached.reads_text or READS_TEXT & cells.mentioned
        digests = {}
        for module in reached.modules:
            if code := module.text if as_text else module.code(*reached.of(module)):
                digests[self.file(module.path)] = _digest(code.encode())
        for path in reached.data_files(self._root):
            if path not in self._data:
                self._data[path] = _same_everywhere(path.read_bytes())
            carried = self.file(path) in (CATALOGUE, SOLUTIONS)
            digests[self.file(path)] = _digest(_entries(self._data[path], lessons) if carried else self._data[path])
        return dict(sorted(digests.items()))

    def _checks_of(self, lessons: set[int]) -> list[Dotted]:
        """The modules of the checks in the folders of these lessons, and the drivers of that name."""
        own = {f"lesson_{lesson:02d}" for lesson in lessons}
        names = [path.relative_to(self._root).with_suffix("").parts for path in (self._root / CHECKS).rglob("*.py")]
        return [name for name in names if own.intersection(name) and name[-1] != "__init__"]


def changes(before: object, after: Mapping[str, str]) -> str | None:
    """Which files of the library are not those that a notebook was run with, as a sentence; None if all are.

    Args:
        before: What the notebook says: the result of ``Library.provenance`` when it was run, if it says so.
        after: The same, now.
    """
    if not isinstance(before, Mapping):
        return "it does not say with which library it was run"
    names = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    if not names:
        return None
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more} changed since it was run"


class _Reached:
    """Of each module the statements (by place) and the imported names that are reached so far."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._places: dict[Module, set[int]] = {}
        self._imports: dict[Module, set[str]] = {}
        self._waiting: list[tuple[Module, int]] = []
        self._seen: set[tuple[Dotted, Dotted]] = set()
        self._says_where: set[Module] = set()
        self.reads_text = False

    @property
    def modules(self) -> list[Module]:
        return list(self._places)

    def of(self, module: Module) -> tuple[set[int], set[str]]:
        return self._places[module], self._imports[module]

    def follow(self, names: Names) -> None:
        """Reach all that the names of a notebook lead to."""
        self._look_up(names, None)
        self._drain()

    def use(self, name: Dotted) -> None:
        """Reach what the dotted name stands for, a module or something in a module."""
        self._resolve(name, ())
        self._drain()

    def data_files(self, root: Path) -> set[Path]:
        """Data named like a reached module beside it; all data of a folder in which reached code says ``__file__``."""
        found = {
            path
            for module in self._places
            if module.path.name != "__init__.py"
            for path in module.path.parent.glob(f"{module.path.stem}.*")
        }
        for module in self._says_where:
            beside = module.path.parent.rglob("*")
            found |= {path for path in beside if not path.with_suffix(".py").is_file()}
        return {path for path in found if path.is_file() and _is_data(path.relative_to(root))}

    def _drain(self) -> None:
        while self._waiting:
            module, place = self._waiting.pop()
            names = module.names(place)
            if "__file__" in names.mentioned:
                self._says_where.add(module)
            self.reads_text |= bool(READS_TEXT & names.mentioned)
            self._look_up(names, module)

    def _look_up(self, names: Names, module: Module | None) -> None:
        for origins in names.imports.values():
            for base, attributes in origins:
                source = self._library.module(base)
                if source is not None and attributes and source.binds(attributes[0]):  # used or not, it must be there
                    self._resolve(base, attributes)
        for text in names.strings:
            if DOTTED.fullmatch(text):  # what a check puts off limits, for example
                package, *rest = text.split(".")
                self._resolve((package,), tuple(rest))
        for root, *attributes in names.chains:
            for base, first in names.imports.get(root, ()):
                self._resolve(base, (*first, *attributes))
            if module is not None:
                self._in_module(module, root, tuple(attributes))

    def _resolve(self, name: Dotted, attributes: Dotted) -> None:
        """Reach ``name.attributes``, where ``name`` is a module; of another library than ours nothing is reached."""
        if (name, attributes) in self._seen:
            return
        self._seen.add((name, attributes))
        module = self._library.module(name)
        if module is not None:
            self._enter(module)
        if module is not None and attributes and module.binds(attributes[0]):
            self._in_module(module, attributes[0], attributes[1:])
        elif attributes and self._library.module((*name, attributes[0])) is not None:
            self._resolve((*name, attributes[0]), attributes[1:])
        elif module is not None:  # the module itself, handed around; or a name that nothing binds
            for bound in {*module.bound, *module.imports}:
                self._in_module(module, bound, ())

    def _in_module(self, module: Module, name: str, attributes: Dotted) -> None:
        self._reach(module, module.bound.get(name, ()))
        for base, first in module.imports.get(name, ()):
            self._imports[module].add(name)
            self._resolve(base, (*first, *attributes))

    def _enter(self, module: Module) -> None:
        if module not in self._places:
            self._places[module], self._imports[module] = set(), set()
            self._reach(module, module.always)

    def _reach(self, module: Module, places: Iterable[int]) -> None:
        new = set(places) - self._places[module]
        self._places[module] |= new
        self._waiting += [(module, place) for place in new]


def _is_data(path: Path) -> bool:
    """Whether a file of the library (relative to the project) is data: no code, nothing hidden, nothing half written."""
    return path.suffix not in (".py", ".pyc", ".part") and not any(part[0] == "." for part in path.parts)


def _same_everywhere(data: bytes) -> bytes:
    return data if b"\0" in data else data.replace(b"\r\n", b"\n")  # text may be checked out with other line endings


def _entries(data: bytes, lessons: set[int]) -> bytes:
    """Of a file with an entry for each exercise, those of these lessons."""
    entries = {number: entry for number, entry in json.loads(data).items() if int(number.partition(".")[0]) in lessons}
    return json.dumps(entries).encode()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]
