"""How fast the class grader is: a generated class, and the same honest submissions through nbgrader.

``python -m benchmarks.grading class`` grades 200 submissions whose scores are known beforehand; ``python -m benchmarks.grading
nbgrader`` grades 20 both ways in one run (nbgrader in a virtual environment of its own: ``make test-nbgrader`` makes it).
"""

import csv
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
from pathlib import Path

from course_checks.catalogue import CatalogueEntry, catalogue, catalogue_entry
from course_checks.deciding.find import find

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "checks"))  # the wrong answers are the recorded ones
STEM, LESSON = "01_dot_product_similarity", "01"
SIZE, SEED = 200, 7
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
    """The exercise notebook with these answers, by cell id."""
    found = json.loads((ROOT / "exercises" / f"{STEM}.ipynb").read_text(encoding="utf-8"))
    for cell in found["cells"]:
        cell["source"] = answers.get(cell["id"], cell["source"])
    return json.dumps(found).encode()


def solutions() -> dict[str, str]:
    """Every answer cell solved, without the marks that tell that a solution is the course's own."""
    found = json.loads((ROOT / "solutions" / f"{STEM}.ipynb").read_text(encoding="utf-8"))
    texts = {c["id"]: "".join(c["source"]) for c in found["cells"] if c["metadata"].get("nbgrader", {}).get("solution")}
    return {name: re.sub(r"^ *# (BEGIN|END) SOLUTION\n?", "", text, flags=re.MULTILINE) for name, text in texts.items()}


def generate(folder: Path, size: int = SIZE, seed: int = SEED) -> dict[str, int]:
    """Write a class into ``folder``: a fifth solved, a tenth blank, 5 % broken or hostile, the rest mixtures with known mistakes.

    Returns:
        Student -> the points that are earned, counted while the class is made.
    """
    chance, solved, earned = random.Random(seed), solutions(), {}
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


def grade(submissions: Path, output: Path, *options: str) -> tuple[dict[str, int], float, float]:
    """Run the grader; returns scores by student, seconds, and the peak memory of its processes in MiB."""
    started = time.monotonic()
    command = [
        sys.executable,
        "-m",
        "course_grader",
        str(submissions),
        "--output",
        str(output),
        "--lesson",
        LESSON,
    ]
    subprocess.run([*command, *options], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - started
    with open(output / "grades.csv", newline="", encoding="utf-8-sig") as file:
        scores = {row["student"]: int(row["total"] or 0) for row in csv.DictReader(file)}
    return scores, seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def a_class(size: int, options: list[str]) -> None:
    """Grade a generated class and compare its scores with those counted while it was made."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        earned = generate(folder / "class", size)
        scores, seconds, memory = grade(folder / "class", folder / "grades", *options)
        wrong = {
            student: (scores.get(student), points)
            for student, points in earned.items()
            if scores.get(student) != points
        }
    print(f"{size} submissions in {seconds:.1f} s: {size / seconds:.2f} a second; largest process {memory:.0f} MiB")
    print(f"scores as counted by hand: {size - len(wrong)} of {size}", *wrong.items(), sep="\n")
    rate = size / seconds
    for workers in (2, 16, 64):
        print(f"10,000 submissions on {workers} such cores: about {10_000 / rate / workers * 2 / 60:.0f} minutes")


def beside_nbgrader(size: int = 20) -> None:
    """The same honest submissions through this grader and through ``nbgrader autograde``."""
    program = ROOT / ".venv-nbgrader" / "bin" / "nbgrader"
    if not program.exists():
        sys.exit("run `make test-nbgrader` first: it installs nbgrader into .venv-nbgrader")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "source" / "ps1").mkdir(parents=True)
        shutil.copy(ROOT / "solutions" / f"{STEM}.ipynb", folder / "source" / "ps1")
        shutil.copy(ROOT / "docs" / "nbgrader_config.py", folder)
        kernel = folder / "jupyter" / "kernels" / "python3"
        kernel.mkdir(parents=True)
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "course", "language": "python"}))
        path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
        paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        environment = {**os.environ, "PATH": path, "JUPYTER_PATH": str(folder / "jupyter"), "PYTHONPATH": paths}

        def nbgrader(*words: str) -> float:
            started = time.monotonic()
            subprocess.run([str(program), *words], cwd=folder, env=environment, check=True, capture_output=True)
            return time.monotonic() - started

        nbgrader("generate_assignment", "ps1")
        for index in range(size):
            student = f"student_{index:02d}"
            for place in (folder / "submitted" / student / "ps1", folder / "class" / student):
                place.mkdir(parents=True)
                (place / f"{STEM}.ipynb").write_bytes(notebook(solutions()))
        load = os.getloadavg()[0]
        theirs = nbgrader("autograde", "ps1")
        timings = {}
        for title, options in (("forked", ()), ("forked, 1 job", ("--jobs", "1")), ("fresh", ("--fresh",))):
            scores, timings[title], _ = grade(folder / "class", folder / title, *options)
            assert set(scores.values()) == {24}, scores
    print(f"{size} solved notebooks of lesson {LESSON}; load before: {load:.1f}; {os.cpu_count()} cores")
    print(f"nbgrader autograde: {theirs:.1f} s, {theirs / size:.2f} s each")
    for title, seconds in timings.items():
        print(f"this grader, {title}: {seconds:.1f} s, {seconds / size:.2f} s each: {theirs / seconds:.1f} x")


if __name__ == "__main__":
    if sys.argv[1:2] == ["nbgrader"]:
        beside_nbgrader()
    else:
        a_class(int(sys.argv[2]) if len(sys.argv) > 2 else SIZE, sys.argv[3:])
