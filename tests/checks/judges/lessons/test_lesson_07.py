"""The references of lesson 07's checks against PyTorch, the library and numbers worked by hand."""

import pytest
import torch
import torch.nn.functional as F

from course_utils.checks.engine import SEED
from course_utils.checks.judges.find import find
from course_utils.kv_cache import KVCache


@pytest.mark.parametrize("seed", [SEED, 1])
def test_grouped_attention_is_pytorchs(seed):
    exercise = find("7.6")
    for case in exercise.cases(seed):
        query, key, value, mask = case.values()
        expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, enable_gqa=True)
        torch.testing.assert_close(exercise.reference(query, key, value, mask), expected)


def test_the_layer_is_pytorchs_attention_between_its_projections():
    exercise = find("7.4")
    for case in exercise.cases(SEED):
        x, W_q, W_k, W_v, W_o, heads, kv_heads, mask = case.values()
        counts = ((W_q, heads), (W_k, kv_heads), (W_v, kv_heads))
        q, k, v = (F.linear(x, W).unflatten(-1, (count, -1)).transpose(1, 2) for W, count in counts)
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        torch.testing.assert_close(
            exercise.reference(*case.values()), F.linear(attended.transpose(1, 2).flatten(2), W_o)
        )


def test_cache_is_the_librarys():
    cache, own = find("7.2").reference()(2, 3, 6, 4), KVCache(2, 3, 6, 4)
    for new in (2, 1, 3):
        key, value = torch.randn(2, 2, 3, new, 4)
        for have, want in zip(cache.update(key, value), own.update(key, value), strict=True):
            torch.testing.assert_close(have, want)
    with pytest.raises(ValueError, match="room"):
        cache.update(key, value)


def test_by_hand():
    assert find("7.1").reference(1, 1, 6, 3, 4, 5, 4) == 480
    assert find("7.3").reference(torch.tensor([1.0, 2.0]).view(1, 2, 1, 1), 2).flatten().tolist() == [1, 1, 2, 2]
    weight = torch.tensor([[1.0], [3.0], [10.0], [20.0]])
    assert find("7.5").reference(weight, 4, 2).tolist() == [[2.0], [15.0]]
