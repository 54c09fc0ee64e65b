"""Entering a sandbox and dropping every privilege on the way: namespaces, user, limits, system calls. Linux only.

Runs in a process that has just been forked and has a single thread.
"""

import csv
import ctypes
import os
import platform
import struct
from pathlib import Path

NEW_NAMESPACES = 0x00020000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000  # mount, UTS, IPC, PID, network
NEW_USER, NEW_CGROUP = 0x10000000, 0x02000000
SET_DUMPABLE, SET_NO_NEW_PRIVS, SET_SECCOMP = 4, 38, 22
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97
MIB = 2**20

# System calls that no exercise needs, each a way out of the limits: new namespaces and mounts, other processes' memory and
# files, memory that belongs to no process, the kernel's keyrings, programs for the kernel. Their numbers on each machine.
with open(Path(__file__).with_name("denied_calls.csv"), encoding="utf-8", newline="") as file:
    DENIED = list(csv.DictReader(file))
CLONE, CLONE3, MMAP = (56, 220), (435, 435), (9, 222)
SOCKETS = ((41, 198), (53, 199))  # socket, socketpair
AF_UNIX, AF_NETLINK, NETLINK_ROUTE = 1, 16, 0  # ZeroMQ lists the (empty) network by the last two; all others are closed
MAP_KIND, SHARED_ANONYMOUS = 0x2F, 0x21  # of mmap's flags: memory that stays when it is unmapped for a moment
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def enter_namespaces(pid: int, own_user: bool) -> None:
    """Join the namespaces of process ``pid`` (as seen from here), which may have a user namespace of its own.

    The next fork is in its process namespace.
    """
    handle = os.pidfd_open(pid)
    try:
        _check(_libc().setns(handle, NEW_NAMESPACES | (NEW_USER if own_user else 0)), "setns")
    finally:
        os.close(handle)


def drop_privileges(user: int | None, limits: dict) -> None:
    """Limits, an unprivileged user (None: the namespace has one only), no capabilities or dangerous calls: for ever."""
    set_limits(limits)
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    libc = _libc()
    header = struct.pack("=Ii", 0x20080522, 0)
    _check(libc.capset(header, struct.pack("=6I", *[0] * 6)), "capset")
    _check(libc.prctl(SET_DUMPABLE, 1, 0, 0, 0), "prctl")  # else its own /proc/self would be closed to it
    _check(libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    if program := filter_program(platform.machine()):
        buffer = ctypes.create_string_buffer(program, len(program))
        head = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
        _check(libc.prctl(SET_SECCOMP, 2, head, 0, 0), "seccomp")


def set_limits(limits: dict) -> None:
    """Resource limits of this process and its children, soft and hard."""
    import resource  # not on Windows

    with open("/proc/self/statm") as file:
        present = int(file.read().split()[0]) * resource.getpagesize()  # PyTorch is loaded already; it does not count
    scratch = limits["scratch_mb"] * MIB
    for name, value in (
        (resource.RLIMIT_AS, present + limits["memory_mb"] * MIB),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_FSIZE, scratch),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_SIGPENDING, 1_024),  # timers too
    ):
        resource.setrlimit(name, (value, value))


def filter_program(machine: str) -> bytes:
    """The system-call filter as a BPF program; empty on a machine whose numbers are not known here."""
    if machine not in AUDIT_ARCH:
        return b""
    column = list(AUDIT_ARCH).index(machine)
    load, equal, above, bits, keep, answer = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
    allow, refuse, unknown, no_family = 0x7FFF0000, *(0x00050000 | number for number in (EPERM, ENOSYS, EAFNOSUPPORT))
    lines = [
        (load, 0, 0, 4),
        (equal, 1, 0, AUDIT_ARCH[machine]),
        (answer, 0, 0, refuse),  # a call in another machine's numbering
        (load, 0, 0, 0),
        (above, 0, 1, 0x40000000),  # x32's numbers
        (answer, 0, 0, refuse),
        (equal, 0, 1, CLONE3[column]),  # its flags lie in memory; without it the C library takes clone
        (answer, 0, 0, unknown),
    ]
    for call in DENIED:
        lines += [(equal, 0, 1, int(call[machine])), (answer, 0, 0, refuse)]
    # Where one argument decides (at 16, 24, 32, 40 ... in what the filter sees), it decides for good.
    for numbers in SOCKETS:
        lines += [(equal, 0, 7, numbers[column]), (load, 0, 0, 16), (equal, 4, 0, AF_UNIX), (equal, 0, 2, AF_NETLINK)]
        lines += [(load, 0, 0, 32), (equal, 1, 0, NETLINK_ROUTE), (answer, 0, 0, no_family), (answer, 0, 0, allow)]
    lines += [(equal, 0, 5, MMAP[column]), (load, 0, 0, 40), (keep, 0, 0, MAP_KIND), (equal, 0, 1, SHARED_ANONYMOUS)]
    lines += [(answer, 0, 0, refuse), (answer, 0, 0, allow)]
    lines += [(equal, 0, 4, CLONE[column]), (load, 0, 0, 16), (bits, 0, 1, NEW_NAMESPACES | NEW_USER | NEW_CGROUP)]
    lines += [(answer, 0, 0, refuse), (answer, 0, 0, allow), (answer, 0, 0, allow)]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, call: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
