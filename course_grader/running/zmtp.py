"""ZeroMQ's wire protocol (ZMTP 3.0 without encryption), as much of it as a Jupyter client needs, with a limit on what comes in.

libzmq limits each part of a message (ZMQ_MAXMSGSIZE) and the number of messages, but neither the number of parts nor their sum,
and it collects a message in memory before anyone can refuse it: 1,500 parts of 1 MB fill 1.5 GB of the grader's memory. Here
every byte is counted before it is read.
Specification: https://rfc.zeromq.org/spec/23/
"""

import asyncio
from pathlib import Path

MORE, LONG, COMMAND = 1, 2, 4  # a frame's flags
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
FRAME_COST = 64  # what a frame counts for besides its content, so that a flood of empty ones ends too
BUFFER_BYTES = 2**16

Address = Path | tuple[str, int]


class SizeLimitExceeded(Exception):
    """The other side sent more than it may."""


class ReceiveBudget:
    """How many bytes may still come in, over all channels that share it.

    Args:
        size: Bytes until it is reset.
    """

    def __init__(self, size: int) -> None:
        self.size = self.left = size

    def reset(self) -> None:
        """Allow as much as at the start."""
        self.left = self.size

    def spend(self, size: int) -> None:
        """Count a frame.

        Raises:
            SizeLimitExceeded: There is not that much left.
        """
        self.left -= size + FRAME_COST
        if self.left < 0:
            raise SizeLimitExceeded(f"more than {self.size} bytes")


class Channel:
    """A connection to one socket of a kernel; ``await Channel.open(...)`` makes one.

    Args:
        reader: Of the open connection.
        writer: Of the open connection.
        budget: What may come in.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, budget: ReceiveBudget) -> None:
        self._reader, self._writer, self._budget = reader, writer, budget
        self._next: asyncio.Task | None = None

    @classmethod
    async def open(cls, address: Address, kind: str, budget: ReceiveBudget) -> "Channel":
        """Connect.

        Args:
            address: A path (``ipc``), or host and port (``tcp``).
            kind: This side's socket type: ``DEALER``, or ``SUB`` (which subscribes to everything).
            budget: What may come in.

        Raises:
            ConnectionError: There is nobody, or not somebody who speaks ZMTP 3.
        """
        if isinstance(address, Path):
            streams = await asyncio.open_unix_connection(address, limit=BUFFER_BYTES)
        else:
            streams = await asyncio.open_connection(*address, limit=BUFFER_BYTES)
        channel = cls(*streams, budget)
        try:
            await channel._greet(kind)
        except BaseException:
            channel.close()
            raise
        return channel

    async def _greet(self, kind: str) -> None:
        properties = b"".join(
            len(name).to_bytes(1, "big") + name + len(value).to_bytes(4, "big") + value
            for name, value in ((b"Socket-Type", kind.encode()), (b"Identity", b""))
        )
        self._writer.write(GREETING + frame(b"\x05READY" + properties, COMMAND))
        try:
            theirs = await self._reader.readexactly(len(GREETING))
        except asyncio.IncompleteReadError as problem:
            raise ConnectionError("the other side closed the connection") from problem
        if theirs[0] != 0xFF or theirs[9] != 0x7F or theirs[10] < 3 or theirs[12:32].rstrip(b"\0") != b"NULL":
            raise ConnectionError("the other side does not speak ZMTP 3 without encryption")
        if kind == "SUB":
            await self.send([b"\x01"])

    async def send(self, frames: list[bytes]) -> None:
        """Send one message. Waits while the other side takes nothing."""
        last = len(frames) - 1
        self._writer.write(b"".join(frame(part, MORE if place < last else 0) for place, part in enumerate(frames)))
        await self._writer.drain()

    async def receive(self) -> list[bytes]:
        """The next message. Who waits for it may be cancelled; then the next call gets it.

        Raises:
            SizeLimitExceeded: The budget is used up. From here on the channel cannot be used.
            ConnectionError: The other side has closed the connection.
        """
        if self._next is None:
            self._next = asyncio.ensure_future(self._read())
            self._next.add_done_callback(lambda task: task.cancelled() or task.exception())
        message = await asyncio.shield(self._next)
        self._next = None
        return message

    async def _read(self) -> list[bytes]:
        parts: list[bytes] = []
        try:
            while True:
                flags = (await self._reader.readexactly(1))[0]
                size = int.from_bytes(await self._reader.readexactly(8 if flags & LONG else 1), "big")
                self._budget.spend(size)
                part = await self._reader.readexactly(size)
                if flags & COMMAND:
                    continue
                parts.append(part)
                if not flags & MORE:
                    return parts
        except asyncio.IncompleteReadError as problem:
            raise ConnectionError("the other side closed the connection") from problem

    def close(self) -> None:
        """Close the connection at once."""
        if self._next is not None:
            self._next.cancel()
        self._writer.transport.abort()


def frame(content: bytes, flags: int) -> bytes:
    """One frame as it goes over the wire."""
    if len(content) < 256:
        return bytes((flags, len(content))) + content
    return bytes((flags | LONG,)) + len(content).to_bytes(8, "big") + content
