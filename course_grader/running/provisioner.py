"""jupyter_client's way to other kernels: a provisioner whose kernels live in a sandbox, and a plain one without a sandbox."""

import asyncio
import contextlib
import os
import queue
import select
import stat
import time
from importlib.metadata import EntryPoint

import zmq
import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import KernelProvisionerBase, KernelProvisionerFactory

from ..inside.kernel_side import SOCKETS
from .fork_server import ForkServer, exit_status
from .sandbox import Sandbox

NAME = "attention-course-sandbox"
PORTS = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "hb_port": 4, "control_port": 5}
START_S = 60.0
MIB = 2**20


class SandboxProvisioner(KernelProvisionerBase):
    """Starts the kernel in a sandbox that the kernel manager brings along (``manager.sandbox``, ``manager.fork_server``)."""

    report: int | None = None
    status: int | None = None

    @property
    def has_process(self) -> bool:
        """Whether a kernel was started and its end has not been noticed."""
        return self.report is not None

    async def poll(self) -> int | None:
        """None while the kernel runs."""
        if self.report is not None and select.select([self.report], [], [], 0)[0]:
            self.status = exit_status(self.report)
            os.close(self.report)
            self.report = None
        return None if self.report is not None else 1

    async def wait(self) -> int | None:
        """Wait for the kernel's end."""
        while await self.poll() is None:
            await asyncio.sleep(0.02)
        return 0

    async def send_signal(self, signum: int) -> None:
        """Interrupts go by message; every other signal closes the sandbox."""
        self.parent.sandbox.close()

    async def kill(self, restart: bool = False) -> None:
        """Close the sandbox."""
        self.parent.sandbox.close()

    async def terminate(self, restart: bool = False) -> None:
        """Close the sandbox."""
        self.parent.sandbox.close()

    async def cleanup(self, restart: bool = False) -> None:
        """Let go of the report."""
        if self.report is not None:
            os.close(self.report)
            self.report = None

    async def pre_launch(self, **kwargs) -> dict:
        """No connection file is written outside: its content goes to the fork_server."""
        manager = self.parent
        connection = {**PORTS, "transport": "ipc", "ip": f"{SOCKETS}/k", "key": manager.session.key.decode()}
        self.connection_info = connection | {"signature_scheme": manager.session.signature_scheme}
        return await super().pre_launch(cmd=["kernel"], **kwargs)

    async def launch_kernel(self, cmd: list[str], **kwargs) -> dict:
        """Ask the fork_server for a kernel and wait for its sockets; no student code runs before a client connects."""
        manager = self.parent
        self.report = await asyncio.to_thread(
            manager.fork_server.spawn, manager.sandbox, self.connection_info, manager.limits_dict
        )
        deadline = time.monotonic() + START_S
        wanted = [manager.sandbox.path(f"{SOCKETS}/k-{port}") for port in PORTS.values()]
        while not all(map(_is_socket, wanted)):
            if await self.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the kernel did not start")
            await asyncio.sleep(0.01)
        seen = self.connection_info | {"ip": str(manager.sandbox.path(f"{SOCKETS}/k"))}
        return seen | {"key": manager.session.key}


class SandboxManager(AsyncKernelManager):
    """A kernel manager for one kernel in one sandbox.

    Args:
        sandbox: The open sandbox; closing it ends the kernel.
        fork_server: Where kernels come from.
        limits: ``Limits`` as a dict.
    """

    def __init__(self, sandbox: Sandbox, fork_server: ForkServer, limits: dict) -> None:
        factory = KernelProvisionerFactory.instance()
        value = f"{__name__}:{SandboxProvisioner.__name__}"
        factory.provisioners[NAME] = EntryPoint(NAME, value, KernelProvisionerFactory.GROUP_NAME)
        super().__init__(context=bounded_context(limits["message_mb"]), transport="ipc")
        self.sandbox, self.fork_server, self.limits_dict = sandbox, fork_server, limits
        chosen = {"kernel_provisioner": {"provisioner_name": NAME}}
        self._kernel_spec = KernelSpec(argv=["kernel"], interrupt_mode="message", metadata=chosen)

    def _reconcile_connection_info(self, info: dict) -> None:
        self.load_connection_info(info)  # the ordinary manager would write them to a file


def bounded_context(message_mb: int) -> zmq.asyncio.Context:
    """A ZeroMQ context whose sockets take no message over a size, few at a time, and connect once only."""
    context = zmq.asyncio.Context()
    context.setsockopt(zmq.MAXMSGSIZE, message_mb * MIB)
    context.setsockopt(zmq.RCVHWM, 32)
    context.setsockopt(zmq.RECONNECT_IVL, -1)
    context.setsockopt(zmq.LINGER, 0)
    return context


async def connect(manager: AsyncKernelManager) -> AsyncKernelClient:
    """A client of a started kernel, ready for the first cell.

    Raises:
        RuntimeError: The kernel does not answer.
    """
    client = manager.client()
    client.start_channels(stdin=False, hb=False)
    client.allow_stdin = False
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and await client.is_alive():
        client.kernel_info()
        with contextlib.suppress(queue.Empty):
            await client.iopub_channel.get_msg(timeout=0.2)  # from here on no output is missed
            await client.shell_channel.get_msg(timeout=5)
            return client
    raise RuntimeError("the kernel does not answer")


def disconnect(manager: AsyncKernelManager, client: AsyncKernelClient | None) -> None:
    """Close a client's sockets and its manager's context."""
    with contextlib.suppress(Exception):
        if client is not None:
            client.stop_channels()
    with contextlib.suppress(Exception):
        manager.context.destroy(linger=0)


def _is_socket(path) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False
