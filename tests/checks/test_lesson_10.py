"""The references of lesson 10's checks against truth from outside: PyTorch, numbers worked by hand, the library."""

import math

import pytest
import torch
import torch.nn.functional as F

from course_utils import masks
from course_utils.checks import lesson_10 as lesson
from course_utils.checks.engine import SEED, run
from course_utils.models import Transformer, TransformerConfig


def cases(entry):
    return entry.inputs(SEED)


def test_masks_and_shift_by_hand():
    source_mask, target_mask = lesson.MASKS.reference(torch.tensor([[4, 0]]), torch.tensor([[1, 5, 0]]), 0)
    assert source_mask.tolist() == [[[[True, False]]]]
    assert target_mask.int().tolist() == [[[[1, 0, 0], [1, 1, 0], [1, 1, 0]]]]
    given, labels, count = lesson.SHIFT.reference(torch.tensor([[1, 5, 2, 0]]), 0)
    assert (given.tolist(), labels.tolist(), int(count)) == ([[1, 5, 2]], [[5, 2, 0]], 2)


def test_masks_are_the_librarys():
    for case in cases(lesson.MASKS):
        source, target, pad_id = case.values()
        source_mask, target_mask = lesson.MASKS.reference(source, target, pad_id)
        assert torch.equal(source_mask, masks.padding_mask(source, pad_id))
        expected = masks.combine_masks(masks.padding_mask(target, pad_id), masks.causal_mask(target.shape[1]))
        assert torch.equal(target_mask, expected)


def test_smoothed_loss_is_pytorchs_with_soft_targets():
    for case in cases(lesson.SMOOTHING):
        logits, labels, smoothing, pad_id = case.values()
        shares, kept = [], []
        for row, line in zip(labels.tolist(), logits, strict=True):
            for label, z in zip(row, line, strict=True):
                if label != pad_id:
                    others = [0.0 if v == pad_id else smoothing / (len(z) - 2) for v in range(len(z))]
                    others[label] = 1.0 - smoothing
                    shares.append(others)
                    kept.append(z)
        expected = F.cross_entropy(torch.stack(kept), torch.tensor(shares))
        torch.testing.assert_close(lesson.SMOOTHING.reference(*case.values()), expected)
        if smoothing == 0.0:
            plain = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)
            torch.testing.assert_close(lesson.SMOOTHING.reference(*case.values()), plain)


def test_rates_by_hand():
    for done, expected in ((0, 1 / 16), (3, 1 / 4), (15, 1 / 8)):
        assert math.isclose(lesson.RATE.reference(done, 4, 4), expected)


def test_the_smallest_rates_are_told_apart_from_zero():
    """The first rate of the base model is 1.7e-7, below the tolerance of other exercises."""
    verdict = run(lesson.RATE, lambda d, m, w: lesson.RATE.reference(d, m, w) if d or m == 4 else 0.0)
    assert not verdict.passed


@pytest.mark.parametrize("case", cases(lesson.MODEL))
def test_the_assembled_model_is_the_librarys(case):
    *sizes, source, target, pad_id, seed = case.values()
    ours = lesson.MODEL.reference(*sizes)
    config = TransformerConfig(**dict(zip(lesson._SIZES, sizes, strict=True)), dropout=0.0, pad_id=pad_id)
    theirs = Transformer(config)
    for model in (ours, theirs):
        lesson._settle(model, seed)
    torch.testing.assert_close(ours(source, target, pad_id), theirs(source, target))
    counts = lesson.MODEL.call(lesson.MODEL.reference, case)[0]
    assert sum(counts.values()) == sum(p.numel() for p in theirs.parameters())


def test_greedy_by_hand():
    """A model that says the symbol after the last: 5 6 7 end, and from 6 on 7 end."""

    def counts_up(source, target):
        following = torch.where(target == 1, source[:, :1], target + 1) % 8
        return F.one_hot(following, 9).float()

    said = lesson.GREEDY.reference(counts_up, torch.tensor([[5], [6]]), 6, 1, 0, 8)
    assert said.tolist() == [[5, 6, 7, 0], [6, 7, 0, 8]]
    assert lesson.GREEDY.reference(counts_up, torch.tensor([[5], [6]]), 2, 1, 0, 8).tolist() == [[5, 6], [6, 7]]


def test_greedy_cases_end_at_different_steps():
    for seed in (SEED, 1, 2):
        for case, longest in zip(lesson.GREEDY.inputs(seed), (3, None, 5), strict=True):
            said = lesson.GREEDY.call(lesson.GREEDY.reference, case)
            assert longest is None or said.shape[1] == longest
            if len(said) > 1:
                assert (said == case["pad_id"]).any() and (said[:, -1] != case["pad_id"]).any()


def test_batch_loss_sees_no_label_and_the_broken_one_does():
    """The loss of an echo of the latest symbol in sight: 0 if that is the label, high if it is not."""

    def echo(source, decoder_input, source_mask, target_mask):
        latest = (target_mask[:, 0] * torch.arange(decoder_input.shape[1])).amax(-1)
        return 20.0 * F.one_hot(decoder_input.gather(1, latest), 9).float()

    target = torch.tensor([[1, 5, 3, 7, 7], [1, 4, 6, 8, 8]])  # the last label repeats the last input
    source = torch.tensor([[3, 4, 5], [5, 6, 7]])
    broken = next(m.implementation for m in lesson.BUG.mistakes if m.name == "as it was")
    assert broken(echo, source, target, 0) < 0.01
    assert lesson.BUG.reference(echo, source, target, 0) > 10


def test_a_student_may_make_the_parts_in_any_order():
    reversed_parts = next(a.implementation for a in lesson.MODEL.alternatives if a.name == "parts in another order")
    assert [n for n, _ in reversed_parts(5, 6, 1, 4, 8, 2, 10).named_children()][0] == "generator"
    assert run(lesson.MODEL, reversed_parts).passed
