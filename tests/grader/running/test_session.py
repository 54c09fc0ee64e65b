"""One cell at a time: what is heard over ZeroMQ's wire protocol, for how long, and that nothing else gets through."""

import asyncio
import json
import re
import time
from pathlib import Path

import pytest
import zmq
from sandboxed import linux

from course_grader.in_sandbox.kernel_side import MIME
from course_grader.limits import MAX_JSON_VALUES, Limits
from course_grader.running.kernel import Kernel
from course_grader.running.session import Session, parts, plain
from course_grader.running.zmtp import COMMAND, FRAME_COST, GREETING, Channel, ReceiveBudget, SizeLimitExceeded, frame

LIMITS = Limits(cell_s=4, output_mb=1)


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
    cells, _ = ran(fork_server, show, "1 + 1", "print('x')", "raise ValueError('a\\x1b[2J\\nb' * 1000)")
    assert [cell.payload for cell in cells] == [0, None, None, None]
    assert cells[3].message.isprintable() and len(cells[3].message) <= 400  # no escape codes


@linux
def test_a_late_cell_is_interrupted_and_the_next_one_runs(fork_server):
    cells, reason = ran(fork_server, "while True:\n    pass", "1 + 1")
    assert [(cell.outcome, cell.fatal) for cell in cells] == [("time limit", False), ("ok", False)] and not reason


STUBBORN = "while True:\n    try:\n        while True:\n            pass\n    except KeyboardInterrupt:\n        pass"
PRINTS = "for _ in range(100):\n    print('x' * 100_000, flush=True)\nimport time\ntime.sleep(99)"


@linux
@pytest.mark.parametrize(
    ("text", "outcome", "reason"),
    [
        (STUBBORN, "time limit", ""),
        (PRINTS, "output limit", "output limit"),
        ("import os\nos._exit(3)", "died", ""),
    ],
)
def test_what_cannot_go_on_is_fatal_and_noticed_at_once(fork_server, text, outcome, reason):
    started = time.monotonic()
    (cell,), ended_by = ran(fork_server, text)
    assert cell.fatal and (cell.outcome, ended_by) == (outcome, reason)
    assert time.monotonic() - started < LIMITS.cell_s + 30


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
    # libzmq's own limit is on each part, and it collects the whole of a message: these would be 1.5 GB.
    "one message of many small parts": "iopub.send_multipart([b'topic'] + [part[:10**6]] * 1500, copy=False)",
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
    (cell,), reason = ran(fork_server, FORGE + FLOODS[flood] + "\ntime.sleep(99)")
    assert cell.outcome in ("output limit", "not Jupyter's protocol", "time limit", "died")
    assert peak() - before < 60 * 2**20, f"{(peak() - before) >> 20} MiB; {cell.outcome}; {reason}"


def peak():
    """The largest memory that this process has had, in bytes."""
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])


@linux
def test_each_cell_has_the_whole_budget(fork_server):
    """Ten cells may print what one may not."""
    cells, reason = ran(fork_server, *["print('x' * 900_000)"] * 14)
    assert {cell.outcome for cell in cells} == {"ok"} and not reason


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


def talk(kind, work, budget=None):
    """Run ``work(libzmq's socket, our channel)`` over a local connection."""

    async def connected():
        with zmq.Context() as context, context.socket(kind) as theirs:
            theirs.setsockopt(zmq.LINGER, 0)
            theirs.setsockopt(zmq.RCVTIMEO, 5_000)
            port = theirs.bind_to_random_port("tcp://127.0.0.1")
            ours = {zmq.ROUTER: "DEALER", zmq.XPUB: "SUB"}[kind]
            channel = await Channel.open(("127.0.0.1", port), ours, budget or ReceiveBudget(10**7))
            try:
                return await asyncio.wait_for(work(theirs, channel), 10)
            finally:
                channel.close()

    return asyncio.run(connected())


@pytest.mark.parametrize("message", [[b""], [b"a", b"", b"c" * 255], [b"d" * 256, b"e" * 1_000_000]])
def test_both_ways_with_libzmq(message):
    async def work(theirs, channel):
        await channel.send(message)
        identity, *got = await asyncio.to_thread(theirs.recv_multipart)
        theirs.send_multipart([identity, *message])
        return got, await channel.receive()

    assert talk(zmq.ROUTER, work) == (message, message)


def test_a_subscriber_hears_everything():
    async def work(theirs, channel):
        subscribed = await asyncio.to_thread(theirs.recv)
        theirs.send_multipart([b"any topic", b"x"])
        return subscribed, await channel.receive()

    assert talk(zmq.XPUB, work) == (b"\x01", [b"any topic", b"x"])


def test_who_waits_may_be_cancelled_in_the_middle_of_a_message():
    async def work(theirs, channel):
        await asyncio.to_thread(theirs.recv)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await channel.receive()
        theirs.send_multipart([b"a", b"b" * 2_000_000])
        for _ in range(3):
            waiting = asyncio.ensure_future(channel.receive())
            await asyncio.sleep(0)
            waiting.cancel()
        return await channel.receive()

    assert talk(zmq.XPUB, work) == [b"a", b"b" * 2_000_000]


def test_all_parts_count_together_and_over_several_messages():
    async def work(theirs, channel):
        await asyncio.to_thread(theirs.recv)
        theirs.send_multipart([b"x" * 400] * 2)
        assert len(await channel.receive()) == 2
        theirs.send_multipart([b"x" * 400])
        with pytest.raises(SizeLimitExceeded, match="more than 1200 bytes"):
            await channel.receive()

    talk(zmq.XPUB, work, ReceiveBudget(1_200))


def test_a_flood_of_empty_parts_ends():
    budget = ReceiveBudget(10 * FRAME_COST)
    for _ in range(10):
        budget.spend(0)
    with pytest.raises(SizeLimitExceeded):
        budget.spend(0)
    budget.reset()
    budget.spend(0)


def serve(sent, work):
    """Run ``work(channel)`` against a server that sends these bytes and closes."""

    async def both():
        async def answer(reader, writer):
            writer.write(sent)
            await writer.drain()
            await reader.read(1)
            writer.close()

        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            address = server.sockets[0].getsockname()[:2]
            channel = await Channel.open(address, "SUB", ReceiveBudget(1_000))
            try:
                return await asyncio.wait_for(work(channel), 10)
            finally:
                channel.close()

    return asyncio.run(both())


@pytest.mark.parametrize(
    "sent", [b"", b"HTTP/1.1 200 OK" + bytes(60), b"\xff" * 64, GREETING.replace(b"NULL", b"CURV")]
)
def test_somebody_else_on_the_other_side(sent):
    async def work(channel):
        raise AssertionError("it was taken for ZeroMQ")

    with pytest.raises(ConnectionError):
        serve(sent, work)


def test_what_is_announced_counts_before_it_is_read():
    async def work(channel):
        with pytest.raises(SizeLimitExceeded):
            await channel.receive()
        with pytest.raises(SizeLimitExceeded):  # and again
            await channel.receive()

    serve(GREETING + b"\x02" + b"\x7f" * 8, work)


def test_commands_are_left_out_and_an_end_is_an_error():
    async def work(channel):
        found = await channel.receive()
        with pytest.raises(ConnectionError, match="closed|reset"):
            await channel.receive()
        return found

    assert serve(GREETING + frame(b"\x04PING\x00\x00", COMMAND) + frame(b"a", 0) + b"\x00", work) == [b"a"]
