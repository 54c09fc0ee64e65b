"""Ring attention of all ranks in one process, beside attention of the whole sequence."""

import pytest
import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

from course_utils.attention import scaled_dot_product_attention
from course_utils.distributed.communication import all_gather_bytes, all_reduce_bytes, reduce_scatter_bytes
from course_utils.distributed.gathered_attention import mask_of_rank
from course_utils.distributed.layouts import layout
from course_utils.distributed.partial_attention import partial_attention
from course_utils.distributed.ring_attention import Ring, ring_bytes
from course_utils.distributed.simulation import pair_table, run_in_lockstep, simulate_ring, visible_table, work_table
from course_utils.distributed.tensor_memory import TensorMemory
from course_utils.masks import causal_mask
from course_utils.multi_head import repeat_kv

B, H, H_KV, L, D_K, D_V = 2, 4, 2, 24, 6, 10


def heads(length=L):
    rng = torch.Generator().manual_seed(0)
    shapes = ((B, H, length, D_K), (B, H_KV, length, D_K), (B, H_KV, length, D_V), (B, H, length, D_V))
    return [torch.randn(shape, generator=rng, dtype=torch.float64) for shape in shapes]


def in_one_process(query, key, value, d_output, causal, scale=None):
    leaves = [x.clone().requires_grad_() for x in (query, key, value)]
    mask = causal_mask(query.shape[2]) if causal else None
    k, v = (repeat_kv(x, H // H_KV) for x in leaves[1:])
    output, _ = scaled_dot_product_attention(leaves[0], k, v, mask, scale=scale)
    output.backward(d_output)
    return output.detach(), [x.grad for x in leaves]


@pytest.mark.parametrize("name", ["contiguous", "zigzag", "striped"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("P", [1, 2, 3, 4])
def test_values_gradients_and_bytes(name, causal, P):
    query, key, value, d_output = heads()
    simulated = simulate_ring(query, key, value, Ring(layout(name, L, P), causal, scale=0.4), d_output)
    output, gradients = in_one_process(query, key, value, d_output, causal, scale=0.4)
    torch.testing.assert_close(simulated.output, output, rtol=0, atol=1e-12)
    torch.testing.assert_close(simulated.gradients, tuple(gradients), rtol=0, atol=1e-12)
    forward, backward = ring_bytes(8 * key.numel() // P, 8 * value.numel() // P, P)
    assert simulated.forward_bytes.tolist() == [forward] * P
    assert simulated.backward_bytes.tolist() == [backward] * P
    assert (forward > 0) == (P > 1)


@pytest.mark.parametrize("causal", [False, True])
def test_padding_is_not_seen_and_gets_no_gradient(causal):
    short = heads(21)
    padded = [F.pad(x, (0, 0, 0, 3), value=7.0) for x in short[:3]] + [F.pad(short[3], (0, 0, 0, 3))]
    ring = Ring(layout("zigzag", 24, 3), causal, length=21)
    simulated = simulate_ring(*padded[:3], ring, padded[3])
    output, gradients = in_one_process(*short, causal)
    torch.testing.assert_close(simulated.output[:, :, :21], output, rtol=0, atol=1e-12)
    for ours, theirs in zip(simulated.gradients, gradients, strict=True):
        torch.testing.assert_close(ours[:, :, :21], theirs, rtol=0, atol=1e-12)
        assert ours[:, :, 21:].eq(0).all()


@pytest.mark.parametrize("name", ["contiguous", "zigzag"])
def test_multiplications_are_those_that_pytorch_counts(name):
    query, key, value, _ = heads()
    counter = FlopCounterMode(display=False)
    with counter:
        simulated = simulate_ring(query, key, value, Ring(layout(name, L, 4), causal=True))
    assert 2 * int(simulated.multiplications.sum()) == counter.get_total_flops()


def test_half_precision_sums_in_float32():
    query, key, value, d_output = (x.bfloat16() for x in heads())
    simulated = simulate_ring(query, key, value, Ring(layout("zigzag", L, 4), causal=True), d_output)
    exact, gradients = in_one_process(*(x.double() for x in (query, key, value, d_output)), causal=True)
    assert simulated.output.dtype == torch.bfloat16
    torch.testing.assert_close(simulated.output.double(), exact, rtol=2**-8, atol=1e-3)
    for ours, theirs in zip(simulated.gradients, gradients, strict=True):
        torch.testing.assert_close(ours.double(), theirs, rtol=2**-6, atol=2e-2)


def test_more_ranks_than_cores_and_float32():
    query, key, value, d_output = (x.float() for x in heads(64))
    simulated = simulate_ring(query, key, value, Ring(layout("zigzag", 64, 16), causal=True), d_output)
    output, gradients = in_one_process(query, key, value, d_output, causal=True)
    torch.testing.assert_close(simulated.output, output, rtol=0, atol=1e-6)
    torch.testing.assert_close(simulated.gradients, tuple(gradients), rtol=0, atol=1e-5)


@pytest.mark.parametrize("causal", [False, True])
def test_gathering_all_keys_sees_the_same(causal):
    query, key, value, _ = heads()
    ring = Ring(layout("zigzag", L, 4), causal, length=22)
    order = ring.layout.order
    parts = []
    for rank in range(4):
        own = ring.layout.shard(query, rank)
        parts.append(partial_attention(own, key[:, :, order], value[:, :, order], mask_of_rank(ring, rank))[0])
    expected = in_one_process(*(x[:, :, :22] for x in heads()), causal)[0]
    torch.testing.assert_close(ring.layout.unshard(parts)[:, :, :22], expected, rtol=0, atol=1e-12)
    assert mask_of_rank(Ring(ring.layout), 0) is None


def test_messages_are_copies_and_arrive_from_the_rank_before():
    def program(rank):
        own = torch.tensor([rank])
        arriving = yield (own,)
        own += 10
        (other,) = arriving()
        other += 100
        return own.item(), other.item()

    results, sent = run_in_lockstep([program(rank) for rank in range(3)])
    assert results == [(10, 102), (11, 100), (12, 101)] and sent.tolist() == [8, 8, 8]


def test_a_rank_that_ends_too_early_is_named():
    def program(rank):
        for _ in range(3 - (rank == 1)):
            arriving = yield (torch.zeros(1),)
            arriving()

    with pytest.raises(RuntimeError, match=r"ranks \[1\] are done and the others still hand on"):
        run_in_lockstep([program(rank) for rank in range(3)])


def test_wrong_lengths_are_refused_on_the_rank(as_a_user):
    ring = Ring(layout("contiguous", 8, 2))
    query = torch.zeros(1, 1, 4, 3)
    with pytest.raises(
        ValueError, match=r"key has shape \(1, 1, 5, 3\); expected \(B, H, n=4, d\): n is L / P, on rank 1"
    ):
        next(ring.forward(1, query, torch.zeros(1, 1, 5, 3), query))


def test_bytes_of_collective_operations():
    assert [all_reduce_bytes(1200, P) for P in (1, 2, 4)] == [0, 1200, 1800]
    assert [reduce_scatter_bytes(1200, P) for P in (1, 2, 4)] == [0, 600, 900]
    assert [all_gather_bytes(300, P) for P in (1, 2, 4)] == [0, 300, 900]


def test_tensor_memory_counts_what_is_there_at_once():
    with TensorMemory() as memory:
        x = torch.zeros(1000)  # 4,000 bytes
        y = x.view(10, 100) + 1
        del x
        z = y[:5]  # a view
        del y
        y = torch.zeros(500)
    assert (memory.now, memory.peak) == (6000, 8000)
    del z, y
    assert memory.now == 0
    with (
        pytest.raises(MemoryError, match="take 40,000 bytes at once, and the limit is 39,999"),
        TensorMemory(limit=39_999),
    ):
        torch.zeros(100, 100)


def test_a_rank_of_a_ring_takes_less_the_more_there_are():
    peaks = []
    for P in (1, 2, 4):
        own = [layout("contiguous", 256, P).shard(torch.zeros(1, 1, 256, 4), 0) for _ in range(3)]
        program = Ring(layout("contiguous", 256, P)).forward(0, *own)
        arriving = None
        with TensorMemory(*own) as memory:
            try:
                while True:
                    block = program.send(arriving)
                    arriving = lambda block=block: tuple(x.clone() for x in block)  # noqa: E731
            except StopIteration:
                pass
        peaks.append(memory.peak)
    assert peaks[0] > 3 * peaks[1] > 9 * peaks[2]  # the scores are a block of (L / P)^2


@pytest.mark.parametrize("name", ["contiguous", "zigzag", "striped"])
def test_pairs_in_tiles_of_one_are_those_that_may_be_seen_and_in_whole_chunks_those_of_the_ring(name):
    of = layout(name, L, 4)
    positions = torch.stack([of.positions(rank) for rank in range(4)])
    mask, ring = causal_mask(L)[0, 0], Ring(of, causal=True)
    assert torch.equal(pair_table(positions, mask), visible_table(ring))
    chunk = len(of.chunks[0][0])
    assert torch.equal(pair_table(positions, mask, tile=chunk), work_table(ring))


def test_pairs_of_a_mask_worked_out_by_hand():
    seen = torch.zeros(4, 4, dtype=torch.bool)
    seen[3, 0] = seen[1, 1] = True  # rank 0 has tokens 3 and 1, rank 1 has 2 and 0
    positions = torch.tensor([[3, 1], [2, 0]])
    assert pair_table(positions, seen).tolist() == [[1, 1], [0, 0]]
    assert pair_table(positions, seen, tile=2).tolist() == [[4, 4], [0, 0]]


@pytest.mark.parametrize(
    ("positions", "size", "tile", "said"),
    [
        ([[0, 1], [2, 2]], 4, 1, "positions must hold each of 0 to 3 once"),
        ([[0, 1], [2, 3]], 5, 1, r"seen has shape \(5, 5\); expected \(L=4, L=4\)"),
        ([[0, 1], [2, 3]], 4, 3, r"tile \(3\) must divide n \(2\)"),
    ],
)
def test_a_table_of_pairs_names_what_does_not_fit(positions, size, tile, said):
    with pytest.raises(ValueError, match=said):
        pair_table(torch.tensor(positions), torch.ones(size, size, dtype=torch.bool), tile)
