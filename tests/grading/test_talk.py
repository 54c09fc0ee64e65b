"""One cell at a time: what is heard, how long it is listened to, and that nothing else gets through."""

import asyncio
import time

import pytest
from sandboxed import linux

from course_utils.grading.inside import MIME
from course_utils.grading.kernel import Kernel
from course_utils.grading.limits import Limits
from course_utils.grading.nursery import Nursery
from course_utils.grading.talk import Talk

LIMITS = Limits(cell_s=4, output_mb=1)


@pytest.fixture(scope="module")
def nursery():
    found = Nursery()
    yield found
    found.close()


def ran(nursery, *texts):
    async def work():
        kernel = Kernel(LIMITS, time.monotonic() + 60, nursery)
        try:
            await kernel.start()
            talk = Talk(kernel, LIMITS)
            return [await talk.run_cell(text) for text in texts], kernel.reason
        finally:
            await kernel.close()

    return asyncio.run(work())


@linux
def test_an_observation_is_heard_once_and_in_its_own_cell_only(nursery):
    show = f"from IPython.display import display\nfor i in range(2):\n    display({{{MIME!r}: i}}, raw=True)"
    found, _ = ran(nursery, show, "1 + 1", "print('x')", "raise ValueError(MIME)")
    assert [one.payload for one in found] == [0, None, None, None]


@linux
def test_a_late_cell_is_interrupted_and_the_next_one_runs(nursery):
    found, reason = ran(nursery, "while True:\n    pass", "1 + 1")
    assert [(one.outcome, one.fatal) for one in found] == [("time limit", False), ("ok", False)] and not reason


@linux
def test_what_cannot_be_interrupted_is_fatal(nursery):
    text = "while True:\n    try:\n        while True:\n            pass\n    except KeyboardInterrupt:\n        pass"
    found, _ = ran(nursery, text)
    assert found[0].outcome == "time limit" and found[0].fatal


@linux
def test_a_dead_kernel_is_noticed_at_once(nursery):
    started = time.monotonic()
    found, _ = ran(nursery, "import os\nos._exit(3)")
    assert found[0].outcome == "died" and time.monotonic() - started < LIMITS.cell_s + 2


@linux
def test_too_much_output_ends_the_kernel(nursery):
    found, reason = ran(
        nursery, "for _ in range(100):\n    print('x' * 100_000, flush=True)\nimport time\ntime.sleep(99)"
    )
    assert found[0].fatal and reason == "output limit"


@linux
def test_messages_with_escape_codes_come_as_plain_text(nursery):
    found, _ = ran(nursery, "raise ValueError('a\\x1b[2J\\nb' * 1000)")
    assert found[0].message.isprintable() and len(found[0].message) <= 400
