"""The worked solutions of lesson 14 against truth from outside: PyTorch, the library, tables of all positions."""

import itertools

import pytest
import torch
import torch.nn.functional as F

from course_checks.deciding.find import find
from course_checks.running.drivers.lesson_14 import Held
from course_utils.kv_cache import WindowCache
from course_utils.linear_attention import chunked_form, feature_map, recurrent_form
from course_utils.positions import apply_rope, rotary_angles


def drawn(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def test_the_way_back_through_a_softmax_is_pytorch_s():
    scores, d_weights = drawn(3, 4, 6).requires_grad_(), drawn(3, 4, 5, seed=1)  # the last score is the sink's
    weights = scores.softmax(dim=-1)[..., :-1]
    (expected,) = torch.autograd.grad(weights, scores, d_weights)
    by_scores, by_sink = find("14.1").right(weights.detach(), d_weights)
    torch.testing.assert_close(by_scores, expected[..., :-1])
    torch.testing.assert_close(by_sink, expected[..., -1])


@pytest.mark.parametrize("block_size", [1, 3, 4, 9])
def test_the_way_back_through_attention_is_pytorch_s(block_size):
    q, k, v = (drawn(2, 9, size, seed=seed).requires_grad_() for seed, size in enumerate((4, 4, 3)))
    d_output = drawn(2, 9, 3, seed=9)
    output = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    expected = torch.autograd.grad(output, (q, k, v), d_output)
    later = torch.ones(9, 9, dtype=torch.bool).triu(1)
    log_sums = (q @ k.mT / 2).masked_fill(later, -torch.inf).logsumexp(dim=-1)
    given = [tensor.detach() for tensor in (q, k, v, output, log_sums, d_output)]
    for found, right in zip(find("14.2").right(*given, block_size), expected, strict=True):
        torch.testing.assert_close(found, right)


@pytest.mark.parametrize(("window", "sinks"), [(4, 0), (3, 2), (1, 1)])
def test_a_cache_that_never_grows_is_the_library_s(window, sinks):
    query, key, value = drawn(2, 9, 4), drawn(2, 9, 4, seed=1), drawn(2, 9, 4, seed=2)
    cache = WindowCache(2, 1, window, 4, sinks=sinks, dtype=torch.float64)
    keys, values = key[:, :0], value[:, :0]
    for t in range(9):
        output, keys, values = find("14.3").right(query[:, t], key[:, t], value[:, t], keys, values, window, sinks)
        kept, kept_values = cache.update(key[:, None, t : t + 1], value[:, None, t : t + 1])
        torch.testing.assert_close(keys, kept[:, 0])
        torch.testing.assert_close(values, kept_values[:, 0])
        angles = rotary_angles(torch.arange(keys.shape[1]), 4)
        turned = apply_rope(kept, angles.cos(), angles.sin())
        last = apply_rope(query[:, None, t : t + 1], angles[-1:].cos(), angles[-1:].sin())
        torch.testing.assert_close(output, F.scaled_dot_product_attention(last, turned, kept_values)[:, 0, 0])


def seen_by(window, sinks, length):
    back = torch.arange(length)[:, None] - torch.arange(length)
    near = back < (length if window is None else window)
    return (back >= 0) & (near | (torch.arange(length) < sinks))


def test_what_is_reached_is_what_tables_of_all_positions_say():
    kinds = [(1, 0), (3, 0), (2, 2), (4, 1), (2, 7), (None, 0)]
    for layers in itertools.product(kinds, repeat=3):
        reaches = torch.eye(16)
        for layer in layers:
            reaches = ((seen_by(*layer, 16).float() @ reaches) > 0).float()
        for position, row in enumerate(reaches.bool().tolist()):
            stretch = position + 1 - next((n for n in range(position + 1) if not row[position - n]), position + 1)
            assert find("14.4").right(list(layers), position) == (stretch, sum(row)), (layers, position)


def test_a_state_and_a_normalizer_are_the_masked_quadratic_form():
    query, key, value = drawn(2, 7, 4), drawn(2, 7, 4, seed=1), drawn(2, 7, 3, seed=2)
    table = (feature_map(query) @ feature_map(key).mT).tril()
    expected = table @ value / table.sum(dim=-1, keepdim=True)
    output, state, normalizer = find("14.5").right(
        query, key, value, torch.zeros(2, 4, 3).double(), torch.zeros(2, 4).double()
    )
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(state, feature_map(key).mT @ value)
    torch.testing.assert_close(normalizer, feature_map(key).sum(dim=1))
    for size in (1, 3, 7, 8):
        torch.testing.assert_close(find("14.8").right(query, key, value, size), expected)


@pytest.mark.parametrize("smallest", [0.3, 1e-250])
def test_decay_in_chunks_is_the_library_s_recurrence(smallest):
    query, key, value = drawn(2, 11, 4), drawn(2, 11, 4, seed=1), drawn(2, 11, 3, seed=2)
    state = drawn(2, 4, 3, seed=3)
    decay = 0.5 + 0.5 * drawn(2, 11, seed=4).sigmoid()
    decay[:, ::3] = smallest
    expected = recurrent_form(query, key, value, decay=decay, state=state)
    for size in (1, 4, 11, 20):
        for found, right in zip(find("14.6").right(query, key, value, decay, size, state), expected, strict=True):
            torch.testing.assert_close(found, right)
    torch.testing.assert_close(expected, chunked_form(query, key, value, chunk_size=4, decay=decay, state=state))


def test_a_delta_write_is_the_library_s_and_only_fades_other_directions():
    state, key, value, beta = drawn(3, 4, 5), drawn(3, 4, seed=1), drawn(3, 5, seed=2), torch.tensor([0.0, 0.4, 1.0])
    unit, decay = F.normalize(key, dim=-1)[:, None], torch.tensor([0.5, 1.0, 0.3]).double()
    gates = {"decay": decay[:, None], "beta": beta[:, None].double()}
    _, expected = recurrent_form(unit, unit, value[:, None], **gates, state=state)
    found = find("14.7").right(state, key, value, decay, beta.double())
    torch.testing.assert_close(found, expected)
    other = drawn(3, 1, 4, seed=3)
    other = other - (other @ unit.mT) * unit
    torch.testing.assert_close(other @ found, decay[:, None, None] * (other @ state))


# What is watched


def watched(function):
    with Held() as held:
        function()
    return held.most


def test_what_is_held_by_tensors_arrays_and_lists_is_seen():
    x, side = torch.randn(512, 3), 4 * 512**2
    assert watched(lambda: (x @ x.T).tril()) > side
    assert watched(lambda: x.numpy() @ x.numpy().T) > side
    assert watched(lambda: [[float(a) * b for a in range(512)] for b in range(512)]) > side
    assert watched(lambda: [(rows @ x.T).tril() for rows in x.split(8)]) > side


def test_what_is_dropped_again_does_not_count_nor_do_views():
    x = torch.randn(512, 3)

    def one_at_a_time():
        for place in range(512):
            row = (x @ x[place]).view(1, -1)
        return row.expand(512, 512)

    assert watched(one_at_a_time) < 0.2 * 4 * 512**2
