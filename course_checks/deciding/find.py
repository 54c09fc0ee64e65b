"""From an exercise's number to what its file says, with what the catalogue knows of it."""

import dataclasses
import functools
import importlib
import re

from ..catalogue import CatalogueEntry, catalogue, catalogue_entry
from .exercise import Entry, Quiz
from .solution import carried


def module_name(entry: CatalogueEntry) -> str:
    """Where the check of a coding exercise or an experiment stands: ``lesson_12.decoder_block`` for ``DecoderBlock``."""
    return f"lesson_{entry.lesson:02d}.{re.sub(r'(?<=[a-z])(?=[A-Z])', '_', entry.answer).lower()}"


@functools.cache
def find(number: str) -> Entry:
    """The entry of one exercise.

    Raises:
        ValueError: There is no such exercise.
        LookupError: The lesson's folder has no file for it.
    """
    entry = catalogue_entry(number)
    if entry.is_quiz:
        return Quiz(**carried(number), entry=entry)
    name = f"{__package__.rpartition('.')[0]}.{module_name(entry)}"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as problem:
        if problem.name is None or not name.startswith(problem.name):
            raise
        raise LookupError(f"exercise {number} ({entry.answer}) has no file {name.replace('.', '/')}.py") from None
    return dataclasses.replace(module.EXERCISE, entry=entry)


def all_entries() -> dict[str, Entry]:
    """Every entry of every lesson, in order."""
    return {number: find(number) for number in catalogue()}
