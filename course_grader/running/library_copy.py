"""The copy of the library that a student's code runs with: without the answers, and with the half of a check that runs.

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

from ..in_sandbox import engine_stub

LIBRARY = Path(course_utils.__file__).resolve().parent
CHECKS = Path(course_checks.__file__).resolve().parent
ENGINE = Path("engine.py")
COPIED_OF_CHECKS = {"__init__.py", "engine.py", "catalogue.py", "catalogue.json", "running"}  # all else there decides
LEFT_OUT = {"__pycache__", ".ipynb_checkpoints"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
KEEP_S = 7 * 24 * 3600.0


def library_files() -> list[Path]:
    """What of the library is copied, relative to the library."""
    return _files_in(LIBRARY)


def check_files() -> list[Path]:
    """What of the checks is copied, relative to their package: what runs, and nothing that decides."""
    return [path for path in _files_in(CHECKS) if path.parts[0] in COPIED_OF_CHECKS]


def _files_in(package: Path) -> list[Path]:
    paths = (path.relative_to(package) for path in sorted(package.rglob("*")) if path.is_file())
    return [path for path in paths if LEFT_OUT.isdisjoint(path.parts)]


@functools.cache
def library_copy(names: frozenset[str]) -> Path:
    """The folder to import the library from, without the bodies of the functions and classes of these dotted names.

    It is made once for each version of the library and each choice of names, and kept among the user's caches.
    """
    copies = platformdirs.user_cache_path("attention-course") / "library-copies"
    target = copies / f"{_digest()[:16]}-{hashlib.sha256(repr(sorted(names)).encode()).hexdigest()[:16]}"
    if target.is_dir():
        os.utime(target)
        return target
    copies.mkdir(parents=True, exist_ok=True)
    for old in copies.iterdir():
        if time.time() - old.stat().st_mtime > KEEP_S:
            shutil.rmtree(old, ignore_errors=True)
    unfinished = copies / f".unfinished-{secrets.token_hex(8)}"
    try:
        library = without_bodies(_python_texts(LIBRARY, library_files()), names)
        _fill(unfinished / LIBRARY.name, LIBRARY, library_files(), library)
        checks = _python_texts(CHECKS, check_files())
        checks[ENGINE] = Path(engine_stub.__file__).read_text(encoding="utf-8")
        _fill(unfinished / CHECKS.name, CHECKS, check_files(), checks)
        unfinished.rename(target)
    except OSError:
        if not target.is_dir():  # else another grader was quicker
            raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return target


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
                os.link(package / path, copy)  # the weights are 7 MB, and there is a copy for each set of names
            except OSError:  # another file system
                shutil.copyfile(package / path, copy)


@functools.cache
def _digest() -> str:
    digest = hashlib.sha256()
    copied = [*(LIBRARY / path for path in library_files()), *(CHECKS / path for path in check_files())]
    for path in (Path(__file__), Path(engine_stub.__file__), *copied):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def without_bodies(texts: dict[Path, str], names: Iterable[str]) -> dict[Path, str]:
    """The library's modules (path -> source) with the bodies of these dotted names taken out."""
    trees = {path: ast.parse(text) for path, text in texts.items()}
    removed: dict[Path, set[str]] = {}
    for name in names:
        path, inner = _definition_of(name)
        if inner not in _definitions(trees[path]):
            raise ValueError(f"off limits ({name}): {path} defines no {inner}")
        _take_out(trees[path], inner, name)
        removed.setdefault(path, set()).add(inner)
    while helpers := _unused_helpers(trees, removed):
        for path, name in helpers:
            _take_out(trees[path], name, f"course_utils.{path.stem}.{name}")
            removed[path].add(name)
    return texts | {path: ast.unparse(ast.fix_missing_locations(trees[path])) + "\n" for path in removed}


def _definition_of(name: str) -> tuple[Path, str]:
    """The module that defines what a dotted name stands for, and its name there."""
    from course_checks.running.guard import resolve  # PyTorch comes with it, and most runs find their copy made

    definition = resolve(name)
    module = Path(*definition.__module__.split(".")[1:])
    path = module / "__init__.py" if (LIBRARY / module).is_dir() else module.with_suffix(".py")
    return path, definition.__qualname__


def _definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    return {node.name: node for node in tree.body if isinstance(node, (*FUNCTIONS, ast.ClassDef))}


def _take_out(tree: ast.Module, inner: str, name: str) -> None:
    """Put a refusal in the place of a function's body, or of those of a class's methods."""
    refusal = f"raise __import__('course_checks.running.guard', fromlist=['hidden']).hidden({name!r})"
    definition = _definitions(tree)[inner]
    for function in [definition] if isinstance(definition, FUNCTIONS) else definition.body:
        if isinstance(function, FUNCTIONS):
            function.body = ast.parse(refusal).body


def _unused_helpers(trees: dict[Path, ast.Module], removed: dict[Path, set[str]]) -> list[tuple[Path, str]]:
    """Private functions and classes, in modules where a body was taken out, that nothing in the library names any more."""
    users: dict[str, set[tuple[Path, str]]] = {}
    for path, tree in trees.items():
        for statement in tree.body:
            for node in ast.walk(statement):
                word = node.name if isinstance(node, ast.alias) else getattr(node, "id", getattr(node, "attr", ""))
                if word:
                    users.setdefault(word, set()).add((path, getattr(statement, "name", "")))
    return [
        (path, name)
        for path in removed
        for name in _definitions(trees[path])
        if name.startswith("_") and name not in removed[path] and not users.get(name, set()) - {(path, name)}
    ]
