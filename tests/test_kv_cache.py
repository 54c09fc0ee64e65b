"""The cache: what was written comes back, in order, and nothing else."""

import pytest
import torch
from tensors import randn

from course_utils.kv_cache import KVCache, WindowCache

B, H_KV, L, D = 2, 3, 7, 4


@pytest.mark.parametrize("steps", [[1] * L, [3, 1, 3], [L]])
def test_pieces_come_back_as_one(steps):
    keys, values = randn(B, H_KV, L, D), randn(B, H_KV, L, D, seed=1)
    cache = KVCache(B, H_KV, L + 90, D)
    assert cache.max_len == L + 90 and cache.num_bytes == 2 * B * H_KV * (L + 90) * D * 4
    start = 0
    for step in steps:
        end = start + step
        all_keys, all_values = cache.update(keys[:, :, start:end], values[:, :, start:end])
        assert torch.equal(all_keys, keys[:, :, :end]) and torch.equal(all_values, values[:, :, :end])
        assert cache.length == end
        start = end


def test_reordered_rows_are_those_sequences_and_leave_the_first_cache_alone():
    cache = KVCache(B, H_KV, L, D)
    key, value = randn(B, H_KV, 3, D), randn(B, H_KV, 3, D)
    cache.update(key, value)
    rows = torch.tensor([1, 1, 0])
    chosen = cache.reorder(rows)
    new = randn(3, H_KV, 2, D)
    keys, values = chosen.update(new, new)
    assert torch.equal(keys, torch.cat((key[rows], new), dim=2)) and torch.equal(values[:, :, :3], value[rows])
    assert cache.length == 3 and chosen.max_len == L
    assert KVCache(B, H_KV, L, D).reorder(rows).length == 0


def full():
    cache = KVCache(B, H_KV, L, D)
    cache.update(randn(B, H_KV, L - 1, D), randn(B, H_KV, L - 1, D))
    return cache


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: KVCache(B, 0, L, D), r"num_kv_heads \(0\)"),
        (lambda: full().update(randn(B, H_KV, 2, D), randn(B, H_KV, 2, D)), "overflow.*6 of 7.*max_len=8"),
        (lambda: full().update(randn(B, 5, 1, D), randn(B, 5, 1, D)), r"key.*\(2, 5, 1, 4\).*\(2, 3, L_new, 4\)"),
        (lambda: full().update(randn(1, H_KV, 1, D), randn(1, H_KV, 1, D)), r"key.*\(1, 3, 1, 4\)"),
        (lambda: full().update(randn(B, H_KV, 1, D), randn(B, H_KV, 1, D + 1)), r"value.*\(2, 3, 1, 5\)"),
        (lambda: full().update(randn(B, H_KV, 1, D).double(), randn(B, H_KV, 1, D)), "float64.*float32.*dtype="),
        (lambda: full().update(randn(B, H_KV, 1, D).to("meta"), randn(B, H_KV, 1, D)), "meta.*cpu.*device="),
        (lambda: full().update(randn(B, H_KV, 2, D), randn(B, H_KV, 1, D)), "must agree"),
        (lambda: full().reorder(torch.tensor([0, 2])), r"rows \(\[0, 2\]\).*0 to 1"),
        (lambda: full().reorder(torch.tensor([0, -1])), r"rows \(\[0, -1\]\)"),
        (lambda: full().reorder(torch.tensor(1)), r"rows \(1\)"),
        (lambda: full().update(randn(B, H_KV, 1, D).requires_grad_(), randn(B, H_KV, 1, D)), r"torch\.no_grad\(\)"),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_refused_update_leaves_the_cache_as_it_was():
    cache, new = full(), randn(B, H_KV, 2, D)
    with pytest.raises(ValueError, match="overflow"):
        cache.update(new, new)
    assert cache.length == L - 1
    cache.update(new[:, :, :1], new[:, :, :1])


@pytest.mark.parametrize("sinks", [0, 2])
def test_a_window_keeps_the_first_and_the_latest(sinks):
    keys, values = randn(B, H_KV, 9, D), randn(B, H_KV, 9, D, seed=1)
    cache = WindowCache(B, H_KV, 3, D, sinks=sinks)
    size = cache.num_bytes
    for place in range(9):
        found = cache.update(keys[:, :, place : place + 1], values[:, :, place : place + 1])
        kept = sorted({*range(min(sinks, place + 1)), *range(max(0, place - 2), place + 1)})
        for mine, whole in zip(found, (keys, values), strict=True):
            assert torch.equal(mine, whole[:, :, kept])
    assert cache.num_bytes == size == 2 * B * H_KV * (3 + sinks) * D * 4


def test_a_reordered_window_goes_on_by_itself():
    cache = WindowCache(B, H_KV, 2, D, sinks=1)
    first, new = randn(B, H_KV, 3, D), randn(B, H_KV, 1, D, seed=1)
    cache.update(first, first)
    chosen = cache.reorder(torch.tensor([1, 0]))
    keys, _ = chosen.update(new, new)
    assert torch.equal(keys, torch.cat((first[[1, 0]][:, :, [0, 2]], new), dim=2))
    again, _ = cache.update(new, new)
    assert torch.equal(again, torch.cat((first[:, :, [0, 2]], new), dim=2))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: WindowCache(B, H_KV, 0, D), r"window \(0\)"),
        (lambda: WindowCache(B, H_KV, 2, D, sinks=-1), r"sinks \(-1\)"),
        (
            lambda: WindowCache(B, H_KV, 2, D).update(randn(B, H_KV, 3, D), randn(B, H_KV, 3, D)),
            "3 positions at once.*one at",
        ),
    ],
)
def test_a_window_says_what_is_wrong(call, words):
    with pytest.raises(ValueError, match=words):
        call()
