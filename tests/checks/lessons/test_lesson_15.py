"""The worked solutions of lesson 15 against truth from outside: the library, one process, numbers worked by hand."""

import math

import pytest
import torch
from recorded_answers import recorded_answers

from course_checks.catalogue import catalogue_entry
from course_checks.deciding.find import find
from course_checks.engine import run
from course_checks.lesson_15.division_results import BEHIND, JOBS, NAMES, TILE, divided, table_of, time_of
from course_utils.attention import scaled_dot_product_attention
from course_utils.distributed.cluster_time import Cluster, ring_time
from course_utils.distributed.communication import all_gather_bytes, num_bytes
from course_utils.distributed.layouts import inverse_order, layout
from course_utils.distributed.partial_attention import merge, partial_attention
from course_utils.distributed.ring_attention import Ring, ring_bytes
from course_utils.distributed.simulation import pair_table, run_in_lockstep, simulate_ring, visible_table
from course_utils.distributed.tensor_parallel import HeadParallelAttention
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention, merge_heads, repeat_kv, split_heads


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def weights_of(attention):
    return [getattr(attention, name).weight for name in ("q_proj", "k_proj", "v_proj", "o_proj")]


@pytest.mark.parametrize("P", [1, 2, 4])
def test_the_shares_of_weights_are_the_library_s(P):
    whole = MultiHeadAttention(24, num_heads=8, num_kv_heads=4).double()
    for rank in range(P):
        part = HeadParallelAttention(whole, rank, P)
        found = find("15.1").right(*weights_of(whole), 8, 4, rank, P)
        assert all(torch.equal(mine, theirs) for mine, theirs in zip(found, weights_of(part), strict=True))


