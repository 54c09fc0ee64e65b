"""One cell at a time: what is heard, how long it is listened to, and that nothing else gets through."""

import asyncio
import time

import pytest
from sandboxed import linux

from course_grader.inside.kernel_side import MIME
from course_grader.limits import Limits
from course_grader.running.fork_server import ForkServer
from course_grader.running.kernel import Kernel
from course_grader.running.session import Session

LIMITS = Limits(cell_s=4, output_mb=1)


@pytest.fixture(scope="module")
def fork_server():
    found = ForkServer()
    yield found
    found.close()


def ran(fork_server, *texts):
    async def work():
        kernel = Kernel(LIMITS, time.monotonic() + 60, fork_server)
        try:
            await kernel.start()
            session = Session(kernel, LIMITS)
            return [await session.run_cell(text) for text in texts], kernel.reason
        finally:
            await kernel.close()

    return asyncio.run(work())


@linux
def test_an_observation_is_heard_once_and_in_its_own_cell_only(fork_server):
    show = f"from IPython.display import display\nfor i in range(2):\n    display({{{MIME!r}: i}}, raw=True)"
    found, _ = ran(fork_server, show, "1 + 1", "print('x')", "raise ValueError(MIME)")
    assert [one.payload for one in found] == [0, None, None, None]


@linux
def test_a_late_cell_is_interrupted_and_the_next_one_runs(fork_server):
    found, reason = ran(fork_server, "while True:\n    pass", "1 + 1")
    assert [(one.outcome, one.fatal) for one in found] == [("time limit", False), ("ok", False)] and not reason


@linux
def test_what_cannot_be_interrupted_is_fatal(fork_server):
    text = "while True:\n    try:\n        while True:\n            pass\n    except KeyboardInterrupt:\n        pass"
    found, _ = ran(fork_server, text)
    assert found[0].outcome == "time limit" and found[0].fatal


@linux
def test_a_dead_kernel_is_noticed_at_once(fork_server):
    started = time.monotonic()
    found, _ = ran(fork_server, "import os\nos._exit(3)")
    assert found[0].outcome == "died" and time.monotonic() - started < LIMITS.cell_s + 2


@linux
def test_too_much_output_ends_the_kernel(fork_server):
    found, reason = ran(
        fork_server, "for _ in range(100):\n    print('x' * 100_000, flush=True)\nimport time\ntime.sleep(99)"
    )
    assert found[0].fatal and reason == "output limit"


@linux
def test_messages_with_escape_codes_come_as_plain_text(fork_server):
    found, _ = ran(fork_server, "raise ValueError('a\\x1b[2J\\nb' * 1000)")
    assert found[0].message.isprintable() and len(found[0].message) <= 400
