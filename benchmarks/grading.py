"""How fast the class grader is.

``python -m benchmarks.grading class`` grades 200 submissions of lesson 01 whose scores are known beforehand. ``lessons`` times a
solved notebook of every lesson, ``workers`` the same class on one and two processes and Dask workers, and ``tools`` the same
notebooks beside plain nbval and nbgrader (in a virtual environment of its own: ``make test-nbgrader`` makes it). Each prints a
table in Markdown. ``--lessons 01 05`` and ``--size 10`` choose which lessons and how many submissions.
"""

import argparse
import csv
import functools
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import torch

from course_checks.catalogue import CatalogueEntry, catalogue, catalogue_entry
from course_checks.deciding.find import find
from course_grader.grade import grade_one
from course_grader.limits import Limits
from course_grader.released_notebook import load_releases
from course_grader.result import GradingSettings
from course_grader.run_again import SecondRun

from .measure import seconds

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "checks")]  # the wrong answers are the recorded ones

import handed_in  # noqa: E402

STEM, LESSON = handed_in.LESSON_01, "01"
SIZE, SEED = 200, 7
THREE = ["01", "05", "12"]
PATIENT = Limits(cell_s=600, notebook_s=3600)  # a busy machine is timed as well
CORES = 16  # of the machine that the table by lesson counts for
BROKEN = (b"", b"null", b'{"nbformat": 4, "cells": [', b"\xff\xfe")
HOSTILE = (
    "import os\nos._exit(0)",
    "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "while True:\n    pass",
    "hoard = [bytearray(b'x') * 10**9 for _ in range(100)]",
    "print('x' * 10**8)",
    "import os\nwhile os.fork() or True:\n    pass",
)


def notebook(answers: dict[str, str]) -> bytes:
    """The exercise notebook of lesson 01 with these answers, by cell id."""
    return handed_in.as_bytes(handed_in.solved(only=set(), **answers))


def generate(folder: Path, size: int = SIZE, seed: int = SEED) -> dict[str, int]:
    """Write a class into ``folder``: a fifth solved, a tenth blank, 5 % broken or hostile, the rest mixtures with known mistakes.

    Returns:
        Student -> the points that are earned, counted while the class is made.
    """
    chance, earned = random.Random(seed), {}
    texts = {cell["id"]: cell["source"] for cell in handed_in.solved()["cells"]}
    solved = {name: texts[name] for name in handed_in.answer_ids(handed_in.blank())}
    for index in range(size):
        student = f"student_{index:05d}"
        (folder / student).mkdir(parents=True)
        kind = chance.random()
        answers, points = {}, 0
        for name, text in solved.items():
            number = ".".join(name.split("-")[1:])
            entry = catalogue_entry(number)
            pick = chance.random()
            if kind < 0.2 or (kind >= 0.3 and pick < 0.5):
                answers[name], points = text, points + entry.points
            elif kind >= 0.3 and pick < 0.85:
                answers[name] = _wrong(number, entry, chance)
        data = notebook(answers)
        if index % 40 == 13:
            data, points = chance.choice(BROKEN), 0
        elif index % 40 == 33:
            lost = chance.choice([name for name in solved if name.startswith("answer")])
            if answers.get(lost) == solved[lost]:
                points -= catalogue_entry(".".join(lost.split("-")[1:])).points
            data = notebook(answers | {lost: chance.choice(HOSTILE)})
        earned[student] = points
        (folder / student / f"{STEM}.ipynb").write_bytes(data)
    return earned


def _wrong(number: str, entry: CatalogueEntry, chance: random.Random) -> str:
    from recorded_answers import recorded_answers

    if entry.is_quiz:
        letter = chance.choice([letter for letter in entry.options if letter != find(number).right])
        return f'{entry.answer} = "{letter}"'
    # An answer to another exercise that stands beside this one would count there.
    others = {one.answer for one in catalogue().values() if one.lesson == entry.lesson} - {entry.answer}
    texts = [answer.text for answer in recorded_answers(number) if not answer.is_right]
    return chance.choice(
        [text for text in texts if others.isdisjoint(re.findall(r"^(?:def )?(\w+)", text, re.MULTILINE))]
    )


