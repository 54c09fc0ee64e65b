"""The worked solutions of lesson 05 against truth from outside: PyTorch, the library (held to it in test_masks), by hand."""

import pytest
import torch
import torch.nn.functional as F

from course_checks.deciding.decide import cases_of
from course_checks.deciding.find import find
from course_checks.engine import SEED, run
from course_utils import attention, masks


def answers(number):
    """What the solution gives in each case, beside the case."""
    entry = find(number)
    return [(case, entry.call.on(entry.right, case)) for case in cases_of(entry, SEED)]


def test_masks_are_the_librarys():
    for case, mask in answers("5.1"):
        assert torch.equal(mask, masks.padding_mask(**case))
    for case, mask in answers("5.2"):
        assert torch.equal(mask, masks.causal_mask(**case)[0, 0])
    for case, mask in answers("5.6"):
        assert torch.equal(mask, masks.sliding_window_mask(**case)[0, 0])


def test_a_packed_document_comes_out_as_it_does_alone():
    attend = attention.scaled_dot_product_attention
    for case, (mask, positions) in answers("5.3"):
        x = torch.randn(*case["document"].shape, 4)
        together, _ = attend(x, x, x, mask[:, 0])
        for b, row in enumerate(case["document"]):
            for number in set(row.tolist()) - {0}:
                own = x[b : b + 1, row == number]
                alone, _ = attend(own, own, own, masks.causal_mask(own.shape[1])[0])
                torch.testing.assert_close(together[b : b + 1, row == number], alone)
                assert positions[b, row == number].tolist() == list(range(own.shape[1]))
        assert not mask.mT[(case["document"] == 0)[:, None]].any() and not positions[case["document"] == 0].any()


def test_prefixes_by_the_rule_itself():
    for case, mask in answers("5.4"):
        for b, given in enumerate(case["prefix"].tolist()):
            rule = [[j <= i or j < given for j in range(case["L"])] for i in range(case["L"])]
            assert mask[b, 0].tolist() == rule


def test_attention_is_pytorchs():
    for case, (output, weights) in answers("5.8"):
        query, key, value, mask = (case[name] for name in case)
        mask = mask[:, None, None]
        torch.testing.assert_close(output, F.scaled_dot_product_attention(query, key, value, attn_mask=mask))
        assert not weights.masked_select(~mask.expand_as(weights)).any()
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))


def test_masked_softmax_is_the_librarys_and_zero_in_empty_rows():
    for case, weights in answers("5.5"):
        scores, mask = case["scores"], case["mask"]
        broken = (scores.isnan() & mask).any(-1)
        torch.testing.assert_close(weights[~broken], attention.masked_softmax(scores, mask)[~broken])
        assert weights[mask & broken[..., None]].isnan().all() and not weights[~mask.expand_as(weights)].any()


AHEAD = {
    *(
        "no mask",
        "one step ahead",
        "only the first query sees the future",
        "one query sees the next key",
        "faint",
        "fainter",
    ),
    *("future zeroed after the softmax", "sees ahead in the second item only", "three steps ahead only"),
    *("one entry of each token moves back", "opposite changes in two entries", "normalized first", "normalized last"),
    "tokens turned, their lengths kept",
}


@pytest.mark.parametrize("seed", [SEED, 1, 2])
def test_who_sees_whom_is_what_a_change_of_one_input_moves(seed):
    entry = find("5.7")
    for case in cases_of(entry, seed):
        given = entry.call.shown(case)
        table = entry.right(**given)
        assert bool(table.triu(1).any()) == (case["attend"] in AHEAD)
        before = given["attend"](given["x"])
        for j in range(len(table)):
            other = given["x"].clone()
            other[:, j] = torch.randn_like(other[:, j])
            moved = (given["attend"](other) - before).abs().amax((0, 2))
            assert torch.equal(moved > 1e-6, table[:, j])


SHARES = {(17, 1): 0.18, (9, 2): 0.18, (5, 4): 0.07, (3, 8): 0.025, (2, 16): 0.003}
REACH = {stack: [share * (1 + place / 100) for place in range(5)] for stack, share in SHARES.items()}
GOOD = REACH | {"farthest": 16, "least": (2, 16), "ratio": 0.18 / 0.003}


@pytest.mark.parametrize(
    ("changes", "claim"),
    [
        ({(5, 4): [0.07] * 4}, "all runs"),
        ({key: [share / 20 for share in row] for key, row in REACH.items()}, "sizes"),
        ({key: [1e-9 * key[0], -1e-9, 2e-9, 0.0, 1e-9] for key in REACH}, "sizes"),
        ({(2, 16): [0.11, 0.12, 0.11, 0.1, 0.11]}, "possible"),
        ({(2, 16): [0.0006, 0.0005, 0.0006, 0.0007, 0.0006]}, "possible"),  # 6 or more back
        ({(3, 8): [0.063, 0.061, 0.064, 0.066, 0.062]}, "possible"),  # 4 or more back
        ({"farthest": 15}, "farthest"),
        ({"least": (17, 1)}, "least"),
        ({"ratio": 1.0}, "ratio"),
    ],
)
def test_what_the_experiment_holds_students_to(changes, claim):
    entry = find("5.9")
    verdict = run(entry, GOOD | changes)
    assert not verdict.passed and verdict.mistake == claim
    assert run(entry, GOOD | {"least": [2, 16]}).passed
    as_tensors = {key: [torch.tensor(share) for share in row] for key, row in REACH.items()}
    assert run(entry, GOOD | as_tensors).passed