@pytest.mark.parametrize("P", [2, 3, 6])
def test_the_parts_of_ranks_that_share_key_value_heads_add_up_to_the_whole(P):
    H, H_kv, d_head = 6, 3 if P != 2 else 2, 2
    whole = MultiHeadAttention(H * d_head, num_heads=H, num_kv_heads=H_kv, bias=False).double()
    x, total = random(2, 5, H * d_head), 0.0
    for rank in range(P):
        q, k, v, o = find("15.1").right(*weights_of(whole), H, H_kv, rank, P)
        mine, shared = q.shape[0] // d_head, k.shape[0] // d_head
        queries, keys, values = split_heads(x @ q.T, mine), split_heads(x @ k.T, shared), split_heads(x @ v.T, shared)
        keys, values = (repeat_kv(y, mine // shared) for y in (keys, values))
        heads, _ = scaled_dot_product_attention(queries, keys, values)
        total = total + merge_heads(heads) @ o.T
    torch.testing.assert_close(total, whole(x))


def test_two_parts_merge_into_attention_over_all_keys():
    query, key, value = random(2, 3, 4, 5), random(2, 3, 7, 5, seed=1), random(2, 3, 7, 6, seed=2)
    parts = [partial_attention(query, key[:, :, own], value[:, :, own]) for own in (slice(0, 2), slice(2, 7))]
    output, lse = find("15.2").right(*parts[0], *parts[1])
    torch.testing.assert_close(output, scaled_dot_product_attention(query, key, value)[0])
    torch.testing.assert_close(lse, merge(*parts[0], *parts[1])[1])


def test_merging_by_hand_also_where_an_lse_is_large_and_where_nothing_was_seen():
    one = torch.ones(1, 1, 1, 1)
    for level in (0.0, 200.0, -500.0):
        lse = torch.full((1, 1, 1), level)
        output, together = find("15.2").right(4 * one, lse, 8 * one, lse + math.log(3))
        assert output.item() == pytest.approx(7.0, rel=1e-4)
        assert together.item() == pytest.approx(level + math.log(4), rel=1e-5)
    nothing = torch.full((1, 1, 1), -math.inf)
    output, together = find("15.2").right(0 * one, nothing, 0 * one, nothing)
    assert output.item() == 0.0 and together.item() == -math.inf


@pytest.mark.parametrize(("starts", "expected"), [([0], 7.0), ([0, 2], 7.0), ([0, 3], 4.0)])
def test_the_step_s_examples(starts, expected):
    key = torch.tensor([0.0, math.log(3)]).view(1, 1, 2, 1)
    value = torch.tensor([100.0, 8.0]).view(1, 1, 2, 1)
    query, output, lse = torch.ones(1, 1, 1, 1), torch.full((1, 1, 1, 1), 4.0), torch.zeros(1, 1, 1)
    places = torch.tensor([5]), torch.tensor([7, 2]), torch.tensor(starts)
    found, _ = find("15.3").right(query, key, value, *places, output, lse)
    assert found.item() == pytest.approx(expected)


@pytest.mark.parametrize("name", ["contiguous", "zigzag", "striped"])
@pytest.mark.parametrize("lengths", [[16], [3, 1, 7, 5]])
def test_steps_of_all_ranks_are_attention_within_each_document(name, lengths):
    P, of = 4, layout(name, 16, 4)
    query, key, value = random(2, 4, 16, 3), random(2, 2, 16, 3, seed=1), random(2, 2, 16, 5, seed=2)
    starts = torch.tensor([sum(lengths[:i]) for i in range(len(lengths))])
    outputs = []
    for rank in range(P):
        own = of.positions(rank)
        output, lse = random(2, 4, 4, 5) * 0, random(2, 4, 4) * 0 - math.inf
        for step in range(P):
            block = of.positions((rank - step) % P)
            tensors = query[:, :, own], key[:, :, block], value[:, :, block]
            output, lse = find("15.3").right(*tensors, own, block, starts, output, lse)
        outputs.append(output)
    documents = [x.split(lengths, dim=2) for x in (query, repeat_kv(key, 2), repeat_kv(value, 2))]  # each by itself
    alone = [
        scaled_dot_product_attention(q, k, v, causal_mask(q.shape[2]))[0] for q, k, v in zip(*documents, strict=True)
    ]
    torch.testing.assert_close(of.unshard(outputs), torch.cat(alone, dim=2))


@pytest.mark.parametrize("P", [1, 2, 3, 4])
def test_queries_that_travel_as_counted_end_up_at_home_with_the_right_output(P):
    """Exercise 15.5 as programs that send what it counts: the bytes and the attention of one process."""
    B, L_q, L_k, H, H_kv, d = 2, 12, 24, 4, 2, 3
    query, key, value = random(B, H, L_q, d), random(B, H_kv, L_k, d, seed=1), random(B, H_kv, L_k, d, seed=2)
    holders, keys_sent, queries_sent = find("15.5").right(P, B, L_q, L_k, H, H_kv, d, 8)
    queries, keys, values = (x.chunk(P, dim=2) for x in (query, key, value))

    def program(place):  # run_in_lockstep hands to the next, so rank 0 stands last in its row
        rank = P - 1 - place
        held = (
            queries[rank],
            torch.zeros_like(queries[rank]),
            queries[rank].new_full(queries[rank].shape[:-1], -math.inf),
        )
        for step in range(P):
            assert torch.equal(held[0], queries[int(holders[rank, step])])
            output, lse = merge(*held[1:], *partial_attention(held[0], keys[rank], values[rank]))
            if P > 1:
                arriving = yield (held[0], output, lse) if step < P - 1 else (output, lse)
                *first, output, lse = arriving()
                held = (*first, output, lse)
        return output

    outputs, sent = run_in_lockstep([program(place) for place in range(P)])
    assert sent.tolist() == [queries_sent] * P
    expected, _ = scaled_dot_product_attention(query, repeat_kv(key, 2), repeat_kv(value, 2))
    torch.testing.assert_close(torch.cat(outputs[::-1], dim=2), expected)
    half = B * H_kv * (L_k // P) * d * 8
    assert keys_sent == ring_bytes(half, half, P)[0]


def test_the_examples_of_queries_that_travel():
    holders, keys_sent, queries_sent = find("15.5").right(3, 1, 3, 12, 4, 2, 5, 2)
    assert holders.tolist() == [[0, 1, 2], [1, 2, 0], [2, 0, 1]] and (keys_sent, queries_sent) == (320, 224)
    assert [int(x) for x in find("15.5").right(1, 1, 2, 8, 4, 2, 5, 2)] == [0, 0, 0]


@pytest.mark.parametrize(("L", "P"), [(12, 3), (8, 2), (20, 5), (6, 1)])
def test_zigzag_is_the_library_s(L, P):
    positions, inverse = find("15.6").right(L, P)
    of = layout("zigzag", L, P)
    assert torch.equal(positions, torch.stack([of.positions(rank) for rank in range(P)]))
    assert torch.equal(inverse, inverse_order(of.order))


@pytest.mark.parametrize("name", ["contiguous", "zigzag", "striped"])
def test_the_work_is_the_library_s(name):
    of = layout(name, 24, 4)
    table, time = find("15.7").right(torch.stack([of.positions(rank) for rank in range(4)]))
    expected = visible_table(Ring(of, causal=True))
    assert torch.equal(table, expected)
    assert int(time) == int(expected.amax(dim=0).sum())


def test_the_work_s_example():
    table, time = find("15.7").right(torch.tensor([[0, 1], [4, 5], [2, 3]]))
    assert table.tolist() == [[3, 0, 0], [3, 4, 4], [3, 0, 4]]
    assert int(time) == 11


def test_the_masks_of_all_ranks_are_the_band_in_another_order():
    positions = torch.randperm(12, generator=torch.Generator().manual_seed(0)).view(3, 4)
    band = torch.ones(12, 12, dtype=torch.bool).tril().triu(-4)
    found = torch.cat([find("15.8").right(rank, positions, 5) for rank in range(3)])
    order = positions.flatten()
    assert torch.equal(found, band[order][:, order])


@pytest.mark.parametrize("P", [1, 2, 5])
def test_a_ring_gathers_with_the_bytes_of_an_all_gather(P):
    x = random(P, 2, 3)
    results, sent = run_in_lockstep([find("15.4").right(rank, P, x[rank]) for rank in range(P)])
    assert all(torch.equal(result, x) for result in results)
    assert set(sent.tolist()) == {all_gather_bytes(num_bytes(x[0]), P)}


@pytest.mark.parametrize(("case", "name"), [("full", "zigzag"), ("half", "striped"), ("window", "contiguous")])
def test_each_of_the_three_divisions_wins_once(case, name):
    """The experiment 15.9, as its solution says."""
    times = {other: time_of(table_of(divided(other, 4), case)) for other in NAMES}
    assert min(times, key=times.get) == name


@pytest.mark.parametrize("name", NAMES)
def test_no_division_of_the_page_is_good_enough_as_one_s_own(name):
    times = {case: [time_of(table_of(divided(other, 4), case)) for other in (name, *NAMES)] for case in JOBS}
    assert any(own > BEHIND * min(three) for own, *three in times.values())


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({("full", "zigzag"): [1600, 1201]}, "full, zigzag"),
        ({("window, tile 1", "striped"): [1008, 704]}, "window, tile 1, striped"),
        ({("best", "window, tile 1"): "contiguous"}, "best, window, tile 1"),
        ({("best", "full"): "none"}, "best, full"),
        ({"times as fast": 1248 / 672}, "times as fast"),
        ({"mine": torch.arange(96).view(3, 32)}, "mine"),
        ({"mine": torch.arange(96).view(24, 4).T}, "mine"),
    ],
)
def test_the_claim_of_the_experiment_that_a_change_breaks_is_told(change, claim):
    answer = next(answer for answer in recorded_answers("15.9") if answer.is_right)
    space = {"__name__": "__main__"}
    exec(answer.text, space)
    verdict = run(find("15.9"), space["division_results"] | change)
    assert not verdict.passed and verdict.mistake == claim, verdict.text()


def test_half_a_text_in_zigzag_is_a_shorter_text_in_a_row():
    zigzag, short = divided("zigzag", 4), torch.arange(48).view(4, 12)
    assert time_of(table_of(zigzag, "half")) == time_of(pair_table(short, causal_mask(48)[0, 0], TILE)) == 528


@pytest.mark.parametrize(("P", "num_kv_heads"), [(3, 4), (4, 1), (5, 2)])
def test_what_a_ring_costs_is_what_is_sent_and_what_hides_it(P, num_kv_heads):
    L, H, d, flops, bandwidth = 60 * P, 4, 6, 9e3, 50.0
    sent, kept, fewest = find("15.10").right(L, P, H, num_kv_heads, d, 8, flops, bandwidth)
    tensors = random(1, H, L, d), random(1, num_kv_heads, L, d, seed=1), random(1, num_kv_heads, L, d, seed=2)
    simulated = simulate_ring(*tensors, Ring(layout("zigzag", L, P), causal=True))
    assert simulated.forward_bytes.tolist() == [sent] * P
    assert kept == 3 * num_bytes(*tensors[1:]) // P
    _, _, fewest = find("15.10").right(L, P, H, num_kv_heads, d, 2, flops, bandwidth)  # 16 bits, as on the page
    sizes = {"num_heads": H, "num_kv_heads": num_kv_heads, "d_head": d, "layout": "zigzag", "causal": True}
    cluster = Cluster("made up", flops, bandwidth)
    enough = math.ceil(fewest)
    assert ring_time(cluster, L=P * enough, P=P, **sizes).hidden
    assert not ring_time(cluster, L=P * (enough - 1), P=P, **sizes).hidden


def test_the_points_of_the_lesson():
    points = [catalogue_entry(f"15.{number}").points for number in range(1, 11)]
    assert points == [4, 3, 4, 3, 4, 3, 4, 3, 5, 3]
