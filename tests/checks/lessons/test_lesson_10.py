"""The worked solutions of lesson 10 against PyTorch, the library and the statements' examples, and what its checks notice."""

import math

import pytest
import torch
import torch.nn.functional as F

from course_checks.deciding.decide import cases_of
from course_checks.deciding.find import find
from course_checks.engine import SEED, run
from course_checks.running.drivers.lesson_10 import SIZES, settle
from course_utils import masks
from course_utils.models import Transformer, TransformerConfig


def right(number):
    return find(number).right


def test_masks_are_the_librarys():
    for case in find("10.1").cases(SEED):
        source, target, pad_id = case.values()
        source_mask, target_mask = right("10.1")(source, target, pad_id)
        assert torch.equal(source_mask, masks.padding_mask(source, pad_id))
        expected = masks.combine_masks(masks.padding_mask(target, pad_id), masks.causal_mask(target.shape[1]))
        assert torch.equal(target_mask, expected)


def test_tied_ends_are_the_statements_example_and_a_tied_model_of_the_library():
    ends = right("10.2")(3, 4)
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
    for case in find("10.3").cases(SEED):
        logits, labels, smoothing, pad_id = case.values()
        V, kept = logits.shape[-1], labels != pad_id
        shares = torch.full((V,), smoothing / (V - 2), dtype=logits.dtype)
        shares[pad_id] = 0.0
        rows = torch.stack([shares.index_fill(0, label, 1.0 - smoothing) for label in labels[kept]])
        torch.testing.assert_close(right("10.3")(*case.values()), F.cross_entropy(logits[kept], rows))


def test_smoothed_loss_is_the_statements_example():
    logits = torch.tensor([[[0.0, 0.0, 0.0, math.log(5)], [9.0, 0.0, 0.0, 0.0]]])
    assert math.isclose(right("10.3")(logits, torch.tensor([[3, 0]]), 0.2, 0).item(), 0.7919, abs_tol=5e-5)


def test_rates_are_the_statements_examples():
    for done, expected in ((0, 1 / 16), (3, 1 / 4), (15, 1 / 8)):
        assert math.isclose(right("10.4")(done, 4, 4), expected)


def test_the_smallest_rates_are_told_apart_from_zero():
    """The first rate of the base model is 1.7e-7, below the tolerance of other exercises."""
    assert not run(find("10.4"), lambda d, m, w: right("10.4")(d, m, w) if d or m != 512 else 0.0).passed


@pytest.mark.parametrize("index", range(3))
def test_the_assembled_model_is_the_librarys(index):
    case = find("10.5").cases(SEED)[index]
    sizes = {name: case[name] for name in SIZES}
    ours = right("10.5")(**sizes)
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

    tokens = right("10.6")(counts_up, torch.tensor([[5], [6]]), 6, 1, 0, 8)
    assert tokens.tolist() == [[5, 6, 7, 0], [6, 7, 0, 8]]
    assert right("10.6")(counts_up, torch.tensor([[5], [6]]), 2, 1, 0, 8).tolist() == [[5, 6], [6, 7]]


@pytest.mark.parametrize("grows", [True, False])
def test_an_endless_greedy_is_stopped_with_a_sentence(grows):
    def endless(model, source, max_len, start_id, end_id, pad_id):
        tokens = torch.full((len(source), 1), start_id)
        while True:
            token = model(source, tokens)[:, -1:].argmax(-1)
            tokens = torch.cat((tokens, token), dim=1) if grows else tokens

    assert "after max_len steps" in run(find("10.6"), endless).looks_like


def echo(source, decoder_input, source_mask, target_mask):
    latest = (target_mask[:, 0] * torch.arange(decoder_input.shape[1])).amax(-1)
    return 20.0 * F.one_hot(decoder_input.gather(1, latest), 9).float()


def test_batch_loss_sees_no_label_and_the_broken_one_does():
    """The loss of an echo of the latest symbol in sight: 0 if that is the label, high if it is not."""
    target = torch.tensor([[1, 5, 3, 7, 7], [1, 4, 6, 8, 8]])  # the last label repeats the last input
    source, entry = torch.tensor([[3, 4, 5], [5, 6, 7]]), find("10.7")
    broken = entry.solution.answer(entry.solution.text.replace(".tril()", ".tril(diagonal=1)"))
    assert broken(echo, source, target, 0) < 0.01
    assert right("10.7")(echo, source, target, 0) > 10


