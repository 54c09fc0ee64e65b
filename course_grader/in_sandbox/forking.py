"""A process that has loaded PyTorch and forks: each child enters a sandbox and becomes a kernel there.

It is started as a program of its own (``python -m course_grader.in_sandbox.forking FD``), runs no student code, holds no secret
and nothing of the course's library, and ends when its socket is closed. The child imports the library inside the sandbox,
from the copy that is there. Each fork saves the seconds that loading PyTorch takes.
"""

import contextlib
import gc
import importlib
import itertools
import json
import os
import signal
import socket
import struct
import sys
from pathlib import Path

from . import kernel_side, privileges, second_run  # noqa: F401 - no file of this folder is in the sandbox

MAX_REQUEST = 65_536
PIPES = 3  # that come with a request: for the wait status, for cells, for replies
LOADED = """
    IPython.core.application IPython.core.completerlib IPython.core.interactiveshell IPython.core.magics
    matplotlib_inline.backend_inline matplotlib.pyplot numpy.random safetensors.torch jaxtyping torch
""".split()


def main(descriptor: int) -> None:
    """Load what every kernel needs, then fork a kernel for each request until the socket is closed."""
    for name in LOADED:
        importlib.import_module(name)
    sys.modules["torch"].set_num_threads(1)
    gc.collect()
    gc.freeze()  # what is loaded now is shared by all kernels; a collection would copy it
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children are reaped by the system
    channel = socket.socket(fileno=descriptor)
    while True:
        try:
            message, descriptors, _, _ = socket.recv_fds(channel, MAX_REQUEST, PIPES)
        except ConnectionResetError:  # the grader ended before it had read our last answer
            return
        if not message:
            return
        request = json.loads(message)
        ready, ready_pipe = os.pipe()
        if os.fork() == 0:
            _supervise(request, channel, descriptors, ready_pipe)
        for descriptor in (*descriptors, ready_pipe):
            os.close(descriptor)
        with os.fdopen(ready) as file:
            problem = file.read()
        try:
            channel.send(json.dumps({"problem": problem} if problem else {}).encode())
        except BrokenPipeError:  # the grader is gone
            return


def _supervise(request: dict, channel: socket.socket, descriptors: list[int], ready_pipe: int) -> None:
    """Enter the sandbox, fork the kernel, and report how it ended. Never returns."""
    try:
        status_pipe, *own = descriptors
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        channel.close()
        privileges.enter_namespaces(request["pid"], request["own_user"])
        kernel = os.fork()
    except BaseException as problem:
        os.write(ready_pipe, str(problem).encode())
        os._exit(1)
    if kernel == 0:
        try:
            _become_kernel(request, own, ready_pipe)
        finally:
            os._exit(1)
    for descriptor in (ready_pipe, *own):
        os.close(descriptor)
    _, status = os.waitpid(kernel, 0)
    with contextlib.suppress(OSError):  # nobody may be listening any more
        os.write(status_pipe, struct.pack("=i", status))
    os._exit(0)


def _become_kernel(request: dict, own: list[int], ready_pipe: int) -> None:
    """``own``: where its cells come from, and where its replies go."""
    try:
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        privileges.drop_privileges(request["user"], request["limits"])
    except BaseException as problem:
        os.write(ready_pipe, str(problem).encode())
        raise
    for first, end in itertools.pairwise((2, *sorted(own), 1024)):
        os.closerange(first + 1, end)  # `ready_pipe` too: its end of file means that all went well
    for descriptor in own:
        os.set_inheritable(descriptor, False)
    os.environ.clear()
    os.environ.update(kernel_side.ENVIRONMENT)
    os.makedirs(kernel_side.SCRATCH, exist_ok=True)
    os.chdir(kernel_side.SCRATCH)
    sys.path[:0] = [request["library"], ""]  # a student may import a file that a cell has written
    kernel_side.serve(*own)


if __name__ == "__main__":
    sys.path[:] = [path for path in sys.path if path not in ("", str(Path.cwd()))]
    main(int(sys.argv[1]))
