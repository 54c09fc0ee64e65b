"""ZeroMQ's wire protocol: what libzmq on the other side understands, and the limit that libzmq does not have."""

import asyncio
import os

import pytest
import zmq

from course_grader.running.zmtp import COMMAND, FRAME_COST, GREETING, Channel, ReceiveBudget, SizeLimitExceeded, frame


def talk(kind, work, budget=None):
    """Run ``work(libzmq's socket, our channel)`` over a local connection."""

    async def connected():
        with zmq.Context() as context, context.socket(kind) as theirs:
            theirs.setsockopt(zmq.LINGER, 0)
            theirs.setsockopt(zmq.RCVTIMEO, 5_000)
            port = theirs.bind_to_random_port("tcp://127.0.0.1")
            ours = {zmq.ROUTER: "DEALER", zmq.XPUB: "SUB"}[kind]
            channel = await Channel.open(("127.0.0.1", port), ours, budget or ReceiveBudget(10**7))
            try:
                return await asyncio.wait_for(work(theirs, channel), 10)
            finally:
                channel.close()

    return asyncio.run(connected())


@pytest.mark.parametrize("message", [[b""], [b"a", b"", b"c" * 255], [b"d" * 256, b"e" * 1_000_000]])
def test_both_ways_with_libzmq(message):
    async def work(theirs, channel):
        await channel.send(message)
        identity, *got = await asyncio.to_thread(theirs.recv_multipart)
        theirs.send_multipart([identity, *message])
        return got, await channel.receive()

    assert talk(zmq.ROUTER, work) == (message, message)


def test_a_subscriber_hears_everything():
    async def work(theirs, channel):
        subscribed = await asyncio.to_thread(theirs.recv)
        theirs.send_multipart([b"any topic", b"x"])
        return subscribed, await channel.receive()

    assert talk(zmq.XPUB, work) == (b"\x01", [b"any topic", b"x"])


def test_who_waits_may_be_cancelled_in_the_middle_of_a_message():
    async def work(theirs, channel):
        await asyncio.to_thread(theirs.recv)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await channel.receive()
        theirs.send_multipart([b"a", b"b" * 2_000_000])
        for _ in range(3):
            waiting = asyncio.ensure_future(channel.receive())
            await asyncio.sleep(0)
            waiting.cancel()
        return await channel.receive()

    assert talk(zmq.XPUB, work) == [b"a", b"b" * 2_000_000]


def test_all_parts_count_together_and_over_several_messages():
    async def work(theirs, channel):
        await asyncio.to_thread(theirs.recv)
        theirs.send_multipart([b"x" * 400] * 2)
        assert len(await channel.receive()) == 2
        theirs.send_multipart([b"x" * 400])
        with pytest.raises(SizeLimitExceeded, match="more than 1200 bytes"):
            await channel.receive()

    talk(zmq.XPUB, work, ReceiveBudget(1_200))


def test_a_flood_of_empty_parts_ends():
    budget = ReceiveBudget(10 * FRAME_COST)
    for _ in range(10):
        budget.take(0)
    with pytest.raises(SizeLimitExceeded):
        budget.take(0)
    budget.renew()
    budget.take(0)


def serve(sent, work):
    """Run ``work(channel)`` against a server that sends these bytes and closes."""

    async def both():
        async def answer(reader, writer):
            writer.write(sent)
            await writer.drain()
            await reader.read(1)
            writer.close()

        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            address = server.sockets[0].getsockname()[:2]
            channel = await Channel.open(address, "SUB", ReceiveBudget(1_000))
            try:
                return await asyncio.wait_for(work(channel), 10)
            finally:
                channel.close()

    return asyncio.run(both())


@pytest.mark.parametrize(
    "sent", [b"", b"HTTP/1.1 200 OK" + bytes(60), b"\xff" * 64, GREETING.replace(b"NULL", b"CURV")]
)
def test_somebody_else_on_the_other_side(sent):
    async def work(channel):
        raise AssertionError("it was taken for ZeroMQ")

    with pytest.raises(ConnectionError):
        serve(sent, work)


def test_what_is_announced_counts_before_it_is_read():
    async def work(channel):
        with pytest.raises(SizeLimitExceeded):
            await channel.receive()
        with pytest.raises(SizeLimitExceeded):  # and again
            await channel.receive()

    serve(GREETING + b"\x02" + b"\x7f" * 8, work)


def test_commands_are_left_out_and_an_end_is_an_error():
    async def work(channel):
        found = await channel.receive()
        with pytest.raises(ConnectionError, match="closed|reset"):
            await channel.receive()
        return found

    assert serve(GREETING + frame(b"\x04PING\x00\x00", COMMAND) + frame(b"a", 0) + b"\x00", work) == [b"a"]


@pytest.mark.skipif(not hasattr(asyncio, "open_unix_connection"), reason="a Unix socket")
def test_over_a_path_where_nobody_is(tmp_path):
    with pytest.raises(FileNotFoundError):
        asyncio.run(Channel.open(tmp_path / "nobody", "DEALER", ReceiveBudget(1)))
    assert os.listdir(tmp_path) == []
