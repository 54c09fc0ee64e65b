"""The references of lesson 10's checks against truth from outside: PyTorch, numbers worked by hand, the library."""

import math

import pytest
import torch
import torch.nn.functional as F

from course_utils import masks
from course_utils.checks.engine import SEED
from course_utils.checks.judges.find import find
from course_utils.checks.judges.judge import cases_of, judge_for
from course_utils.checks.probes import observe_answer
from course_utils.checks.probes.lessons.lesson_10 import SIZES, settle
from course_utils.checks.probes.probe import visible
from course_utils.models import Transformer, TransformerConfig


def reference(number):
    return find(number).with_parts()


def cases(number):
    return cases_of(find(number), SEED)


def passed(number, answer):
    return judge_for(find(number), cases(number))(observe_answer(number, answer, cases(number))).passed


def test_masks_and_shift_by_hand():
    source_mask, target_mask = reference("10.1")(torch.tensor([[4, 0]]), torch.tensor([[1, 5, 0]]), 0)
    assert source_mask.tolist() == [[[[True, False]]]]
    assert target_mask.int().tolist() == [[[[1, 0, 0], [1, 1, 0], [1, 1, 0]]]]
    given, labels, count = reference("10.2")(torch.tensor([[1, 5, 2, 0]]), 0)
    assert (given.tolist(), labels.tolist(), int(count)) == ([[1, 5, 2]], [[5, 2, 0]], 2)


def test_masks_are_the_librarys():
    for case in cases("10.1"):
        source, target, pad_id = case.values()
        source_mask, target_mask = reference("10.1")(source, target, pad_id)
        assert torch.equal(source_mask, masks.padding_mask(source, pad_id))
        expected = masks.combine_masks(masks.padding_mask(target, pad_id), masks.causal_mask(target.shape[1]))
        assert torch.equal(target_mask, expected)


def test_smoothed_loss_is_pytorchs_with_soft_targets():
    for case in cases("10.3"):
        logits, labels, smoothing, pad_id = visible(case).values()
        shares, kept = [], []
        for label, z in zip(labels.flatten().tolist(), logits.flatten(0, 1), strict=True):
            if label != pad_id:
                others = [0.0 if v == pad_id else smoothing / (len(z) - 2) for v in range(len(z))]
                others[label] = 1.0 - smoothing
                shares.append(others)
                kept.append(z)
        loss = reference("10.3")(*visible(case).values())
        torch.testing.assert_close(loss, F.cross_entropy(torch.stack(kept), torch.tensor(shares, dtype=logits.dtype)))
        if smoothing == 0.0:
            torch.testing.assert_close(
                loss, F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)
            )


def test_rates_by_hand():
    for done, expected in ((0, 1 / 16), (3, 1 / 4), (15, 1 / 8)):
        assert math.isclose(reference("10.4")(done, 4, 4), expected)


def test_the_smallest_rates_are_told_apart_from_zero():
    """The first rate of the base model is 1.7e-7, below the tolerance of other exercises."""
    assert not passed("10.4", lambda d, m, w: reference("10.4")(d, m, w) if d or m != 512 else 0.0)


@pytest.mark.parametrize("index", range(3))
def test_the_assembled_model_is_the_librarys(index):
    case = cases("10.5")[index]
    sizes = {name: case[name] for name in SIZES}
    ours = reference("10.5")(**sizes)
    theirs = Transformer(TransformerConfig(**sizes, dropout=0.0, pad_id=case["pad_id"]))
    for model in (ours, theirs):
        settle(model, SEED)
    source, target, pad_id = case["source"], case["target"], case["pad_id"]
    torch.testing.assert_close(ours(source, target, pad_id), theirs(source, target))
    assert sum(p.numel() for p in ours.parameters()) == sum(p.numel() for p in theirs.parameters())


def test_greedy_by_hand():
    """A model that says the symbol after the last: 5 6 7 end, and from 6 on 7 end."""

    def counts_up(source, target):
        following = torch.where(target == 1, source[:, :1], target + 1) % 8
        return F.one_hot(following, 9).float()

    said = reference("10.6")(counts_up, torch.tensor([[5], [6]]), 6, 1, 0, 8)
    assert said.tolist() == [[5, 6, 7, 0], [6, 7, 0, 8]]
    assert reference("10.6")(counts_up, torch.tensor([[5], [6]]), 2, 1, 0, 8).tolist() == [[5, 6], [6, 7]]


def test_an_endless_greedy_is_stopped_with_a_sentence():
    def endless(model, source, max_len, start_id, end_id, pad_id):
        said = torch.full((len(source), 1), start_id)
        while True:
            said = torch.cat((said, model(source, said)[:, -1:].argmax(-1)), dim=1)

    verdict = judge_for(find("10.6"), cases("10.6"))(observe_answer("10.6", endless, cases("10.6")))
    assert verdict.mistake == "endless"


def test_batch_loss_sees_no_label_and_the_broken_one_does():
    """The loss of an echo of the latest symbol in sight: 0 if that is the label, high if it is not."""

    def echo(source, decoder_input, source_mask, target_mask):
        latest = (target_mask[:, 0] * torch.arange(decoder_input.shape[1])).amax(-1)
        return 20.0 * F.one_hot(decoder_input.gather(1, latest), 9).float()

    target = torch.tensor([[1, 5, 3, 7, 7], [1, 4, 6, 8, 8]])  # the last label repeats the last input
    source = torch.tensor([[3, 4, 5], [5, 6, 7]])
    entry = find("10.7")
    broken = entry.with_faults(next(fault for fault in entry.faults if fault.name == "as it was"))
    assert broken(echo, source, target, 0) < 0.01
    assert reference("10.7")(echo, source, target, 0) > 10
