"""The process that forks kernels: it forks them into rooms, and says how they ended."""

import json
import os
import select
import signal
import socket
from dataclasses import asdict

import pytest
from sandboxed import linux

from course_utils.grading.limits import Limits
from course_utils.grading.nursery import Nursery, exit_status
from course_utils.grading.room import Room

CONNECTION = {
    name: place for place, name in enumerate(("shell_port", "iopub_port", "stdin_port", "hb_port", "control_port"), 1)
}
CONNECTION |= {"transport": "ipc", "ip": "/run/kernel/k", "key": "k", "signature_scheme": "hmac-sha256"}


@pytest.fixture(scope="module")
def nursery():
    found = Nursery()
    yield found
    found.close()


@linux
def test_a_kernel_is_born_in_the_room_and_its_end_is_told(nursery):
    limits = Limits()
    room = Room(limits)
    try:
        before = set(room.processes())
        report = nursery.spawn(room, CONNECTION, asdict(limits))
        (kernel,) = set(room.processes()) - before
        status = room.path(f"/proc/{kernel}/status").read_text()
        assert "NoNewPrivs:\t1" in status and "CapEff:\t0000000000000000" in status
        environment = room.path(f"/proc/{kernel}/environ").read_bytes()
        assert b"HOME" not in environment and b"VIRTUAL_ENV" not in environment
        assert not select.select([report], [], [], 0)[0]
    finally:
        room.close()
    assert select.select([report], [], [], 10)[0]
    status = exit_status(report)
    os.close(report)
    assert os.WTERMSIG(status) == signal.SIGKILL


@linux
def test_a_room_that_is_gone(nursery):
    room = Room(Limits())
    room.close()
    with pytest.raises(RuntimeError, match="no kernel could be started"):
        nursery.spawn(room, CONNECTION, asdict(Limits()))


@linux
def test_it_is_started_again_when_it_died(nursery):
    nursery.start()
    nursery.process.kill()
    nursery.process.wait()
    room = Room(Limits())
    try:
        os.close(nursery.spawn(room, CONNECTION, asdict(Limits())))
    finally:
        room.close()


@linux
def test_it_ends_with_its_socket():
    nursery = Nursery()
    nursery.start()
    nursery.socket.close()
    assert nursery.process.wait(30) is not None


@linux
def test_it_ends_without_a_word_when_its_answer_is_not_read(capfd):
    nursery, (report, end) = Nursery(), os.pipe()
    nursery.start()
    request = {"pid": 2**22 + 1, "own_user": True, "user": None, "connection": CONNECTION, "limits": asdict(Limits())}
    socket.send_fds(nursery.socket, [json.dumps(request).encode()], [end])
    assert select.select([nursery.socket], [], [], 30)[0]  # there is no such room: it says so
    nursery.socket.close()
    assert nursery.process.wait(30) == 0 and capfd.readouterr().err == ""
    os.close(report)
    os.close(end)
