"""What grading is told, what comes of it, and by what a result is known again. PyTorch is not needed here, and not loaded."""

import functools
import hashlib
import platform
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any

from .limits import Limits
from .names import printable
from .released_notebook import ReleasedNotebook
from .running.library_copy import CHECKS, LIBRARY
from .running.sandbox import GRADER


@dataclass(frozen=True)
class GradingSettings:
    """What is the same for a whole class."""

    releases: dict[str, ReleasedNotebook]  # of the lessons that are graded
    seed: str  # secret until the grades are out; every exercise's inputs are drawn from it
    limits: Limits = field(default_factory=Limits)  # for each submission
    sandbox: bool = True  # whether kernels run in a sandbox
    allowed: frozenset[str] = frozenset()  # exercises in which what is off limits may be used after all
    partial: bool = False  # whether an answer that is wrong in special cases only earns a part of the points


def key(data: bytes, settings: GradingSettings, lesson: str) -> str:
    """What a result is known by, made of everything that it depends on: the same key, the same result."""
    parts = [repr(settings.releases.get(lesson)), repr(settings.limits), repr(settings.sandbox), settings.seed]
    parts += [repr(sorted(settings.allowed)), repr(settings.partial), course_digest()]
    return hashlib.sha256(data + b"\0" + "\0".join(parts).encode()).hexdigest()


@functools.cache
def course_digest() -> str:
    """Of the code of library, checks and grader, and of the solutions that the checks hold."""
    digest = hashlib.sha256()
    for package in (LIBRARY, CHECKS, GRADER):
        for path in sorted(path for path in package.rglob("*") if path.suffix in (".py", ".json", ".toml", ".csv")):
            name = path.relative_to(package.parent).as_posix().encode()
            digest.update(name + b"\0" + path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def unreadable(problem: str, settings: GradingSettings) -> dict:
    """The result of a file that is no notebook."""
    return new_result(settings, "", []) | {"problem": printable(problem, 200)}


def failed(problem: Exception, settings: GradingSettings) -> dict:
    """The result of a submission at which the grader itself failed."""
    return unreadable(f"could not be graded: {type(problem).__name__}: {problem}", settings) | {"review": True}


def new_result(settings: GradingSettings, lesson: str, results: list[Any]) -> dict:
    """A result as it is stored, of exercises that were scored (``ExerciseScore``); nothing was noticed yet."""
    return {
        "lesson": lesson,
        "exercises": [asdict(exercise) for exercise in results],  # and ``code``, with what ``compared`` says of it
        "earned": sum(exercise.earned for exercise in results),
        "total": sum(exercise.points for exercise in results),
        "problem": "",
        "restored": [],  # what the rebuilt notebook does not take over
        "noticed": [],  # what an instructor may want to look at
        "cells": {},  # those among them that are no answers: what it is called there -> its text
        "events": [],  # what ended kernels
        "review": False,
        "seconds": 0.0,
        "seed": settings.seed,
        "isolation": "bubblewrap" if settings.sandbox else "none",
        "versions": {"python": platform.python_version(), "torch": version("torch"), "course": course_digest()[:16]},
    }
