"""The privileges a kernel drops, seen from a process that dropped them."""

import ctypes
import errno
import mmap
import os
import socket
import struct
import sys
from dataclasses import asdict

import pytest

from course_grader.limits import Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")

if sys.platform == "linux":
    import resource

    from course_grader.in_sandbox import privileges


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


def attempted(**attempts):
    """Name -> the error number of each attempt, 0 where it worked."""
    numbers = {}
    for name, attempt in attempts.items():
        try:
            attempt()
            numbers[name] = 0
        except OSError as problem:
            numbers[name] = problem.errno
    return numbers


@pytest.mark.parametrize(
    "user", [None, 64_999]
)  # whoever is root in a user namespace of its own has no other to become
def test_privileges_are_gone_for_good(user):
    if user and os.geteuid() != 0:
        pytest.skip("only root can become another user")
    limits = ("RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_NPROC", "RLIMIT_CORE", "RLIMIT_SIGPENDING")

    def work():
        privileges.drop_privileges(user, asdict(Limits(open_files=33, scratch_mb=3, processes=44)))
        numbers = attempted(chroot=lambda: os.chroot("/"), enter=lambda: privileges.enter_namespaces(os.getpid(), True))
        if user:
            numbers |= attempted(setuid=lambda: os.setuid(0))
        with open("/proc/self/status") as file:
            status = dict(line.split(":\t") for line in file.read().splitlines() if ":\t" in line)
        kept = [status[name] for name in ("CapEff", "CapPrm", "NoNewPrivs", "Seccomp")]
        return set(numbers.values()), kept, [resource.getrlimit(getattr(resource, name))[1] for name in limits]

    kept = ["0000000000000000", "0000000000000000", "1", "2"]
    assert in_a_child(work) == repr(({errno.EPERM}, kept, [33, 3 * 2**20, 44, 0, 1024]))


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_a_valid_program(machine):
    """Every jump leads forward and inside; the last line allows."""
    program = privileges.filter_program(machine)
    lines = [struct.unpack("=HBBI", program[place : place + 8]) for place in range(0, len(program), 8)]
    assert len(lines) < 4_096
    for place, (code, yes, no, _) in enumerate(lines):
        if code & 7 == 5:
            assert place + 1 + max(yes, no) < len(lines)
    assert lines[-1] == (6, 0, 0, 0x7FFF0000)
    assert privileges.filter_program("vax") == b""


NO_RESERVE = 0x4000  # MAP_NORESERVE, of which Python has no name before 3.13


def test_what_the_filter_closes_is_closed():
    def work():
        program = open(sys.executable, "rb")  # noqa: SIM115
        privileges.drop_privileges(None, asdict(Limits()))
        libc = ctypes.CDLL(None, use_errno=True)
        return attempted(
            inet=lambda: socket.socket(socket.AF_INET),
            vsock=lambda: socket.socket(40, socket.SOCK_STREAM),
            routes=lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0),
            events=lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15),
            unix=lambda: socket.socketpair(),
            anonymous=lambda: mmap.mmap(-1, 4096),
            unreserved=lambda: mmap.mmap(-1, 4096, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | NO_RESERVE),
            shared=lambda: mmap.mmap(program.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ),
            private=lambda: mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS),
        ) | {"semget": ctypes.get_errno() if libc.semget(0, 1, 0o600) < 0 else 0}

    family, permission = errno.EAFNOSUPPORT, errno.EPERM
    assert in_a_child(work) == repr(
        {"inet": family, "vsock": family, "routes": 0, "events": family, "unix": 0, "anonymous": permission}
        | {"unreserved": permission, "shared": 0, "private": 0, "semget": permission}
    )
