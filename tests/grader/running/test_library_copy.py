"""The copy holds no answer: not by importing, not by reading. A check there judges nothing."""

import ast
import inspect
import json
import os
import subprocess
import sys
import time

import pytest

import course_checks
from course_checks.catalogue import catalogue
from course_checks.deciding.experiment import Experiment
from course_checks.deciding.find import all_entries
from course_checks.running.guard import resolve
from course_grader.in_sandbox import engine_stub
from course_grader.run_and_judge import removed_names
from course_grader.running import library_copy as copies
from course_grader.running.library_copy import LIBRARY, library_copy, library_files, without_bodies

LESSONS = sorted({entry.lesson for entry in catalogue().values()})
TELLING = 3  # statements; a shorter body (return x.sum()) stands in many places


def hidden_of(lesson):
    return {n: removed_names(n) for n, entry in catalogue().items() if entry.lesson == lesson}


def first_copy(lesson):
    return library_copy(frozenset().union(*hidden_of(lesson).values()))


def bodies(text):
    """The bodies of all functions in a text, docstrings taken off, as syntax."""
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            found["\n".join(ast.dump(statement) for statement in body)] = (node.name, len(body))
    return found


def run_with(folder, code):
    """Run code in a new process that imports the library from there, and from nowhere else."""
    program = f"import sys\nsys.path[:] = [{str(folder)!r}, *(p for p in sys.path if p != {str(LIBRARY.parent)!r})]\n"
    program += "sys.meta_path[:] = [f for f in sys.meta_path if '__editable__' not in getattr(f, '__module__', '')]\n"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program + code], cwd="/", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_body_of_what_is_off_limits_is_there_to_be_read(lesson):
    there = {path: bodies(path.read_text(encoding="utf-8")) for path in first_copy(lesson).rglob("*.py")}
    for name in frozenset().union(*hidden_of(lesson).values()):
        source = inspect.getsource(inspect.unwrap(resolve(name)))
        for body, (function, length) in bodies(source).items():
            assert length < TELLING or not any(body in found for found in there.values()), f"{name}: {function}"
        path, inner = copies._definition_of(name)
        left = ast.parse((first_copy(lesson) / LIBRARY.name / path).read_text(encoding="utf-8"))
        (definition,) = (node for node in left.body if getattr(node, "name", "") == inner)
        functions = [node for node in ast.walk(definition) if isinstance(node, ast.FunctionDef)]
        assert functions and all(ast.unparse(f.body).startswith("raise ") and len(f.body) == 1 for f in functions), name


def test_no_solution_no_known_mistake_and_no_right_letter_is_there_to_be_read():
    folder = library_copy(frozenset())
    paths = [path for path in folder.rglob("*") if path.suffix in (".py", ".json", ".md")]
    everything = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    known = {body for path in paths if path.suffix == ".py" for body in bodies(path.read_text(encoding="utf-8"))}
    modules = [LIBRARY / path for path in library_files() if path.suffix == ".py"]
    library = {body for path in modules for body in bodies(path.read_text(encoding="utf-8"))}
    for entry in all_entries().values():
        if entry.entry.is_quiz:
            assert not any(words in everything for words in entry.explanations.values())
            continue
        if isinstance(entry, Experiment):
            assert not any(claim.advice in everything for claim in entry.claims)
            continue
        solution = {body for body, (_, length) in bodies(entry.solution.text).items() if length >= TELLING} - library
        assert not solution & known, entry.number
        assert not any(mistake.looks_like in everything for mistake in entry.known_mistakes), entry.number


def test_no_judge_can_be_imported_and_a_check_judges_nothing():
    code = (
        "import importlib.util, io, json, contextlib\n"
        "from course_checks import NotYet, check, failing_case\n"
        "with contextlib.redirect_stdout(io.StringIO()) as printed:\n"
        "    check('1.1', lambda a, b: 0)\n"
        "print(json.dumps([importlib.util.find_spec('course_checks.deciding') is None, printed.getvalue()]))"
    )
    assert run_with(library_copy(frozenset()), code) == [True, "1.1: the grader judges\n"]


def test_the_name_is_there_and_whoever_calls_it_is_told_and_noted():
    names = frozenset(
        {"course_utils.masks.causal_mask", "course_utils.layers.norms.LayerNorm", "course_utils.training.warmup_rate"}
    )
    code = (
        "import json\nfrom course_checks.running import guard\nfrom course_utils.masks import causal_mask, padding_mask\n"
        "from course_utils.layers import LayerNorm\nfrom course_utils.training import warmup_rate\nfound = []\n"
        "for call in (lambda: causal_mask(3), lambda: LayerNorm(4), lambda: warmup_rate(1, d_model=8)):\n"
        "    try:\n        call()\n    except guard.OffLimits as problem:\n        found.append(str(problem))\n"
        "print(json.dumps([found, sorted(guard.hidden_called)]))"
    )
    found, called = run_with(library_copy(frozenset(names)), code)
    assert set(found) == set(called) == names


def test_a_helper_that_nothing_else_needs_goes_too():
    path = next(path for path in library_files() if path.name == "similarity.py")
    text = (
        "def dot_product(a, b):\n    return _product(a, b)\n\n\ndef _product(a, b):\n    return _both(a * b)\n\n\n"
        "def _both(x):\n    return x.sum(-1)\n\n\ndef _kept(x):\n    return x\n\n\ndef other(x):\n    return _kept(x)\n"
    )
    (found,) = without_bodies({path: text}, {"course_utils.similarity.dot_product"}).values()
    assert "a * b" not in found and "x.sum" not in found and found.count("hidden(") == 3
    assert "return _kept(x)" in found and "def _kept(x):\n    return x" in found


def test_a_name_that_is_none():
    with pytest.raises(ValueError, match="nothing_like_it"):
        without_bodies({}, {"course_utils.masks.nothing_like_it"})


def test_it_is_made_once_and_the_old_ones_go(tmp_path, monkeypatch):
    monkeypatch.setattr(copies.platformdirs, "user_cache_path", lambda name: tmp_path / name)
    names = frozenset({"course_utils.masks.causal_mask"})
    place = library_copy.__wrapped__(names)
    old = place.parent / "old"
    old.mkdir()
    os.utime(old, (time.time() - 2 * copies.KEEP_S,) * 2)
    assert library_copy.__wrapped__(names) == place and old.is_dir()  # nothing was made
    library_copy.__wrapped__(frozenset())
    assert not old.exists() and sorted(p.name[0] == "." for p in place.parent.iterdir()) == [False, False]


def test_the_stub_offers_what_a_notebook_imports(capsys):
    assert all(hasattr(engine_stub, name) for name in course_checks.__all__)
    for name in ("check", "failing_case", "hint"):
        stub, real = (inspect.signature(getattr(module, name)).parameters for module in (engine_stub, course_checks))
        assert stub.keys() == real.keys()
    with pytest.raises(LookupError):
        engine_stub.failing_case()
    engine_stub.hint()
    assert "no check has failed" in capsys.readouterr().out
