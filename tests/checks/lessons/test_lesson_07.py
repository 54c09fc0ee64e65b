"""Lesson 07: its worked solutions against PyTorch, the library and numbers worked by hand."""

import pytest
import torch
import torch.nn.functional as F

from course_checks.deciding.decide import cases_of, decider
from course_checks.deciding.find import find
from course_checks.engine import SEED
from course_checks.running import observe_answer
from course_utils.kv_cache import KVCache


@pytest.mark.parametrize("seed", [SEED, 1])
def test_grouped_attention_is_pytorchs(seed):
    exercise = find("7.6")
    for case in exercise.cases(seed):
        query, key, value, mask = case.values()
        expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, enable_gqa=True)
        torch.testing.assert_close(exercise.right(query, key, value, mask), expected)


def test_the_layer_is_pytorchs_attention_between_its_projections():
    exercise = find("7.4")
    for case in exercise.cases(SEED):
        x, W_q, W_k, W_v, W_o, heads, kv_heads, mask = case.values()
        counts = ((W_q, heads), (W_k, kv_heads), (W_v, kv_heads))
        q, k, v = (F.linear(x, W).unflatten(-1, (count, -1)).transpose(1, 2) for W, count in counts)
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        expected = F.linear(attended.transpose(1, 2).flatten(2), W_o)
        torch.testing.assert_close(exercise.right(*case.values()), expected)


def test_in_pieces_it_is_the_layer_of_7_4_on_the_whole_text():
    layer, whole = find("7.7").right, find("7.4").right
    for case in find("7.7").cases(SEED):
        arguments = [case[name] for name in ("W_q", "W_k", "W_v", "W_o", "num_heads", "num_kv_heads")]
        fed, length = layer(*arguments), case["x"].shape[1]
        pieces = torch.cat([fed.step(new) for new in case["x"].split(case["pieces"], dim=1)], dim=1)
        mask = torch.ones(length, length).tril().bool()
        torch.testing.assert_close(pieces, whole(case["x"], *arguments, mask), atol=1e-5, rtol=1e-4)


def test_cache_is_the_librarys():
    cache, own = find("7.2").right(2, 3, 6, 4), KVCache(2, 3, 6, 4)
    for new in (2, 1, 3):
        key, value = torch.randn(2, 2, 3, new, 4)
        for have, want in zip(cache.update(key, value), own.update(key, value), strict=True):
            torch.testing.assert_close(have, want)
    with pytest.raises(ValueError, match="fit"):
        cache.update(key, value)


def test_latent_scores_are_those_of_the_keys_that_it_never_makes():
    exercise = find("7.10")
    for case in exercise.cases(SEED):
        query, latent, W_up = case.values()
        key = F.linear(latent, W_up).unflatten(-1, (query.shape[1], -1)).transpose(1, 2)  # (B, H, L_k, d_head)
        expected = query @ key.mT / query.shape[-1] ** 0.5
        torch.testing.assert_close(exercise.right(query, latent, W_up), expected, atol=1e-5, rtol=1e-4)


def test_by_hand():
    assert find("7.1").right(1, 1, 6, 3, 4, 5, 4) == 480
    assert find("7.3").right(torch.tensor([1.0, 2.0]).view(1, 2, 1, 1), 2).flatten().tolist() == [1, 1, 2, 2]
    weight = torch.tensor([[1.0], [3.0], [10.0], [20.0]])
    assert find("7.5").right(weight, 4, 2).tolist() == [[2.0], [15.0]]
    cache, texts = find("7.8").right(1, 2), ([1.0, 2.0], [3.0], [4.0, 5.0, 6.0])
    new = [torch.tensor(text).view(1, 1, -1, 1) for text in texts]
    assert [cache.update(key, key)[0].flatten().tolist() for key in new] == [[1, 2], [1, 2, 3], [1, 5, 6]]


@pytest.mark.parametrize("seed", [SEED, 1, 2, 3])
def test_large_scores_are_as_large_as_their_labels_say(seed):
    """exp of them overflows in the one case; in the other some query's best key scores below -100, and none above 700."""
    for case in find("7.4").cases(seed):
        if "the scores are large" in case.labels:
            x, W_q, W_k, _, _, heads, kv_heads, mask = case.values()
            q, k = (F.linear(x, W).unflatten(-1, (n, -1)).transpose(1, 2) for W, n in ((W_q, heads), (W_k, kv_heads)))
            scores = q @ k.repeat_interleave(heads // kv_heads, dim=1).mT / q.shape[-1] ** 0.5
            overflows = len(case.labels) == 2
            assert (scores.max() > 710) == overflows
            assert overflows or scores.masked_fill(~mask, -torch.inf).amax(-1).min() < -100


def test_the_driver_counts_what_is_projected_again():
    class Again(find("7.7").right):
        def step(self, x_new):
            self.text = torch.cat([self.text, x_new], dim=1) if hasattr(self, "text") else x_new
            self.keys = None
            return super().step(self.text)[:, -x_new.shape[1] :]

    exercise = find("7.7")
    cases = cases_of(exercise, SEED)
    verdict = decider(exercise, cases)(observe_answer(Again, exercise.call, cases))
    assert not verdict.passed and cases[verdict.case].labels == ("the text comes in 16 pieces",)
