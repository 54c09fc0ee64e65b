"""For tests that run kernels in the sandbox: Linux only, and skipped where bubblewrap is missing (``needs.py``)."""

from dataclasses import replace

import handed_in
import pytest

from course_grader.grade import GradingSettings, grade_one
from course_grader.limits import Limits
from course_grader.released_notebook import ReleasedNotebook, load_releases

linux = pytest.mark.needs("sandbox")
EXERCISES = handed_in.ROOT / "exercises"
ANSWER = object()


def make_settings(**changes):
    """Settings for lessons 01 and 02, with short limits."""
    releases = load_releases(EXERCISES, "01") | load_releases(EXERCISES, "02")
    arguments = {"seed": "a seed for tests", "limits": Limits(cell_s=10, notebook_s=60)} | changes
    return GradingSettings(releases, **arguments)


def outcomes(result):
    """Exercise -> outcome."""
    return {exercise["number"]: exercise["outcome"] for exercise in result["exercises"]}


def graded_alone(number, *cells, **changes):
    """The result of a notebook of one exercise alone, whose page imports PyTorch and nothing else.

    Args:
        number: The exercise.
        cells: Texts; the one that follows ``ANSWER`` stands in the answer's cell, the others beside it.
        changes: Of the settings.
    """
    lesson = number.partition(".")[0].zfill(2)
    (released,) = load_releases(EXERCISES, lesson).values()
    setup = next(cell for cell in released.cells if cell.role == "provided")
    setup = replace(setup, text="import torch\nimport torch.nn.functional as F\nfrom torch import nn\n")
    own = [cell for cell in released.cells if cell.number == number]
    alone = ReleasedNotebook(released.stem, (setup, *own), {number: released.exercises[number]})
    answer = next(cell.id for cell in own if cell.role == "answer")
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}
    for place, text in enumerate(cells):
        if text is not ANSWER:
            name = answer if place and cells[place - 1] is ANSWER else f"extra-{place}"
            notebook["cells"].append(handed_in.code(text) | {"id": name})
    arguments = {"seed": "a seed for tests", "limits": Limits(cell_s=20, notebook_s=90)} | changes
    return grade_one(handed_in.as_bytes(notebook), "x.ipynb", GradingSettings({lesson: alone}, **arguments))
