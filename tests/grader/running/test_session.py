"""One cell at a time: what is heard, how long it is listened to, and that nothing else gets through."""

import asyncio
import json
import re
import time
from pathlib import Path

import pytest
from sandboxed import linux

from course_grader.in_sandbox.kernel_side import MIME
from course_grader.limits import MAX_JSON_VALUES, Limits
from course_grader.running.fork_server import ForkServer
from course_grader.running.kernel import Kernel
from course_grader.running.session import Session, parts, plain

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
    assert found[0].outcome == "died" and time.monotonic() - started < LIMITS.cell_s + 30


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


FORGE = f"""
import json, time
kernel = get_ipython().kernel
iopub, control = kernel.iopub_thread.socket, kernel.control_stream.socket
shell = getattr(kernel.shell_stream.socket, "socket", kernel.shell_stream.socket)
parent = json.dumps(kernel.get_parent("shell")["header"], default=str).encode()
def message(kind, content):
    return [b"topic", b"<IDS|MSG>", b"", b'{{"msg_type": "' + kind + b'"}}', parent, b"{{}}", content]
def observed(value):
    return message(b"display_data", b'{{"data": {{{json.dumps(MIME)}: ' + value + b'}}}}')
part = b"x" * 30_000_000
old = getattr(kernel, "_parent_ident", None)  # up to ipykernel 6
client = kernel._shell_parent_ident.get() if hasattr(kernel, "_shell_parent_ident") else old["shell"]
"""
FLOODS = {
    "one message of many parts": "iopub.send_multipart([b'topic'] + [part] * 50, copy=False)",
    "a reply of many parts": "shell.send_multipart([*client] + [part] * 50, copy=False)",
    "many messages": "for _ in range(500): iopub.send_multipart(message(b'stream', part[:2**20]))",
    "many empty messages": "for _ in range(10**6): iopub.send_multipart(message(b'stream', b'{}'))",
    "a part that is announced as larger than any memory": """import os
for number in range(256):
    try:
        os.write(number, b'\\x02' + b'\\x7f' * 8)
    except OSError:
        pass""",
    "deep JSON": "iopub.send_multipart(observed(b'[' * 3_000_000 + b']' * 3_000_000))",
    "wide JSON": "iopub.send_multipart(observed(b'[' + b'[],' * 2_000_000 + b'[]]'))",
    "a wide header": "iopub.send_multipart([b'<IDS|MSG>', b'', b'[' + b'[],' * 2_000_000 + b'[]]', parent, b'{}', b'{}'])",
    "wide letters": "iopub.send_multipart(observed(json.dumps(chr(0x1f600) + 'x' * 7_000_000).encode()))",
    "nothing but its interrupt's answer": "control.send_multipart([b'x'] + [part] * 50, copy=False)",
}  # fmt: skip


@linux
@pytest.mark.parametrize("flood", FLOODS)
def test_whatever_a_kernel_sends_the_grader_stays_small(fork_server, flood):
    Path("/proc/self/clear_refs").write_text("5")  # the peak is measured from here
    before = peak()
    found, reason = ran(fork_server, FORGE + FLOODS[flood] + "\ntime.sleep(99)")
    assert found[0].outcome in ("output limit", "not Jupyter's protocol", "time limit", "died")
    assert peak() - before < 60 * 2**20, f"{(peak() - before) >> 20} MiB; {found[0].outcome}; {reason}"


def peak():
    """The largest memory that this process has had, in bytes."""
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])


@linux
def test_a_cell_s_allowance_is_its_own(fork_server):
    """Ten cells may print what one may not."""
    found, reason = ran(fork_server, *["print('x' * 900_000)"] * 14)
    assert {one.outcome for one in found} == {"ok"} and not reason


def test_a_message_is_taken_apart():
    sent = [b"topic", b"<IDS|MSG>", b"", b'{"msg_type": "status"}', b'{"msg_id": "7"}', b"{}", b'{"a": 1}', b"buffer"]
    assert parts(sent) == ("status", {"msg_id": "7"}, b'{"a": 1}')
    for broken in ([], [b"<IDS|MSG>"], [b"x"] * 9, [*sent[:3], b"[]", *sent[4:]], [*sent[:3], b"\xff", *sent[4:]]):
        with pytest.raises(ValueError, match="JSON|unpack|in list|decode"):
            parts(broken)


def test_json_has_a_limit():
    assert plain(b'{"a": [' + b"1," * (MAX_JSON_VALUES - 10) + b"1]}")["a"][0] == 1
    with pytest.raises(ValueError, match="more than"):
        plain(b'{"a": [' + b"1," * MAX_JSON_VALUES + b"1]}")
    with pytest.raises((ValueError, RecursionError)):
        plain(b'{"a":' * 100_000)
