"""The references of 12.4 to 12.8 against truth from outside: worked by hand, the library, or PyTorch."""

import math

import torch
import torch.nn.functional as F

from course_utils import decoding, masks, positions
from course_utils.checks.engine import SEED
from course_utils.checks.judges.find import find
from course_utils.datasets.text_windows import seen_before
from course_utils.metrics import text_scores
from course_utils.models import DecoderConfig, DecoderLM


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


class Counting(torch.nn.Module):
    """Takes 1 bit for the first character of a window, 2 for the second and so on, whatever they are."""

    def forward(self, tokens):
        bits = torch.arange(1.0, tokens.shape[1] + 1)
        right = -bits * math.log(2)  # log-probability of symbol 0; the rest goes to symbol 1
        return torch.stack([right, (1 - right.exp()).log()], dim=-1).expand(*tokens.shape, 2)


def test_windows_are_the_statements_example_and_the_librarys_where_nothing_is_left_over():
    entry = find("12.7")
    assert math.isclose(entry.reference(Counting(), torch.zeros(8, dtype=torch.long), 4, 2), 20 / 7, rel_tol=1e-5)
    torch.manual_seed(0)
    model = DecoderLM(DecoderConfig(9, num_layers=1, d_model=8, d_ff=8, num_heads=2)).requires_grad_(False)
    ids = torch.randint(9, (1 + 12 + 5 * 4,))
    expected = text_scores(model, ids, length=12, stride=4)["bits"]
    assert math.isclose(entry.reference(model, ids, 12, 4), expected, rel_tol=1e-5)


def test_seen_characters_are_the_librarys_and_the_statements_example():
    entry = find("12.8")
    assert entry.reference("abcdef", "xbcdxcdefx", 3).tolist() == [0, 1, 1, 1, 0, 1, 1, 1, 1, 0]
    for case in entry.cases(SEED):
        assert torch.equal(entry.reference(**case), seen_before(*case.values()))
