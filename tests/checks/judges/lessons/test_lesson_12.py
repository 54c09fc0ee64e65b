"""The references of 12.4 to 12.6 against truth from outside: worked by hand, the library, or PyTorch."""

import math

import torch
import torch.nn.functional as F

from course_utils import decoding, masks, positions
from course_utils.checks.engine import SEED
from course_utils.checks.judges.find import find


def test_the_distribution_is_the_librarys_and_the_statements_example():
    entry = find("12.4")
    for case in entry.cases(SEED):
        logits, temperature, top_k, top_p = case.values()
        expected = decoding.sampling_distribution(logits, temperature=temperature, top_k=top_k, top_p=top_p)
        torch.testing.assert_close(entry.reference(*case.values()), expected)
    example = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log()
    torch.testing.assert_close(entry.reference(example, 1.0, None, 0.6), torch.tensor([[0.625, 0.375, 0.0, 0.0]]))


def test_perplexity_is_that_of_all_tokens_joined():
    entry = find("12.5")
    assert math.isclose(entry.reference(**entry.cases(SEED)[0]), math.sqrt(8), rel_tol=1e-6)
    for case in entry.cases(SEED):
        batches, pad_id = case.values()
        logits = torch.cat([z.flatten(0, 1) for z, _ in batches]).double()
        labels = torch.cat([y.flatten() for _, y in batches])
        expected = F.cross_entropy(logits, labels, ignore_index=pad_id).exp().item()
        assert math.isclose(entry.reference(**case), expected, rel_tol=1e-6)


def test_pieces_give_what_the_whole_sequence_gives():
    entry = find("12.6")
    for case in entry.cases(SEED):
        outputs, keys, values = entry.probe.call(entry.reference, case)
        cos, sin, L = case["cos"], case["sin"], case["query"].shape[2]
        query, key = (positions.apply_rope(case[name], cos[:L], sin[:L]) for name in ("query", "key"))
        expected = F.scaled_dot_product_attention(query, key, case["value"], attn_mask=masks.causal_mask(L, L))
        torch.testing.assert_close(torch.cat(outputs, dim=2), expected)
        torch.testing.assert_close(keys, key)
        assert torch.equal(values, case["value"])
