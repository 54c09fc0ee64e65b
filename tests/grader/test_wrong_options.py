"""Wrong uses of the command: each ends with status 2 and says in plain words what is wrong and what is expected."""

import contextlib
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from course_grader import __main__ as command
from course_grader.__main__ import main
from course_grader.running.library_copy import library_copy

BASE = "class --output out --no-sandbox"
EXPORT = "export out --format canvas --output"


def file(path, text="{"):
    """A file of that text, whatever stands there."""

    def make():
        with contextlib.suppress(IsADirectoryError, NotADirectoryError):
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        data = text if isinstance(text, bytes) else text.encode()
        with open(path, "wb") as opened:
            opened.write(data)

    return make


def folder(path):
    """A folder where a file is expected."""
    return lambda: os.makedirs(path)


def gone(path):
    return lambda: shutil.rmtree(path)


def link(path, to):
    return lambda: os.symlink(to, path)


def masters(change):
    """A folder of one exercise notebook, of which a part was changed."""

    def make():
        os.makedirs("masters")
        path = os.path.join(os.path.dirname(command.__file__), "..", "exercises", "05_masking.ipynb")
        with open(path, encoding="utf-8") as opened:
            notebook = json.load(opened)
        check = next(cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("grade"))
        change(notebook, check)
        file("masters/05_masking.ipynb", json.dumps(notebook))()

    return make


def cut_masters():
    os.makedirs("masters")
    file("masters/05_masking.ipynb", '{"cells": [{"cell_type": "co')()


def csv(text):
    return file("class.csv", text)


