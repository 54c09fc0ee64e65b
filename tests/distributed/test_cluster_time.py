"""The time of a ring on paper, beside the paper's table."""

import pytest

from course_utils.distributed.cluster_time import CLUSTERS, Cluster, ring_time, slowest_shares, smallest_hidden_block
from course_utils.distributed.layouts import layout
from course_utils.distributed.ring_attention import Ring
from course_utils.distributed.simulation import work_table


def test_the_smallest_blocks_are_those_of_the_paper():
    """Liu et al., 2023, table 2, in thousands of tokens (A100 over InfiniBand there: 24.5)."""
    for cluster, block in zip(CLUSTERS, (1.0, 25.0, 1.1, 1.0, 1.1), strict=True):
        assert smallest_hidden_block(cluster) / 1000 == pytest.approx(block, abs=0.05)


def test_by_hand():
    """n = 4: 4 * 2 * 16 * 8 = 1024 operations and 2 * 2 * 4 * 8 * 2 = 256 bytes a step."""
    sizes = {"L": 16, "P": 4, "num_heads": 2, "d_head": 8}
    slow_link, fast_link = Cluster("", 1024.0, 128.0), Cluster("", 1024.0, 512.0)
    time = ring_time(slow_link, **sizes)
    assert (time.compute, time.transfer, time.total, time.hidden) == (4.0, 6.0, 7.0, False)
    assert ring_time(fast_link, **sizes).hidden and ring_time(fast_link, **sizes).total == 4.0
    assert ring_time(slow_link, num_kv_heads=1, **sizes).total == 4.0
    zigzag = ring_time(fast_link, layout="zigzag", causal=True, **sizes)
    assert zigzag.total == pytest.approx(0.75 + 3 * 0.5)


@pytest.mark.parametrize("heads_per_kv_head", [1, 4])
def test_from_the_smallest_block_on_transfers_are_hidden(heads_per_kv_head):
    cluster = Cluster("", 1000.0, 1.0)
    block = int(smallest_hidden_block(cluster, heads_per_kv_head=heads_per_kv_head))
    sizes = {"P": 3, "num_heads": 4, "num_kv_heads": 4 // heads_per_kv_head, "d_head": 8}
    assert ring_time(cluster, L=3 * block, **sizes).hidden
    assert not ring_time(cluster, L=3 * (block - 1), **sizes).hidden


@pytest.mark.parametrize("name", ["contiguous", "zigzag"])
def test_shares_are_those_of_the_work_table(name):
    largest = work_table(Ring(layout(name, 32, 4), causal=True)).max(dim=0).values / 8**2
    assert slowest_shares(name, 4, causal=True) == largest.tolist()
    assert slowest_shares(name, 4, causal=False) == [1.0] * 4


def test_bad_arguments(as_a_user):
    with pytest.raises(ValueError, match=r"P \(3\) must divide L \(16\)"):
        ring_time(CLUSTERS[0], L=16, P=3, num_heads=2, d_head=8)
    with pytest.raises(ValueError, match=r"share \(0\) must be above 0"):
        smallest_hidden_block(CLUSTERS[0], share=0)
