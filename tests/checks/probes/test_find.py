"""Probes by number; and the line of trust: nothing here reaches for a right answer."""

import subprocess
import sys

import pytest

from course_utils.checks.catalogue import catalogue
from course_utils.checks.probes import observe_answer, probe_of
from course_utils.checks.probes.find import _probes
from course_utils.checks.probes.guard import resolve

CODING = [number for number, entry in catalogue().items() if not entry.is_quiz]
ALL_PROBES = (
    f"from course_utils.checks.probes import probe_of; [probe_of(number) for number in {CODING!r}]; import sys; "
)


def test_no_right_answer_is_loaded_with_the_probes(root):
    code = ALL_PROBES + "print([name for name in sys.modules if '.judges' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("number", CODING)
def test_everything_off_limits_exists(number):
    for name in probe_of(number).off_limits:
        assert callable(resolve(name))


def test_every_probe_belongs_to_an_exercise():
    for lesson in {entry.lesson for entry in catalogue().values()}:
        assert set(_probes(lesson)) <= {e.answer for e in catalogue().values() if e.lesson == lesson}


def test_a_quiz_is_a_value_and_a_lesson_without_probes_has_the_ordinary_one():
    assert observe_answer("1.7", "a", [])["answer"] == "value"
    with pytest.raises(ValueError, match=r"no exercise '1\.99'"):
        probe_of("1.99")
