"""The line between what runs beside a student's code and what decides: it is crossed by plain data alone."""

import ast
import functools
import json
import subprocess
import sys
from pathlib import Path

import pytest
from recorded_answers import recorded_answers

import course_checks
from course_checks.catalogue import catalogue
from course_checks.deciding import solution
from course_checks.deciding.decide import cases_of, decider
from course_checks.deciding.find import find
from course_checks.running import observe_answer
from course_checks.running.encode import encode, pack, unpack
from course_grader.running.library_copy import check_files

CHECKS = Path(course_checks.__file__).parent
RUNNING = sorted(path.relative_to(CHECKS) for path in (CHECKS / "running").rglob("*.py"))
SEED = 2
LOADED = "[name for name in sys.modules if name.startswith(('course_checks.deciding', 'course_checks.lesson_'))]"
BEYOND = (
    """
import json, sys
from pathlib import Path
from course_checks.running import Call, Case, observe_answer
from course_checks.running.encode import decode, pack, unpack

folder = Path(sys.argv[1])
sent = decode(unpack((folder / "sent.json").read_text(), (folder / "sent.safetensors").read_bytes()))
call, cases = Call.received(sent["call"]), [Case.received(case) for case in sent["cases"]]
for place, text in enumerate(json.loads((folder / "answers.json").read_text())):
    space = {"__name__": "__main__"}
    exec(compile(text, f"<{place}>", "exec"), space)
    text, data = pack(observe_answer(space[sys.argv[2]], call, cases))
    (folder / f"{place}.json").write_text(text)
    (folder / f"{place}.safetensors").write_bytes(data)
"""
    + f"print(json.dumps({LOADED}))"
)


def in_a_new_process(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=CHECKS.parent, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("number", ["5.2", "5.7"])
def test_answers_run_elsewhere_without_what_decides_and_the_verdicts_are_the_same(number, tmp_path):
    entry, answers = find(number), list(recorded_answers(number))[:3]
    cases = cases_of(entry, SEED)
    text, data = pack(encode({"call": entry.call.sent(), "cases": [case.sent() for case in cases]}))
    (tmp_path / "sent.json").write_text(text)
    (tmp_path / "sent.safetensors").write_bytes(data)
    (tmp_path / "answers.json").write_text(json.dumps([answer.text for answer in answers]))
    assert in_a_new_process(BEYOND, str(tmp_path), entry.entry.answer) == []
    decide = decider(entry, cases)
    for place, answer in enumerate(answers):
        there = unpack((tmp_path / f"{place}.json").read_text(), (tmp_path / f"{place}.safetensors").read_bytes())
        space = {"__name__": "__main__"}
        exec(compile(answer.text, f"<{place}>", "exec"), space)
        here = observe_answer(space[entry.entry.answer], entry.call, cases)
        assert decide(there).text() == decide(here).text(), answer.about


def test_nothing_that_runs_loads_what_decides():
    names = [".".join(("course_checks", *path.with_suffix("").parts)) for path in RUNNING]
    code = f"import importlib, json, sys\nfor name in {names!r}: importlib.import_module(name)\n"
    assert in_a_new_process(f"{code}print(json.dumps({LOADED}))") == []


@pytest.mark.parametrize("path", RUNNING, ids=str)
def test_nothing_that_runs_names_what_decides(path):
    text = (CHECKS / path).read_text(encoding="utf-8")
    assert "solutions.json" not in text
    package = ("course_checks", *path.parent.parts)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) + 1 - node.level] if node.level else ()
            modules = [".".join((*start, *filter(None, (node.module, alias.name)))) for alias in node.names]
        else:
            continue
        assert all(not name.startswith("course_checks.") or name.split(".")[1] == "running" for name in modules)


@functools.cache
def in_the_sandbox():
    return {path: (CHECKS / path).read_text(encoding="utf-8") for path in check_files()}


def test_what_lies_in_the_graders_sandbox():
    paths = set(in_the_sandbox())
    beside = {path.as_posix() for path in paths if path.parts[0] != "running"}
    assert beside == {"__init__.py", "engine.py", "catalogue.py", "catalogue.json"}
    assert set(RUNNING) <= paths and {path.suffix for path in paths} == {".py", ".json"}
    assert all("solution" not in path.name for path in paths)


@pytest.mark.parametrize("number", catalogue())
def test_no_solution_and_no_explanation_lies_there(number):
    carried, readable = solution.carried(number), " ".join(" ".join(in_the_sandbox().values()).split())
    if catalogue()[number].is_quiz:
        telling = list(carried["explanations"].values())
    else:
        lines = [" ".join(line.partition("  #")[0].split()) for line in carried.get("text", "").splitlines()]
        telling = [line for line in lines if len(line) > 40 and not line.startswith(("def ", "class ", '"""'))]
    assert [text for text in telling if " ".join(text.split()) in readable] == []
