"""The rights a kernel gives up, seen from a process that gave them up."""

import os
import resource
import struct
import sys
from dataclasses import asdict

import pytest

from course_grader.limits import Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")

if sys.platform == "linux":
    from course_grader.inside import confine


def in_a_child(work):
    """What ``work`` returns, run in a forked process."""
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.write(write, repr(work()).encode())
        except BaseException as problem:
            os.write(write, f"raised {type(problem).__name__}: {problem}".encode())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as file:
        return file.read()


def test_limits_hold_for_the_process():
    def work():
        confine.set_limits(asdict(Limits(open_files=33, scratch_mb=3, processes=44)))
        names = (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC, resource.RLIMIT_CORE)
        return [resource.getrlimit(name) for name in names]

    assert in_a_child(work) == repr([(33, 33), (3 * 2**20, 3 * 2**20), (44, 44), (0, 0)])


def test_rights_are_gone_for_good():
    user = 64_999 if os.geteuid() == 0 else None

    def work():
        confine.give_up_rights(user, asdict(Limits()))
        tried = []
        for attempt in (lambda: os.setuid(0), lambda: os.chroot("/"), lambda: confine.enter(os.getpid(), True)):
            try:
                attempt()
                tried.append("worked")
            except PermissionError:
                tried.append("denied")
        with open("/proc/self/status") as file:
            status = dict(line.split(":\t") for line in file.read().splitlines() if ":\t" in line)
        return [*tried, status["CapEff"], status["CapPrm"], status["NoNewPrivs"], status["Seccomp"]]

    denied = "denied" if user else "worked"  # without root, "becoming" user 0 is what a test as that user might be
    found = in_a_child(work)
    assert found.startswith("['denied'") or denied == "worked"
    assert found.endswith("'denied', 'denied', '0000000000000000', '0000000000000000', '1', '2']")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_a_valid_program(machine):
    """Every jump leads forward and inside; the last line allows."""
    program = confine.filter_program(machine)
    lines = [struct.unpack("=HBBI", program[place : place + 8]) for place in range(0, len(program), 8)]
    assert len(lines) < 4_096
    for place, (code, yes, no, _) in enumerate(lines):
        if code & 7 == 5:
            assert place + 1 + max(yes, no) < len(lines)
    assert lines[-1] == (6, 0, 0, 0x7FFF0000)


def test_an_unknown_machine_has_no_filter():
    assert confine.filter_program("vax") == b""


def run_filter(machine, architecture, number, first=0):
    """Interpret the program on one system call."""
    program = confine.filter_program(machine)
    data = struct.pack("=IIQQ", number, architecture, 0, first)
    place, value = 0, 0
    while True:
        code, yes, no, k = struct.unpack("=HBBI", program[place * 8 : place * 8 + 8])
        if code == 0x20:
            value = struct.unpack_from("=I", data, k)[0]
        elif code == 6:
            return k
        else:
            holds = {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k)}[code]
            place += yes if holds else no
        place += 1


X86 = 0xC000003E
ALLOW, EPERM, ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026


@pytest.mark.parametrize(
    ("number", "first", "answer"),
    [(0, 0, ALLOW), (56, 17, ALLOW), (56, 0x10000000 | 17, EPERM), (56, 0x20000, EPERM), (272, 0, EPERM), (319, 0, EPERM),
     (321, 0, EPERM), (435, 0, ENOSYS), (57, 0, ALLOW), (59, 0, ALLOW), (0x40000000, 0, EPERM)],
)  # fmt: skip
def test_what_the_filter_says(number, first, answer):
    assert run_filter("x86_64", X86, number, first) == answer
    assert run_filter("x86_64", 0x40000003, number, first) == EPERM  # a 32-bit call
