"""Whatever is handed in, taking it in ends soon and with a row: damaged notebooks, texts and archives, by seed."""

import io
import json
import random
import time
import warnings
import zipfile

import handed_in
import pytest

from course_grader.released_notebook import load_releases
from course_grader.submissions.find import find_submissions
from course_grader.submissions.notebook import Unreadable
from course_grader.submissions.select_files import FileContent, inspect_file, select_files
from course_grader.submissions.submission import Submission

EACH_S = 30.0  # on any machine: what is quadratic takes minutes
SEED = 20_261_130
ODD = [
    None, True, 0, -1, 1e308, float("nan"), 10**400, "", "\0", "\ud800", "\u202e", [], {}, [[]], {"": {}}, "answer-1-1", ["x", 7],
    'check("1.1", dot)', "\n" * 20_000, "\t" * 20_000 + "check(", "[" * 500, {"course": {"kind": "solution"}}, ["code"],
]  # fmt: skip
TOKENS = [*'{ } [ ] , : " null 1e999 - "cells" "nbformat" 4 \\u \ud83d NaN \\ //'.split(), " "]
NAMES = ["x.ipynb", "./x.ipynb", "../x.ipynb", "a\\b.ipynb", "/", "//", "", "é.ipynb", "x" * 300 + ".ipynb"]
NAMES += ["a.7z", "b.zip", "..", "b.ZIP"]


@pytest.fixture(scope="module")
def releases(root):
    return {
        lesson: notebook for lesson, notebook in load_releases(root / "exercises").items() if lesson in ("01", "02")
    }


def changed(value, chance):
    """A value with one part of it, somewhere, replaced, doubled or taken away."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        name = chance.choice(list(value))
        if chance.random() < 0.9:
            return {**value, name: changed(value[name], chance)}
        return {key: part for key, part in value.items() if key != name}
    if isinstance(value, list) and value and chance.random() < 0.85:
        place = chance.randrange(len(value))
        more = [value[place]] * chance.choice([0, 1, 1, 1, 2, 300])
        return [*value[:place], *[changed(one, chance) for one in more[:1]], *more[1:], *value[place + 1 :]]
    return chance.choice(ODD)


def damaged(data, chance):
    """Bytes cut, overwritten, repeated."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        place, size = chance.randrange(len(data) + 1), chance.choice([1, 1, 2, 4, 30, 500])
        kind = chance.randrange(4)
        if kind == 0:
            data[place : place + size] = chance.randbytes(size)
        elif kind == 1:
            del data[place : place + size]
        elif kind == 2:
            data[place:place] = data[place : place + size] * chance.choice([1, 50])
        else:
            data[place : place + size] = bytes([chance.choice([0, 255, 34, 92, 123])]) * size
    return bytes(data)


def a_text(chance):
    """A notebook with odd parts, damaged, or no notebook at all."""
    notebook = handed_in.solved()
    for _ in range(chance.randint(1, 4)):
        notebook = changed(notebook, chance)
    kind = chance.randrange(4)
    if kind == 0:
        return damaged(json.dumps(notebook).encode(), chance)
    if kind == 1:
        return "".join(chance.choices(TOKENS, k=chance.randint(1, 400))).encode("utf-8", "surrogatepass")
    return json.dumps(notebook).encode()


def an_archive(chance, depth=0):
    """An archive with odd names, dates and members, damaged or whole."""
    methods = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
    extras = [b"", b"\x55\x54\x05\x00\x01\xff\xff\xff\xff", b"\x01\x00\x04\x00"]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for _ in range(chance.randint(0, 4)):
            date = (1980 + chance.randrange(128), *chance.choices(range(13), k=2), 7, 7, 7)
            info = zipfile.ZipInfo(chance.choice(NAMES), date)
            info.compress_type, info.extra = chance.choice(methods), chance.choice(extras)
            is_archive = info.filename.lower().endswith("zip") and depth < 3
            data = an_archive(chance, depth + 1) if is_archive else a_text(chance)
            with warnings.catch_warnings(action="ignore"):  # of a name that occurs twice
                archive.writestr(info, data)
    return file.getvalue() if chance.random() < 0.3 else damaged(file.getvalue(), chance)


def many_more(seeds):
    return pytest.param(seeds, marks=pytest.mark.slow)


@pytest.mark.parametrize("seeds", [range(SEED, SEED + 240), many_more(range(6_000))])
def test_damaged_notebooks(tmp_path, releases, seeds):
    path = tmp_path / "x.ipynb"
    for seed in seeds:
        path.write_bytes(a_text(random.Random(seed)))
        started = time.monotonic()
        try:
            outcome = inspect_file(Submission("ann", "x.ipynb", path), 16, releases)
        except Unreadable as reason:
            outcome = str(reason)
        assert isinstance(outcome, FileContent) or outcome, seed
        assert time.monotonic() - started < EACH_S, seed


@pytest.mark.parametrize("seeds", [range(SEED, SEED + 60), many_more(range(800))])
def test_damaged_archives(tmp_path, releases, seeds):
    for seed in seeds:
        (tmp_path / "ann.zip").write_bytes(an_archive(random.Random(seed)))
        started = time.monotonic()
        decisions = select_files(find_submissions(tmp_path).submissions, releases, releases, 16)
        assert decisions and {decision.submission.student for decision in decisions} == {"ann"}, seed
        assert all(decision.counts or decision.note for decision in decisions), seed
        assert not any("could not be graded" in decision.note for decision in decisions), seed
        assert time.monotonic() - started < EACH_S * len(decisions), seed


def test_what_takes_long_or_much_is_ended(tmp_path, releases):
    """A list of numbers that fills memory, and texts made to be slow to read."""
    texts = {
        "many": b'{"nbformat": 4, "cells": [' + b"[]," * 4_000_000 + b"[]]}",
        "deep": b'{"a":' * 100_000,
        "digits": b'{"nbformat": 4, "cells": [' + b"9" * 4_000_000 + b"]}",
        "lines": json.dumps({"nbformat": 4, "cells": [handed_in.code("\n" * 1_000_000)]}).encode(),
        "tabs": json.dumps({"nbformat": 4, "cells": [handed_in.code("\t\n" * 500_000 + "check(")]}).encode(),
    }
    for name, data in texts.items():
        (tmp_path / f"{name}.ipynb").write_bytes(data)
    started = time.monotonic()
    decisions = select_files(find_submissions(tmp_path).submissions, releases, releases, 16)
    assert time.monotonic() - started < EACH_S * len(texts) * 2
    assert len(decisions) == len(texts) and all(decision.note for decision in decisions)
