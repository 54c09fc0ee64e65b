"""The references of lesson 05's checks against truth from outside: PyTorch, the library (held to it in test_masks), by hand."""

import pytest
import torch
import torch.nn.functional as F

from course_utils import attention, masks
from course_utils.checks.engine import SEED
from course_utils.checks.judges.find import find
from course_utils.checks.judges.judge import cases_of
from course_utils.checks.probes import probe_of


def answers(number):
    """What the reference gives in each case, beside the case."""
    entry = find(number)
    return [(case, probe_of(number).call(entry.with_parts(), dict(case))) for case in cases_of(entry, SEED)]


def test_masks_are_the_librarys():
    for case, mask in answers("5.1"):
        assert torch.equal(mask, masks.padding_mask(**case))
    for case, mask in answers("5.2"):
        assert torch.equal(mask, masks.causal_mask(**case)[0, 0])
    for case, mask in answers("5.4"):
        expected = masks.combine_masks(*case["masks"])
        assert mask is expected is None or torch.equal(mask, expected)
    for case, mask in answers("5.6"):
        assert torch.equal(mask, masks.sliding_window_mask(**case)[0, 0])


@pytest.mark.parametrize("number", ["5.3", "5.8"])
def test_attention_is_pytorchs(number):
    for case, (output, weights) in answers(number):
        query, key, value, mask = (case[name] for name in case if not name.startswith("_"))
        mask = mask[:, None, None] if number == "5.8" else mask
        torch.testing.assert_close(output, F.scaled_dot_product_attention(query, key, value, attn_mask=mask))
        assert not weights.masked_select(~mask.expand_as(weights)).any()
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))


def test_masked_softmax_is_the_librarys_and_zero_in_empty_rows():
    for case, weights in answers("5.5"):
        torch.testing.assert_close(weights, attention.masked_softmax(**case))
        assert not weights[~case["mask"].expand_as(weights).any(-1)].any()


LEAKY = {
    *("no mask", "one step ahead", "only the first query sees the future", "only the last key leaks"),
    *("future zeroed after the softmax", "leaks in the second item only", "one query sees the next key"),
    *("three steps ahead only", "faint", "one entry of each token moves back", "opposite changes in two entries"),
    *("tokens turned, their lengths kept", "normalized first", "faint, in three entries alone"),
}


def test_the_detector_finds_what_was_built_to_leak_and_nothing_else():
    assert {case["attend"]: found for case, found in answers("5.7")} == {
        case["attend"]: case["attend"] in LEAKY for case, _ in answers("5.7")
    }
