"""Kernels by way of jupyter_client: sockets in the sandbox, nothing outside it, bounds on what may come."""

import asyncio
import os
import tempfile
from dataclasses import asdict

import zmq
from sandboxed import linux

from course_grader.limits import Limits
from course_grader.running.fork_server import ForkServer
from course_grader.running.provisioner import SandboxManager, bounded_context, connect, disconnect
from course_grader.running.sandbox import Sandbox


@linux
def test_a_kernel_from_start_to_end(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    sandbox, fork_server = Sandbox(Limits()), ForkServer()

    async def work():
        manager = SandboxManager(sandbox, fork_server, asdict(Limits()))
        await manager.start_kernel()
        assert manager.provisioner.has_process and await manager.provisioner.poll() is None
        client = await connect(manager)
        reply = await client.execute_interactive("1 + 1", allow_stdin=False, output_hook=lambda message: None)
        await manager.provisioner.kill()
        await asyncio.wait_for(manager.provisioner.wait(), 10)
        disconnect(manager, client)
        return reply["content"]["status"], manager.provisioner.has_process, manager.provisioner.status

    try:
        assert asyncio.run(work()) == ("ok", False, 9)
        assert os.listdir(tmp_path) == []
    finally:
        sandbox.close()
        fork_server.close()


def test_the_bounds_of_its_sockets():
    context = bounded_context(2)
    try:
        with context.socket(zmq.SUB) as socket:
            assert socket.get(zmq.MAXMSGSIZE) == 2 * 2**20
            assert (socket.get(zmq.RECONNECT_IVL), socket.get(zmq.RCVHWM), socket.get(zmq.LINGER)) == (-1, 32, 0)
    finally:
        context.destroy(linger=0)
