"""Which rank holds which tokens, and what is left of a mask."""

import pytest
import torch

from course_utils.distributed.layouts import inverse_order, layout, tiles, zigzag_order
from course_utils.distributed.ring_attention import Ring
from course_utils.distributed.simulation import visible_table, work_table

NAMES = ("contiguous", "zigzag", "striped")


def test_by_hand():
    assert layout("contiguous", 6, 3).order.tolist() == [0, 1, 2, 3, 4, 5]
    assert zigzag_order(8, 2).tolist() == [0, 1, 6, 7, 2, 3, 4, 5]
    assert zigzag_order(8, 4).tolist() == [0, 7, 1, 6, 2, 5, 3, 4]
    assert layout("striped", 6, 3).order.tolist() == [0, 3, 1, 4, 2, 5]
    assert layout("zigzag", 12, 3).positions(1).tolist() == [2, 3, 8, 9]


@pytest.mark.parametrize("name", NAMES)
def test_every_token_is_held_once_and_comes_back(name):
    of = layout(name, 24, 3)
    assert (of.L, of.P, of.L_local) == (24, 3, 8)
    assert of.order.sort().values.tolist() == list(range(24))
    x = torch.randn(2, 24, 5, generator=torch.Generator().manual_seed(0))
    assert torch.equal(of.unshard([of.shard(x, rank) for rank in range(3)]), x)
    assert torch.equal(x[:, of.order][:, inverse_order(of.order)], x)
    assert torch.equal(of.shard(x.transpose(1, 2), 1, dim=-1), x[:, of.positions(1)].transpose(1, 2))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("L", "length"), [(24, None), (24, 24), (24, 17), (6, None), (6, 5)])
def test_tiles_hold_all_that_may_be_seen_and_each_pair_once(name, causal, L, length):
    of = layout(name, L, 3)  # with 6 tokens a chunk of zigzag is a single one
    for q_rank in range(3):
        for k_rank in range(3):
            seen = torch.zeros(L // 3, L // 3, dtype=torch.int64)
            for tile in tiles(of, q_rank, k_rank, causal=causal, length=length):
                seen[tile.queries, tile.keys] += 1 if tile.mask is None else tile.mask.long()
                assert seen[tile.queries, tile.keys].any()  # a tile in which nothing is seen is no tile
            q, k = of.positions(q_rank)[:, None], of.positions(k_rank)[None, :]
            expected = (k < (length or L)) & ((k <= q) | (not causal))
            assert torch.equal(seen, expected.long())


def test_work_with_a_causal_mask_is_uneven_in_a_row_and_even_in_zigzag():
    contiguous, zigzag, striped = (Ring(layout(name, 24, 4), causal=True) for name in NAMES)
    assert work_table(contiguous).tolist() == [[36, 0, 0, 0], [36, 36, 0, 0], [36, 36, 36, 0], [36] * 4]
    assert work_table(zigzag).tolist() == [[27, 18, 18, 18]] * 4
    assert [int(visible_table(ring).sum()) for ring in (contiguous, zigzag, striped)] == [24 * 25 // 2] * 3
    assert visible_table(zigzag).sum(1).unique().numel() == 1
    assert visible_table(striped).tolist()[0] == [21, 15, 15, 15]


def test_bad_lengths_name_the_mend(as_a_user):
    message = r"L \(10\) must be a multiple of 2P \(8\).*pad with 6 more, F.pad\(x, \(0, 0, 0, 6\)\), .*length=10"
    with pytest.raises(ValueError, match=message):
        layout("zigzag", 10, 4)
    with pytest.raises(ValueError, match=r"multiple of P \(4\).*pad with 2 more"):
        layout("contiguous", 10, 4)
    with pytest.raises(ValueError, match=r"name \('ring'\) must be one of 'contiguous', 'zigzag', 'striped'"):
        layout("ring", 8, 2)
    with pytest.raises(ValueError, match="x has 7 tokens, this layout is for 8"):
        layout("contiguous", 8, 2).shard(torch.zeros(7, 3), 0)
    with pytest.raises(ValueError, match=r"length \(9\) must be from 1 to L \(8\)"):
        Ring(layout("contiguous", 8, 2), length=9)
