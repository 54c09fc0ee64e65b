"""What is off limits is found in what an answer reaches, and nowhere else; what hides something is named with its line."""

import json
import re
from pathlib import Path

import handed_in
import pytest
from recorded_answers import recorded_answers

from course_checks.catalogue import catalogue_entry
from course_checks.deciding.find import find
from course_grader.reading.answers import read_answers
from course_grader.released_notebook import load_releases
from course_grader.submissions.notebook import parse
from course_grader.submissions.rebuild import NotebookStep, rebuild

SETUP = NotebookStep("provided", "import torch\nimport torch.nn.functional as F\nfrom torch import nn")
OFF = {
    "softmax": find("2.1").call.off_limits,
    "attention": find("4.1").call.off_limits,
    "products": find("1.4").call.off_limits,
}
WAYS = re.findall(
    r"^===== (\w+) (\w+)\n(.*?)(?=^=====|\Z)",
    Path(__file__).with_name("ways_to_a_ready_made.txt").read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)


def read(*texts, off=OFF["softmax"], name="f"):
    steps = (SETUP, *(NotebookStep("answer", text, "2.1") for text in texts))
    return read_answers(steps, {"2.1": name}, {"2.1": off})


@pytest.mark.parametrize(("wanted", "off", "text"), WAYS)
def test_ways_to_a_ready_made(wanted, off, text):
    findings = read(*text.split("#--\n"), off=OFF[off])
    if wanted == "refused":
        assert "2.1" in findings.refused
    elif wanted == "seen":
        assert findings.refused or findings.to_review({"2.1"})
    else:
        assert not findings.refused and not findings.to_review({"2.1"})


def test_the_line_is_said():
    findings = read("x = 1\n%time y = 2\ndef f(x):\n    return eval('x')")
    reason = "answer 2.1, line 4: `return eval('x')`: `eval` hides what it calls"
    assert reason in findings.obfuscated["2.1"] and not findings.refused
    assert read("\ndef f(x):\n    return torch.softmax(x, -1)").refused["2.1"] == "`torch.softmax` (answer 2.1, line 3)"


def test_what_hides_matters_where_something_was_earned():
    findings = read("def f(x):\n    return helper(x)")
    assert "helper" in findings.to_review({"2.1"})[0] and findings.to_review(set()) == ()


def test_an_answer_that_cannot_be_read_is_said_and_not_refused():
    findings = read("def f(x):\n    return = x")
    assert findings.syntax_errors == {"2.1": (2, "return = x", "invalid syntax")}
    assert not findings.to_review({"2.1"}) and not findings.refused  # Python cannot run it either
    findings = read("def f(x):\n    return " + "(x) + " * 30_000 + "x")
    assert "could not be read" in findings.to_review({"2.1"})[0] and not findings.refused


def test_functions_of_the_course_need_no_reading():
    text = "import importlib\ndef f(x):\n    return importlib.import_module('course_utils.masks').causal_mask(x)"
    assert not read(text, off=("course_utils.masks.causal_mask",)).to_review({"2.1"})


def test_tampering_is_noticed_in_every_cell_of_the_students():
    text = "get_ipython().showtraceback = None"
    for step in (NotebookStep("extra", text), NotebookStep("answer", text, "1.7")):
        findings = read_answers((SETUP, NotebookStep("check", "", "1.1"), step), {}, {})
        assert any("showtraceback" in line for line in findings.noticed) and not findings.refused
    assert (
        read_answers((NotebookStep("provided", text), NotebookStep("extra", text)), {}, {}).noticed == ()
    )  # the course's own line


def test_a_notebook_as_it_is_handed_out_is_never_noticed(root):
    for lesson, released in load_releases(root / "exercises").items():
        for folder, ends in (("exercises", "\n"), ("solutions", "\n"), ("solutions", "\r\n")):
            notebook = json.loads((root / folder / f"{released.stem}.ipynb").read_text(encoding="utf-8"))
            for cell in notebook["cells"]:
                cell["source"] = "".join(cell["source"]).replace("\n", ends)
                if "import" in cell["source"]:
                    cell["source"] += f"{ends}import math  {ends}"
            rebuilt = rebuild(released, parse(handed_in.as_bytes(notebook))[0])
            numbers = [number for number in released.exercises if not catalogue_entry(number).is_quiz]
            off = {number: find(number).call.off_limits for number in numbers}
            findings = read_answers(rebuilt.steps, {n: e.expression for n, e in released.exercises.items()}, off)
            assert not findings.refused and not findings.to_review(set(released.exercises)), (lesson, folder)


@pytest.mark.parametrize("lesson", ["00", "01", "04", pytest.param("all", marks=pytest.mark.slow)])
def test_independent_answers_are_free_unless_they_use_what_is_off_limits(root, lesson):
    for released in load_releases(root / "exercises", None if lesson == "all" else lesson).values():
        given = [NotebookStep("provided", cell.text) for cell in released.cells if cell.role == "provided"]
        for number, exercise in released.exercises.items():
            if catalogue_entry(number).is_quiz:
                continue
            off = {number: find(number).call.off_limits}
            for answer in recorded_answers(number):
                findings = read_answers(
                    (*given, NotebookStep("answer", answer.text, number)), {number: exercise.expression}, off
                )
                assert bool(findings.refused) == ("off limits" in answer.about), (number, answer.about)
                assert not findings.to_review({number}), (number, answer.about)
