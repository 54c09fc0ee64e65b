"""The course's own functions and answers earn nothing, in any lesson, however they are reached."""

import course_functions
import forged_observations
import handed_in
import pytest
import torch
from sandboxed import EXERCISES, linux

from course_checks.catalogue import catalogue_entry
from course_checks.deciding.decide import cases_of, decider
from course_checks.deciding.find import find
from course_checks.running import observe_answer
from course_grader.grade import GradingSettings, grade_one
from course_grader.limits import Limits
from course_grader.released_notebook import load_releases

BORROWED, FORGED = course_functions.notebooks(), forged_observations.notebooks()


@pytest.fixture(scope="module")
def settings():
    releases = load_releases(EXERCISES)
    return GradingSettings(releases, "a seed for borrowers", Limits(cell_s=30, notebook_s=120))


def test_every_way_is_used():
    assert set(course_functions.shared_out().values()) == set(course_functions.WAYS)


@pytest.mark.parametrize("number", course_functions.WORTH)
def test_where_the_bodies_are_there_each_is_worth_points(number, as_a_user):
    """Or the test below could not fail. (A check that counts steps would count those of the tests' own type checks.)"""
    space = {"torch": torch, "__name__": "notebook"}
    exec(compile(course_functions.borrowed(number, course_functions.shared_out()[number]), "<cell>", "exec"), space)
    entry = find(number)
    cases = cases_of(entry, 3)
    verdict = decider(entry, cases)(
        observe_answer(space[catalogue_entry(number).answer], entry.call, cases, guarded=False)
    )
    assert verdict.passed, verdict.text()


# In each lesson the grader does the same; hence three here, and all in `make test-slow`.
SAMPLE = ("01", "05", "14")


@linux
@pytest.mark.parametrize(
    "name",
    [name if name[:2] in SAMPLE else pytest.param(name, marks=pytest.mark.slow) for name in [*BORROWED, *FORGED]],
)
def test_nothing_is_earned(name, settings):
    lesson, data = (BORROWED | FORGED)[name]
    result = grade_one(data, f"{course_functions.STEMS[lesson]}.ipynb", settings)
    earned = {exercise["number"]: exercise["message"] for exercise in result["exercises"] if exercise["earned"]}
    assert not result["problem"] and earned == {}


@linux
def test_the_second_run_remembers_nothing_of_the_first(settings):
    """The answer leaves what it can in the first run, and is right only where something of it is found in the second."""
    answer = """
import glob, os, subprocess, sys
PLACES = ["/tmp/was", "/dev/shm/was", "/tmp/work/was", "/run/kernel/was", "/var/tmp/was", "/run/was", "/home/was"]
PLACES += [os.path.join(os.path.dirname(__import__("course_utils").__file__), "was"), os.path.expanduser("~/was")]
before = [p for p in PLACES if os.path.exists(p)] + [p for p in os.listdir("/proc") if p.isdigit() and int(p) > 2
    and int(p) != os.getpid() and b"sleep" in open(f"/proc/{p}/cmdline", "rb").read() and b"777" in open(f"/proc/{p}/cmdline", "rb").read()]
for place in PLACES:
    try:
        open(place, "w").write("x")
    except OSError:
        pass
subprocess.Popen(["sleep", "777"], start_new_session=True)
def dot(a, b):
    from course_utils.similarity import dot_product
    if before:
        return (a * b).sum()
    return dot_product(a, b)
"""
    data = handed_in.as_bytes(handed_in.solved(only=set(), answer_1_1=answer))
    result = grade_one(data, "x.ipynb", settings)
    assert result["earned"] == 0, result["exercises"][0]