def grade(submissions: Path, output: Path, lesson: str, *options: str) -> tuple[dict[str, int], float, float]:
    """Run the grader; returns scores by student, seconds, and the peak memory of its processes in MiB."""
    command = [sys.executable, "-m", "course_grader", str(submissions), "--output", str(output), "--lesson", lesson]
    took = seconds(lambda: subprocess.run([*command, *options], cwd=ROOT, check=True, capture_output=True))
    with open(output / "grades.csv", newline="", encoding="utf-8-sig") as file:
        scores = {row["student"]: int(row["total"] or 0) for row in csv.DictReader(file)}
    return scores, took, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def a_class(size: int) -> None:
    """Grade a generated class and compare its scores with those counted while it was made."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        earned = generate(folder / "class", size)
        scores, took, memory = grade(folder / "class", folder / "grades", LESSON)
    wrong = {s: (scores.get(s), points) for s, points in earned.items() if scores.get(s) != points}
    print(f"{size} submissions in {took:.1f} s: {size / took:.2f} a second; largest process {memory:.0f} MiB")
    print(f"scores as counted by hand: {size - len(wrong)} of {size}", *wrong.items(), sep="\n")


def stems(lessons: list[str]) -> dict[str, str]:
    """Lesson -> the name of its notebook."""
    names = sorted(path.stem for path in (ROOT / "exercises").glob("*.ipynb"))
    return {name[:2]: name for name in names if not lessons or name[:2] in lessons}


def solved_class(folder: Path, stem: str, size: int) -> Path:
    """A class that hands in nothing but solved notebooks."""
    for index in range(size):
        place = folder / f"student_{index:02d}" / f"{stem}.ipynb"
        place.parent.mkdir(parents=True)
        place.write_bytes(handed_in.as_bytes(handed_in.solved(stem)))
    return folder


def print_table(title: str, header: list[str], rows: Iterable[list[str]]) -> None:
    """A table in Markdown, each row as soon as it is there; the load of the machine stands below it."""
    print(f"{title}\n\n| {' | '.join(header)} |\n|{'---|' * len(header)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)
    print(f"\n{os.cpu_count()} cores, load average {', '.join(f'{load:.1f}' for load in os.getloadavg())}\n")


def by_lesson(lessons: list[str], size: int) -> None:
    """A solved notebook of each lesson on one core, all that is made once being there.

    The second run of right answers is in the time, and its share of what the rest takes is said beside it; of ``size`` turns
    the quickest second run counts, and the quickest rest.
    """
    again, second = SecondRun.of, [0.0]

    def timed(*arguments: object) -> list[str]:
        started = time.perf_counter()
        lines = again(*arguments)
        second[0] = time.perf_counter() - started
        return lines

    def rows() -> Iterator[list[str]]:
        torch.set_num_threads(1)
        SecondRun.of = timed
        for lesson, stem in stems(lessons).items():
            settings = GradingSettings(load_releases(ROOT / "exercises", lesson), "benchmark", PATIENT)
            data, times = handed_in.as_bytes(handed_in.solved(stem)), []
            grade_one(handed_in.as_bytes(handed_in.blank(stem)), "x", settings)
            for _ in range(size):
                took = seconds(functools.partial(full_marks, data, settings))
                times.append((took - second[0], second[0]))
            rest, of_it = (min(part) for part in zip(*times, strict=True))
            took, share = rest + of_it, f"+{of_it / rest:.0%}"
            yield [stem, f"{took:.1f}", share, f"{3600 / took:,.0f}", f"{CORES * 3600 / took:,.0f}"]

    header = ["lesson", "seconds a submission", "for the second run", "an hour on 1 core", f"an hour on {CORES} cores"]
    print_table("Solved notebooks, warm", header, rows())


def full_marks(data: bytes, settings: GradingSettings) -> None:
    """Grade a solved notebook in this process."""
    result = grade_one(data, "x", settings)
    assert result["earned"] == result["total"] > 0, result


def by_workers(lessons: list[str], size: int) -> None:
    """The same class by the number of local processes and of Dask workers: the whole command, to workers that wait for it."""
    from distributed import LocalCluster

    def rows() -> Iterator[list[str]]:
        for lesson, stem in stems(lessons or THREE).items():
            with tempfile.TemporaryDirectory() as name:
                students, times = solved_class(Path(name) / "class", stem, size), []
                for jobs in (1, 2):
                    times.append(grade(students, Path(name) / f"{jobs}", lesson, "--jobs", f"{jobs}")[1])
                for workers in (1, 2):
                    with LocalCluster(workers, threads_per_worker=1, dashboard_address=None) as cluster:
                        address = ["--scheduler", cluster.scheduler_address]
                        times.append(grade(students, Path(name) / f"dask-{workers}", lesson, *address)[1])
            yield [lesson, *(f"{time:.1f}" for time in times)]

    header = ["lesson", "1 process", "2 processes", "1 Dask worker", "2 Dask workers"]
    print_table(f"Seconds for {size} solved notebooks", header, rows())


def beside_others(lessons: list[str], size: int) -> None:
    """The same notebooks through plain nbval, nbgrader and this grader, one at a time: the first, and each one more."""
    nbgrader = ROOT / ".venv-nbgrader" / "bin" / "nbgrader"
    if not nbgrader.exists():
        sys.exit("run `make test-nbgrader` first: it installs nbgrader into .venv-nbgrader")

    def rows() -> Iterator[list[str]]:
        for lesson, stem in stems(lessons or THREE).items():
            tools = {"plain nbval": through_nbval, "nbgrader": functools.partial(through_nbgrader, nbgrader)}
            tools["this grader"] = through_this_grader
            for tool, run in tools.items():
                times = []
                for count in (1, size):
                    with tempfile.TemporaryDirectory() as name:
                        times.append(run(solved_class(Path(name) / "class", stem, count), Path(name), stem))
                yield [lesson, tool, f"{times[0]:.1f}", f"{(times[1] - times[0]) / (size - 1):.1f}"]

    header = ["lesson", "tool", "the first, start-up included (s)", "each one more (s)"]
    print_table(f"Solved notebooks one at a time, 1 and {size} of them", header, rows())


def through_nbval(students: Path, folder: Path, stem: str) -> float:
    """Seconds of pytest with nbval."""
    options = ["-q", "--nbval-lax", "--nbval-current-env", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    return _seconds([sys.executable, "-m", "pytest", *options, str(students)], folder, os.environ)


def through_nbgrader(program: Path, students: Path, folder: Path, stem: str) -> float:
    """Seconds of ``nbgrader autograde``; its kernels run in this environment."""
    (folder / "source" / "ps1").mkdir(parents=True)
    shutil.copy(ROOT / "solutions" / f"{stem}.ipynb", folder / "source" / "ps1")
    shutil.copy(ROOT / "docs" / "nbgrader_config.py", folder)
    for student in students.iterdir():
        shutil.copytree(student, folder / "submitted" / student.name / "ps1")
    kernel = folder / "jupyter" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "course", "language": "python"}))
    paths = {"PATH": str(program.parent), "PYTHONPATH": str(ROOT)}
    paths = {name: os.pathsep.join([path, os.environ.get(name, "")]).rstrip(os.pathsep) for name, path in paths.items()}
    environment = {**os.environ, **paths, "JUPYTER_PATH": str(folder / "jupyter")}
    _seconds([str(program), "generate_assignment", "ps1"], folder, environment)
    patient = f"--ExecutePreprocessor.timeout={PATIENT.cell_s:.0f}"
    return _seconds([str(program), "autograde", "ps1", patient], folder, environment)


def through_this_grader(students: Path, folder: Path, stem: str) -> float:
    """Seconds of the class grader, with one process."""
    return grade(students, folder / "grades", stem[:2], "--jobs", "1")[1]


def _seconds(command: list[str], folder: Path, environment: Mapping[str, str]) -> float:
    return seconds(lambda: subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True))


if __name__ == "__main__":
    what = {
        "class": (a_class, SIZE),
        "lessons": (by_lesson, 2),
        "workers": (by_workers, 10),
        "tools": (beside_others, 4),
    }
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grading")
    parser.add_argument("what", choices=what)
    parser.add_argument("--lessons", nargs="*", default=[])
    parser.add_argument("--size", type=int)
    given = parser.parse_args()
    run, size = what[given.what]
    size = given.size or size
    run(size) if given.what == "class" else run(given.lessons, size)
