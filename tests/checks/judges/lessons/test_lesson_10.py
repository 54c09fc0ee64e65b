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
from course_utils.checks.probes.codec import pack, unpack
from course_utils.checks.probes.lessons.lesson_10 import SIZES, settle
from course_utils.checks.probes.probe import visible
from course_utils.models import Transformer, TransformerConfig


def reference(number):
    return find(number).with_parts()


def cases(number):
    return cases_of(find(number), SEED)


def passed(number, answer):
    return judge_for(find(number), cases(number))(observe_answer(number, answer, cases(number))).passed


def test_masks_by_hand():
    source_mask, target_mask = reference("10.1")(torch.tensor([[4, 0]]), torch.tensor([[1, 5, 0]]), 0)
    assert source_mask.tolist() == [[[[True, False]]]]
    assert target_mask.int().tolist() == [[[[1, 0, 0], [1, 1, 0], [1, 1, 0]]]]


def test_masks_are_the_librarys():
    for case in cases("10.1"):
        source, target, pad_id = case.values()
        source_mask, target_mask = reference("10.1")(source, target, pad_id)
        assert torch.equal(source_mask, masks.padding_mask(source, pad_id))
        expected = masks.combine_masks(masks.padding_mask(target, pad_id), masks.causal_mask(target.shape[1]))
        assert torch.equal(target_mask, expected)


def test_the_statements_example_of_tied_ends_and_a_tied_model_of_the_library():
    ends = reference("10.2")(3, 4)
    matrix = torch.tensor([[1.0, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 3]])
    with torch.no_grad():
        ends.embedding.weight.copy_(matrix)
        ends.generator.bias.copy_(torch.tensor([0, 0.5, 0]))
        assert sum(p.numel() for p in ends.parameters()) == 15
        assert ends.embed(torch.tensor([[1]])).tolist() == [[[0, 4, 0, 0]]]
        assert ends.logits(torch.ones(1, 1, 4)).tolist() == [[[1, 2.5, 3]]]
    tied = Transformer(TransformerConfig(5, 3, 1, 4, 8, 2, dropout=0.0, positions="none", tie_embeddings=True))
    with torch.no_grad():
        tied.generator.weight.copy_(matrix)
        assert torch.equal(tied.target_embedding(torch.tensor([[1]])), ends.embed(torch.tensor([[1]])))


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


def test_the_score_of_a_candidate_is_that_of_the_librarys_model():
    """Word by word what a Transformer of the library gives, one candidate at a time, without padding."""
    torch.manual_seed(0)
    sizes = {"num_layers": 1, "d_model": 8, "d_ff": 16, "num_heads": 2}
    model = Transformer(TransformerConfig(9, 9, **sizes, dropout=0.0)).eval()

    def decode(given, memory):
        return model.generator(model.decode(given, memory, memory_mask=None))

    source, candidates = torch.tensor([[4, 5, 6]]), torch.tensor([[1, 7, 2, 0, 0], [1, 4, 4, 8, 2]])
    with torch.no_grad():
        scores = reference("10.8")(model.encode, decode, source, candidates, 0)
        for score, row in zip(scores, ([1, 7, 2], [1, 4, 4, 8, 2]), strict=True):
            row = torch.tensor([row])
            expected = -F.cross_entropy(model(source, row[:, :-1])[0], row[0, 1:], reduction="sum")
            torch.testing.assert_close(score, expected)


def test_the_statements_example_of_scores():
    candidates = torch.tensor([[1, 3, 2, 0], [1, 3, 3, 2]])
    scores = reference("10.8")(
        lambda source: torch.zeros(1, 2, 3), lambda x, memory: torch.zeros(*x.shape, 4), None, candidates, 0
    )
    torch.testing.assert_close(scores, -math.log(4) * torch.tensor([2.0, 3.0]))


def test_the_statements_example_of_smoothing():
    logits = torch.tensor([[[0.0, 0.0, 0.0, math.log(5)], [9.0, 0.0, 0.0, 0.0]]])
    loss = reference("10.3")(logits, torch.tensor([[3, 0]]), 0.2, 0)
    assert math.isclose(loss.item(), 0.7919, abs_tol=5e-5)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({("sure", 0.1): None}, "0.1"),
        ({("right", 0.2): [0.8] * 4}, "5 runs"),
        ({("sure", 0.4): [0.97, 0.96, 0.98, 0.97, 0.96]}, "cannot come out"),
        ({("right", 0.2): [0.1, 0.11, 0.12, 0.1, 0.11]}, "cannot come out"),
        ({"closest": 0.4}, "another brings them closer"),
        ({"closest": 0.3}, "one of"),
        ({"fall": -0.4}, "fall"),
        ({"gain": 0.2}, "paired"),
        ({"what changes more": "how often it is right"}, "changes more"),
        ({"what changes more": "both"}, "one of"),
    ],
)
def test_the_experiment_is_judged_by_its_own_numbers(change, said):
    entry = find("10.9")
    results = {key: value for key, value in (entry.example() | change).items() if value is not None}
    verdict = judge_for(entry, [])(unpack(*pack(observe_answer("10.9", results, []))))
    assert not verdict.passed and said in verdict.text()


def test_the_experiments_example_is_right():
    entry = find("10.9")
    assert judge_for(entry, [])(unpack(*pack(observe_answer("10.9", entry.example(), [])))).passed
