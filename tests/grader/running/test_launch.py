"""Starting a kernel: sockets in the sandbox, nothing outside it, and how it ended."""

import asyncio
import os
import tempfile
import time

import pytest
from sandboxed import linux

from course_grader.limits import Limits
from course_grader.running.fork_server import ForkServer
from course_grader.running.launch import PlainKernel, SandboxedKernel
from course_grader.running.library_copy import library_copy


@linux
def test_a_kernel_in_a_sandbox_from_start_to_end(tmp_path, monkeypatch):
    place = library_copy(frozenset())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    fork_server = ForkServer()
    kernel = SandboxedKernel(Limits(), place, fork_server)

    async def work():
        endpoints = await kernel.start()
        assert endpoints.shell.is_socket() and endpoints.iopub.is_socket() and endpoints.control.is_socket()
        assert not kernel.ended() and kernel.status is None
        before = len(os.listdir("/proc/self/fd"))
        await kernel.close()
        assert kernel.ended() and os.WTERMSIG(kernel.status) == 9
        assert len(os.listdir("/proc/self/fd")) < before
        await kernel.close()  # a second time does nothing

    try:
        asyncio.run(work())
        assert os.listdir(tmp_path) == []
    finally:
        fork_server.close()


@linux
def test_a_kernel_that_ends_before_it_listens():
    fork_server = ForkServer()
    kernel = SandboxedKernel(
        Limits(open_files=6), library_copy(frozenset()), fork_server
    )  # too few for a kernel's sockets
    started = time.monotonic()
    try:
        with pytest.raises(RuntimeError, match="the kernel did not start"):
            asyncio.run(kernel.start())
        assert time.monotonic() - started < 40
    finally:
        asyncio.run(kernel.close())
        fork_server.close()


def test_a_plain_kernel_from_start_to_end():
    kernel = PlainKernel(library_copy(frozenset()))

    async def work():
        endpoints = await kernel.start()
        assert endpoints.shell[0] == "127.0.0.1" and len({endpoints.shell, endpoints.iopub, endpoints.control}) == 3
        assert not kernel.ended()
        await kernel.close()
        assert kernel.ended()

    asyncio.run(work())


def test_a_plain_kernel_that_was_never_started_is_closed():
    kernel = PlainKernel(library_copy(frozenset()))
    asyncio.run(kernel.close())
    assert kernel.ended()