def test_a_mask_of_whole_numbers_is_noticed():
    entry = find("10.7")
    assert "not boolean" in run(find("10.7"), whole_numbers(entry.right)).looks_like


def whole_numbers(batch_loss):
    def answer(model, source, target, pad_id):
        def called(source, decoder_input, source_mask, target_mask):
            return model(source, decoder_input, source_mask.int(), target_mask.int())

        return batch_loss(called, source, target, pad_id)

    return answer


def test_the_score_of_a_candidate_is_that_of_the_librarys_model():
    """Word by word what a Transformer of the library gives, one candidate at a time, without padding."""
    torch.manual_seed(0)
    sizes = {"num_layers": 1, "d_model": 8, "d_ff": 16, "num_heads": 2}
    model = Transformer(TransformerConfig(9, 9, **sizes, dropout=0.0)).eval()

    def decode(ids, memory):
        return model.generator(model.decode(ids, memory, memory_mask=None))

    source, candidates = torch.tensor([[4, 5, 6]]), torch.tensor([[1, 7, 2, 0, 0], [1, 4, 4, 8, 2]])
    with torch.no_grad():
        scores = right("10.8")(model.encode, decode, source, candidates, 0)
        for score, row in zip(scores, ([1, 7, 2], [1, 4, 4, 8, 2]), strict=True):
            row = torch.tensor([row])
            expected = -F.cross_entropy(model(source, row[:, :-1])[0], row[0, 1:], reduction="sum")
            torch.testing.assert_close(score, expected)


def test_scores_are_the_statements_example():
    candidates = torch.tensor([[1, 3, 2, 0], [1, 3, 3, 2]])
    scores = right("10.8")(
        lambda source: torch.zeros(1, 2, 3), lambda x, memory: torch.zeros(*x.shape, 4), None, candidates, 0
    )
    torch.testing.assert_close(scores, -math.log(4) * torch.tensor([2.0, 3.0]))


@pytest.mark.parametrize("keep", [lambda p: p + 1e-12, lambda p: p + 1e-9, lambda p: p.clamp(1e-8)])
def test_a_probability_that_is_kept_from_becoming_tiny_is_noticed(keep):
    def candidate_scores(encode, decode, source, candidates, pad_id):
        inputs, labels = candidates[:, :-1], candidates[:, 1:]
        memory = encode(source).expand(len(candidates), -1, -1)
        probabilities = decode(inputs, memory).softmax(-1).gather(-1, labels[..., None])[..., 0]
        return (keep(probabilities).log() * (labels != pad_id)).sum(1)

    assert "too high where logits lie far apart" in run(find("10.8"), candidate_scores).looks_like


@pytest.mark.parametrize("number", ["10.6", "10.7", "10.8"])
def test_failing_case_can_be_called(number):
    entry = find(number)
    right(number)(*entry.call.shown(cases_of(entry, SEED)[0]).values())


TRIED = (0, 0.05, 0.1, 0.2, 0.4)
RESULTS = {("right", s): [0.86 + 0.005 * k for k in range(5)] for s in TRIED}
RESULTS |= {("sure", s): [0.93 - s + 0.004 * k for k in range(5)] for s in TRIED}
RESULTS |= {"closest": 0.05, "fall": 0.4, "gain": 0.0, "what changes more": "how sure it is"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({("sure", 0.1): None}, "0.1"),
        ({("right", 0.2): [0.8] * 4}, "5 runs"),
        ({("sure", 0.4): [0.97, 0.96, 0.98, 0.97, 0.96]}, "cannot come out"),
        ({("right", 0.2): [0.1, 0.11, 0.12, 0.1, 0.11]}, "cannot come out"),
        ({("sure", 0.2): RESULTS["sure", 0.4]}, "0.2 and 0.4"),
        ({"closest": 0.4}, "another brings them closer"),
        ({"closest": 0.3}, "one of"),
        ({"fall": -0.4}, "fall"),
        ({"gain": 0.2}, "paired"),
        ({"what changes more": "how often it is right"}, "changes more"),
        ({"what changes more": "both"}, "one of"),
    ],
)
def test_the_experiment_is_held_to_its_own_numbers(change, words):
    results = {key: value for key, value in (RESULTS | change).items() if value is not None}
    verdict = run(find("10.9"), results)
    assert not verdict.passed and words in verdict.text()


def test_measured_numbers_pass():
    assert run(find("10.9"), RESULTS).passed
