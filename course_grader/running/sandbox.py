"""A sandbox: what bubblewrap lets a submission see, with nothing and nobody in it yet."""

import contextlib
import json
import os
import shutil
import signal
import site
import socket
import subprocess
import sys
import threading
from pathlib import Path

from ..in_sandbox.kernel_side import SCRATCH
from ..limits import MIB, Limits
from . import memory
from .library_copy import CHECKS, LIBRARY, library_copy

GRADER = Path(__file__).resolve().parent.parent
EXERCISES = GRADER.parent / "exercises"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SETTINGS = ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives")
# Says that all mounts are in place, and keeps the sandbox open as long as its maker holds the other end of its input: the system
# closes that end whenever and however the maker dies. (--die-with-parent kills bubblewrap while the sandbox's first process may
# still wait for word from it, which then waits for ever.)
HOLD_OPEN = ("sh", "-c", "echo; exec cat > /dev/null")
WRITABLE = ("/tmp", "/dev/shm")
FIRST_USER = 64_000  # unprivileged user ids, one for each sandbox, where the grader itself runs as root
MAX_SANDBOXES = 1_000
EXIT_S = 20.0


class NoSandbox(RuntimeError):
    """The sandbox cannot be had on this machine."""


def command(limits: Limits, own_user: bool, library: Path) -> list[str]:
    """The bubblewrap command line, without the program to run; with a user namespace where the grader is not root."""
    arguments = [shutil.which("bwrap"), "--new-session", "--clearenv", "--hostname", "sandbox"]
    arguments += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if own_user:
        arguments += ["--unshare-user", "--disable-userns"]
    for path in SYSTEM:
        if os.path.islink(path):
            arguments += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            arguments += ["--ro-bind", path, path]
    for path in SETTINGS:
        arguments += ["--ro-bind-try", path, path]
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    # Shared mappings of the real /dev/zero are memory that nobody counts.
    arguments += ["--dev-bind", "/dev/null", "/dev/zero"]
    for path in WRITABLE:
        arguments += [*_parents(path), "--perms", "1777", "--size", str(limits.scratch_mb * MIB), "--tmpfs", path]
    libraries = _libraries()
    for path in libraries:
        arguments += [*_parents(path), "--ro-bind", path, path]
    for own in (GRADER, LIBRARY, CHECKS):
        if any(own.is_relative_to(path) for path in libraries):  # what the kernel needs of it comes from the copy
            arguments += ["--perms", "0755", "--size", "4096", "--tmpfs", str(own), "--remount-ro", str(own)]
    arguments += [*_parents(str(library)), "--ro-bind", str(library), str(library)]
    arguments += ["--perms", "0777", "--dir", SCRATCH, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"]
    return arguments


class Sandbox:
    """An empty sandbox that lasts until it is closed or this process dies.

    The course's library is imported from the folder ``library``; None: from a copy with all but what decides.
    """

    def __init__(self, limits: Limits, library: Path | None = None) -> None:
        if sys.platform != "linux" or shutil.which("bwrap") is None:
            raise NoSandbox(
                "bubblewrap is not installed: on Debian and Ubuntu `apt-get install bubblewrap`; on macOS and Windows "
                "grade in a Linux container or virtual machine, or with --no-sandbox if you trust every student"
            )
        self.limits = limits
        self.own_user, self.library = os.geteuid() != 0, library or library_copy(frozenset())
        self.user, self._claim = (None, None) if self.own_user else _reserve_user()
        self._closing = threading.Lock()
        # Not a pipe: a write to one that nobody reads any more would end bubblewrap in mid-start.
        info_file = os.memfd_create("info")
        self.process = subprocess.Popen(
            [*command(limits, self.own_user, self.library), "--info-fd", str(info_file), *HOLD_OPEN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(info_file,),
            env={},  # a process in the sandbox can read what bubblewrap was started with
        )
        ready = self.process.stdout.read(1) == b"\n"  # said when all mounts are in place
        with os.fdopen(info_file) as file:
            file.seek(0)
            info = file.read()
        if not ready:
            reason = self.process.stderr.read().decode(errors="replace").strip()
            self.process.wait()
            self._close_pipes()
            raise NoSandbox(f"bubblewrap does not work here: {reason or 'it stopped without a word'}")
        self.pid = json.loads(info)["child-pid"]

    def path(self, inside: str) -> Path:
        """Where the grader finds a path of the sandbox."""
        return Path(f"/proc/{self.pid}/root{inside}")

    def memory(self) -> int:
        """Bytes that it holds: its processes, and what its files and sockets keep in the system's own memory."""
        folders = tuple(map(self.path, WRITABLE))
        return memory.memory_used(self.path("/proc"), folders, self.limits.memory_mb * MIB)

    def close(self) -> None:
        """End every process in the sandbox, and wait until they are gone. May be called again, and by any thread."""
        with self._closing:
            if self.process.returncode is not None:
                return
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)  # the sandbox's first process: the kernel ends all others with it
            try:
                self.process.wait(EXIT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self._close_pipes()

    def _close_pipes(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()
        if self._claim:
            self._claim.close()


def _reserve_user() -> tuple[int, socket.socket]:
    """A user id that no other sandbox on this machine has now, and what holds it until it is closed or its owner dies."""
    for user in range(FIRST_USER, FIRST_USER + MAX_SANDBOXES):
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0attention-course-sandbox-{user}")
        except OSError:
            claim.close()
            continue
        return user, claim
    raise NoSandbox(f"{MAX_SANDBOXES} sandboxes are open on this machine already")


def _libraries() -> list[str]:
    """Python and its packages: the folders that a kernel imports from."""
    folders = [sys.base_prefix, sys.prefix, *site.getsitepackages()]
    folders = [os.path.realpath(path) if path != sys.prefix else path for path in folders]
    kept: list[str] = []
    for path in sorted(set(folders), key=len):
        inside_another = any(path == outer or path.startswith(outer + "/") for outer in (*kept, "/usr"))
        if not inside_another and os.path.isdir(path):
            kept.append(path)
    return kept


def _parents(path: str) -> list[str]:
    """Make the folders above ``path`` readable: bubblewrap's own are closed to other users."""
    steps = [str(parent) for parent in reversed(Path(path).parents)][1:]
    return [word for step in steps if step != "/dev" for word in ("--perms", "0755", "--dir", step)]