# What was done before, the words of the command, what the error says.
OPTIONS = [
    ("", "expected|required: submissions"),
    ("class", "required: --output"),
    ("class out --output grades", "unrecognized arguments: out"),
    (f"{BASE} --frobnicate", "unrecognized arguments: --frobnicate"),
    (f"{BASE} --jobs -3", "'-3' is not a whole number of at least 1|expected one argument"),
    (f"{BASE} --jobs 0", "'0' is not a whole number of at least 1"),
    (f"{BASE} --jobs ²", "'²' is not a whole number"),
    (f"{BASE} --time-limit 5min", "'5min' is not a time; expected seconds"),
    (f"{BASE} --time-limit nan", "'nan' is not a time"),
    (f"{BASE} --cell-limit 0", "'0' is not a time"),
    (f"{BASE} --allow 9.99", "'9.99' is no exercise"),
    (f"{BASE} --allow 1,4", "'1,4' is no exercise"),
    (f"{BASE} --due 2026-11-30", "'2026-11-30' is not a date with a time; expected 2026-11-30T23:59"),
    (f"{BASE} --late strict --due 2026-11-30T23:59", "'strict' is not a policy; expected"),
    (f"{BASE} --lesson 77", "lesson 77"),
    (f"{BASE} --lesson -1", "lesson|expected one argument"),
    (f"{BASE} --scheduler nonsense", r"--scheduler \(nonsense\): no dask scheduler answers"),
    ("nowhere --output out --no-sandbox", "nowhere"),
    ("export out", "required: --format, --output"),
    (f"{EXPORT} x.csv --format excel", "invalid choice: 'excel'"),
    (f"{EXPORT} x.csv", r"GRADES \(out\): nothing was graded there"),
    (f"{EXPORT} x.csv --lesson five", "'five' is not a lesson; expected a number such as 05"),
]
PLACES = [
    (gone("class"), BASE, "class"),
    (None, "class --output /proc/x --no-sandbox", r"/proc/x cannot be written \(No such file.*--output is /proc/x"),
    (lambda: os.environ.update(PATH="/nowhere"), "class --output out", "bubblewrap.*--no-sandbox grades without"),
    pytest.param(
        lambda: os.environ.update(XDG_CACHE_HOME="/proc/x"),
        "class --output out",
        r"/proc/x.* cannot be written \(No such file.*XDG_CACHE_HOME",
        marks=pytest.mark.needs("sandbox"),
    ),
    pytest.param(
        lambda: os.environ.update(XDG_CACHE_HOME=os.path.abspath("class/ann/x.ipynb")),
        "class --output out",
        "class/ann/x.ipynb",
        marks=pytest.mark.needs("sandbox"),
    ),
    (file("broken.zip", b"PK\x03\x04 broken"), "broken.zip --output out --no-sandbox", "broken.zip"),
    (link("loop", "loop"), "loop --output out --no-sandbox", "loop"),
    (file("out", "a file"), BASE, "output.*: a file of that name is in the way"),
    (link("out", "out"), BASE, "out"),
    (folder("out/grades.csv"), BASE, r"grades\.csv is a folder; expected a file"),
    (folder("out/overrides.csv"), BASE, r"overrides\.csv is a folder"),
    (folder("out/.lock"), BASE, "lock"),
    (file("out/results", "x"), BASE, "results is a file; expected a folder"),
    (file("out/run.json", '{"seed": 7}'), BASE, r"run\.json is damaged.*Go on with --seed"),
    (file("out/class.json", '{"deadlines": {"05": 3}, "roster": null}'), BASE, r"class\.json is damaged"),
    (file("out/overrides.csv", "points\n3\n"), BASE, r"overrides\.csv"),
    (file("out/overrides.csv", "student,exercise,points\nann,5.2,many\n"), BASE, r"overrides\.csv.*line 2.*many"),
    (None, f"{BASE} --roster nowhere.csv", r"nowhere\.csv"),
    (folder("class.csv"), f"{BASE} --roster class.csv", r"class\.csv"),
    (csv("id,name\n1,Ann\n1,Bob\n"), f"{BASE} --roster class.csv", r"class\.csv.*1"),
    (None, f"{BASE} --masters nowhere", "masters.*nowhere"),
    (folder("masters"), f"{BASE} --masters masters", "no exercise notebook in this folder"),
    (cut_masters, f"{BASE} --masters masters", r"05_masking\.ipynb"),
    (file("masters/05_masking.ipynb", b"\xff\xfe"), f"{BASE} --masters masters", r"05_masking\.ipynb"),
    (masters(lambda book, check: book.pop("cells")), f"{BASE} --masters masters", r"05_masking\.ipynb"),
    (
        masters(lambda book, check: check.update(source="pass")),
        f"{BASE} --masters masters",
        r"05_.*a check cell without check",
    ),
    (masters(lambda book, check: check.update(source="check('5.99', x)")), f"{BASE} --masters masters", r"5\.99"),
    (
        masters(lambda book, check: check["metadata"]["nbgrader"].pop("points")),
        f"{BASE} --masters masters",
        "05_.*points",
    ),
]
UNCLEAR = re.compile(
    r"Traceback|\[Errno|^error: '?[\w.]*'?$|NoneType|object has no attribute|codec can't", re.MULTILINE
)


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Runs the command in a folder with a class of one, and returns what it says of what is wrong."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("course_grader.cluster.CONNECT_S", 0.5)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    library_copy.cache_clear()
    file("class/ann/x.ipynb", "null")()

    def run(words):
        capsys.readouterr()
        try:
            status = main([word.strip("'") for word in words.split()])
        except SystemExit as ended:
            status = ended.code
        text = capsys.readouterr().err
        assert status == 2 and "error: " in text, (status, text)
        error = text[text.index("error: ") :]
        assert not UNCLEAR.search(error), error
        return error

    return run


@pytest.mark.parametrize(("words", "message"), OPTIONS, ids=[words or "nothing" for words, _ in OPTIONS])
def test_an_option(said, words, message):
    assert re.search(message, said(words), re.DOTALL)


@pytest.mark.parametrize(("make", "words", "message"), PLACES)
def test_a_place(said, make, words, message):
    if make is not None:
        make()
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert re.search(message, said(words), re.DOTALL)
    assert all(path.read_bytes() == data for path, data in before.items())  # what lies there damaged is left as it is
