"""The process that forks kernels holds nothing of the course: what a kernel has of it comes out of its library copy."""

import json
import subprocess
import sys

from sandboxed import linux

from course_grader.in_sandbox import forking
from course_grader.running.sandbox import GRADER


def test_what_it_has_loaded_before_it_forks():
    code = (
        "import importlib, json, sys\nfrom course_grader.in_sandbox import forking\n"
        "for name in forking.LOADED:\n    importlib.import_module(name)\n"
        "print(json.dumps([n for n in sys.modules if n.split('.')[0] in ('course_utils', 'course_grader', 'course_authoring')]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=GRADER.parent, capture_output=True, text=True, check=True)
    parts = {
        "course_grader",
        *(f"course_grader.in_sandbox{name}" for name in ("", ".privileges", ".forking", ".kernel_side")),
    }
    assert set(json.loads(done.stdout)) == parts


@linux
def test_it_ends_when_nobody_holds_the_other_end():
    done = subprocess.run(
        [sys.executable, "-m", forking.__name__, "0"],
        stdin=subprocess.DEVNULL,
        cwd=GRADER.parent,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode != 0  # not a socket at all: it says so and does not wait
