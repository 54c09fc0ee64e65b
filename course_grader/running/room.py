"""The room that a student's code runs in: a copy of the library without the answers, and the half of a check that runs.

What decides is not in it, and of what an exercise puts off limits only the names: the bodies are taken out, and so is every
private helper that nothing else in the library needs. What is not there cannot be borrowed, however it is reached.
"""

import ast
import functools
import hashlib
import os
import py_compile
import secrets
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

import platformdirs

import course_checks
import course_utils
from course_checks.running.guard import resolve

from ..inside import engine

LIBRARY = Path(course_utils.__file__).resolve().parent
CHECKS = Path(course_checks.__file__).resolve().parent
ENGINE = Path("engine.py")
OF_THE_CHECKS = (
    "__init__.py",
    "engine.py",
    "catalogue.py",
    "catalogue.json",
    "running",
)  # whatever else there is decides
LEFT_OUT = {"__pycache__", ".ipynb_checkpoints"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
OLD_S = 7 * 24 * 3600.0


def files() -> list[Path]:
    """What of the library is carried into a room, relative to the library."""
    return _files_in(LIBRARY)


def files_of_the_checks() -> list[Path]:
    """What of the checks is carried into a room, relative to their package: what runs, and nothing that decides."""
    return [path for path in _files_in(CHECKS) if path.parts[0] in OF_THE_CHECKS]


def _files_in(package: Path) -> list[Path]:
    found = (path.relative_to(package) for path in sorted(package.rglob("*")) if path.is_file())
    return [path for path in found if LEFT_OUT.isdisjoint(path.parts)]


@functools.cache
def room(names: frozenset[str]) -> Path:
    """The folder to import the library from.

    It is made once for each version of the library and each choice of names, and kept among the user's caches.

    Args:
        names: Dotted names of the library's functions and classes whose bodies are taken out.

    Raises:
        ValueError: The library has no function or class of that name.
    """
    rooms = platformdirs.user_cache_path("attention-course") / "rooms"
    place = rooms / f"{_digest()[:16]}-{hashlib.sha256(repr(sorted(names)).encode()).hexdigest()[:16]}"
    if place.is_dir():
        os.utime(place)
        return place
    rooms.mkdir(parents=True, exist_ok=True)
    _remove_old(rooms)
    unfinished = rooms / f".unfinished-{secrets.token_hex(8)}"
    try:
        library = without(_python_texts(LIBRARY, files()), names)
        _fill(unfinished / LIBRARY.name, LIBRARY, files(), library)
        checks = _python_texts(CHECKS, files_of_the_checks())
        checks[ENGINE] = Path(engine.__file__).read_text(encoding="utf-8")
        _fill(unfinished / CHECKS.name, CHECKS, files_of_the_checks(), checks)
        unfinished.rename(place)
    except OSError:
        if not place.is_dir():  # else another grader was quicker
            raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return place


def _python_texts(package: Path, paths: list[Path]) -> dict[Path, str]:
    return {path: (package / path).read_text(encoding="utf-8") for path in paths if path.suffix == ".py"}


def _fill(target: Path, package: Path, paths: list[Path], texts: dict[Path, str]) -> None:
    for path in paths:
        copy = target / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path in texts:
            copy.write_text(texts[path], encoding="utf-8")
            py_compile.compile(str(copy), doraise=True)
        else:
            try:
                os.link(package / path, copy)
            except OSError:  # another file system
                shutil.copyfile(package / path, copy)


def _remove_old(rooms: Path) -> None:
    for path in rooms.iterdir():
        if time.time() - path.stat().st_mtime > OLD_S:
            shutil.rmtree(path, ignore_errors=True)


@functools.cache
def _digest() -> str:
    digest = hashlib.sha256()
    for path in (
        Path(__file__),
        Path(engine.__file__),
        *(LIBRARY / name for name in files()),
        *(CHECKS / name for name in files_of_the_checks()),
    ):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def without(texts: dict[Path, str], names: Iterable[str]) -> dict[Path, str]:
    """The library's modules with some bodies taken out.

    Args:
        texts: Path in the library -> source.
        names: Dotted names.

    Raises:
        ValueError: The library has no function or class of that name.
    """
    trees = {path: ast.parse(text) for path, text in texts.items()}
    hidden: dict[Path, dict[str, str]] = {}
    for name in names:
        path, inner = _place(name)
        if inner not in _definitions(trees[path]):
            raise ValueError(f"off limits ({name}): {path} defines no {inner}")
        hidden.setdefault(path, {})[inner] = name
    _empty(trees, hidden)
    while helpers := _unused_helpers(trees, hidden):
        for path, name in helpers:
            hidden.setdefault(path, {})[name] = f"course_utils.{path.stem}.{name}"
        _empty(trees, hidden)
    return {
        path: ast.unparse(ast.fix_missing_locations(trees[path])) + "\n" if path in hidden else texts[path]
        for path in texts
    }


def _place(name: str) -> tuple[Path, str]:
    """The module that defines what a dotted name stands for, and its name there."""
    found = resolve(name)
    module = Path(*found.__module__.split(".")[1:])
    path = module / "__init__.py" if (LIBRARY / module).is_dir() else module.with_suffix(".py")
    return path, found.__qualname__


def _definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    return {node.name: node for node in tree.body if isinstance(node, (*FUNCTIONS, ast.ClassDef))}


def _empty(trees: dict[Path, ast.Module], hidden: dict[Path, dict[str, str]]) -> None:
    for path, names in hidden.items():
        found = _definitions(trees[path])
        for inner, name in names.items():
            functions = [found[inner]] if isinstance(found[inner], FUNCTIONS) else found[inner].body
            for function in functions:
                if isinstance(function, FUNCTIONS):
                    function.body = [_refusal(name)]


def _refusal(name: str) -> ast.stmt:
    return ast.parse(f"raise __import__('course_checks.running.guard', fromlist=['hidden']).hidden({name!r})").body[0]


def _unused_helpers(trees: dict[Path, ast.Module], hidden: dict[Path, dict[str, str]]) -> list[tuple[Path, str]]:
    """Private functions and classes, beside what is hidden, that nothing in the library names any more."""
    used: set[tuple[str, str]] = set()  # (name, who names it)
    for path, tree in trees.items():
        for statement in tree.body:
            owner = f"{path}:{getattr(statement, 'name', '')}"
            used |= {(word, owner) for node in ast.walk(statement) if (word := _word(node))}
    users: dict[str, set[str]] = {}
    for word, owner in used:
        users.setdefault(word, set()).add(owner)
    return [
        (path, name)
        for path, names in hidden.items()
        for name in _definitions(trees[path])
        if name.startswith("_") and name not in names and not users.get(name, set()) - {f"{path}:{name}"}
    ]


def _word(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.alias):
        return node.name
    return node.id if isinstance(node, ast.Name) else ""
