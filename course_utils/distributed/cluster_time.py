"""How long a ring takes on a cluster, on paper: numbers over peak speed, bytes over the link, whichever takes longer.

In a step a rank attends from its ``n`` queries to ``n`` keys while it sends as many keys and values on. The first grows with
``n`` squared, the second with ``n``: from some block size on the transfer costs no time of its own.

Shape letters: ``B`` batch, ``H`` query heads, ``H_kv`` key/value heads, ``L`` tokens, ``P`` ranks, ``n = L / P``.

Source:
    Liu, Zaharia, Abbeel, "Ring Attention with Blockwise Transformers for Near-Infinite Context", 2023, section 3 and table 2.
"""

from dataclasses import dataclass

from ..arguments import require_divides, require_one_of, require_sizes


@dataclass(frozen=True)
class Cluster:
    """What a machine can do at most, and how fast it hands on.

    Args:
        name: Of the machine and its link.
        flops: Operations per second, a multiplication and an addition being two.
        bandwidth: Bytes per second to the next rank.
    """

    name: str
    flops: float
    bandwidth: float


# The rows of table 2 of the paper as printed there: 16-bit numbers, bandwidth in one direction. (Google's page for the v5e has
# 197e12 and 200e9, which moves its block from 1,054 to 985 tokens.)
CLUSTERS = (
    Cluster("A100, NVLink", 312e12, 300e9),
    Cluster("A100, InfiniBand", 312e12, 12.5e9),
    Cluster("TPU v3", 123e12, 112e9),
    Cluster("TPU v4", 275e12, 268e9),
    Cluster("TPU v5e", 196e12, 186e9),
)


@dataclass(frozen=True)
class RingTime:
    """Seconds of one forward pass of attention, by the model of ``ring_time``.

    Args:
        compute: All steps, if nothing had to be sent.
        transfer: All ``P - 1`` transfers, if nothing had to be computed.
        total: Both at a time: the longer of the two in every step.
    """

    compute: float
    transfer: float
    total: float

    @property
    def hidden(self) -> bool:
        """Whether the transfers cost no time of their own."""
        return self.total <= self.compute * (1 + 1e-9)


def slowest_shares(name: str, P: int, *, causal: bool) -> list[float]:
    """Of the ``n x n`` pairs of a block, the share that the rank with most to do computes, step by step.

    Without a mask all of them. With a causal one, contiguous: still all, by the last rank; zigzag: three of four pairs of
    chunks in the first step and two from then on; striped, with tiles of one token and large ``n``: half.
    """
    require_one_of("name", name, ("contiguous", "zigzag", "striped"))
    require_sizes(P=P)
    if not causal or name == "contiguous":
        return [1.0] * P
    return [0.75 if name == "zigzag" else 0.5] + [0.5] * (P - 1)


def ring_time(
    cluster: Cluster,
    *,
    L: int,
    P: int,
    num_heads: int,
    d_head: int,
    num_kv_heads: int | None = None,
    batch_size: int = 1,
    bytes_per_number: int = 2,
    layout: str = "contiguous",
    causal: bool = False,
) -> RingTime:
    """Time of one forward pass of attention over ``L`` tokens on ``P`` ranks.

    A step computes ``4 B H n^2 d_head`` operations (times its share, ``slowest_shares``) at peak speed, and sends
    ``2 B H_kv n d_head`` numbers. No machine reaches its peak and no link its bandwidth, and starting a transfer costs time
    too: this is a lower bound, and says what limits. On the way back a step computes 2.5 times and sends twice as much.
    """
    num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
    require_divides("P", P, "L", L)
    require_divides("num_kv_heads", num_kv_heads, "num_heads", num_heads)
    require_sizes(d_head=d_head, batch_size=batch_size, bytes_per_number=bytes_per_number)
    n = L // P
    whole_step = 4 * batch_size * num_heads * n**2 * d_head / cluster.flops
    transfer = 2 * batch_size * num_kv_heads * n * d_head * bytes_per_number / cluster.bandwidth
    steps = [share * whole_step for share in slowest_shares(layout, P, causal=causal)]
    total = sum(max(step, transfer) for step in steps[:-1]) + steps[-1]  # in the last step nothing is sent
    return RingTime(sum(steps), (P - 1) * transfer, total)


def smallest_hidden_block(
    cluster: Cluster, *, heads_per_kv_head: int = 1, bytes_per_number: int = 2, share: float = 1.0
) -> float:
    """The block size ``n``, in tokens, from which a transfer takes no longer than the step that it runs beside.

    ``4 H n^2 d / flops >= 2 H_kv n d bytes / bandwidth`` gives ``n >= flops / bandwidth`` for as many key/value heads as
    query heads and 16-bit numbers. ``share`` as in ``slowest_shares``: half the work hides half as much.
    """
    require_sizes(heads_per_kv_head=heads_per_kv_head, bytes_per_number=bytes_per_number)
    if not 0 < share <= 1:
        raise ValueError(f"share ({share}) must be above 0 and at most 1")
    return cluster.flops / cluster.bandwidth * bytes_per_number / (2 * heads_per_kv_head * share)
