"""The worked solutions of lesson 03 against PyTorch, the library, and numbers worked by hand."""

import math

import pytest
import torch
import torch.nn.functional as F

from course_checks.deciding.decide import cases_of, decider
from course_checks.deciding.find import find
from course_checks.engine import SEED
from course_checks.running import observe_answer
from course_utils import metrics
from course_utils.attention import AdditiveAttention

SEEDS = (SEED, 1, 2)


def right(number):
    return find(number).right


@pytest.mark.parametrize("seed", SEEDS)
def test_attention_step_is_the_librarys(seed):
    for case in cases_of(find("3.1"), seed):
        state, encoded, W_q, W_k, w_v, mask = case.values()
        layer = AdditiveAttention(W_q.shape[1], W_k.shape[1], len(w_v)).to(state.dtype)
        layer.load_state_dict({"q_proj.weight": W_q, "k_proj.weight": W_k, "v_proj.weight": w_v[None]})
        context, weights = layer(state[:, None], encoded, encoded, mask[:, None])
        torch.testing.assert_close(right("3.1")(**case), (context[:, 0], weights[:, 0]))


def test_the_example_of_3_1_has_its_padding_on_the_left():
    encoded, mask = torch.tensor([[[9.0, 9.0], [0.0, 4.0], [1.0, 0.0]]]), torch.tensor([[False, True, True]])
    one, W_k = torch.ones(1, 1), torch.tensor([[1.0, 0.0]])
    context, weights = right("3.1")(one, encoded, one, W_k, torch.tensor([2.0]), mask)
    torch.testing.assert_close(weights, torch.tensor([[0.0, 0.4001, 0.5999]]), atol=1e-4, rtol=0)
    torch.testing.assert_close(context, torch.tensor([[0.5999, 1.6006]]), atol=1e-4, rtol=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_scores_are_as_low_and_as_high_as_the_statements_say(seed):
    for number, label, low in (
        ("3.1", "the scores are low, those of padding are high", -800),
        ("3.2", "the scores are low", -800),
    ):
        (case,) = (case for case in cases_of(find(number), seed) if label in case.labels)
        keys = torch.tanh((case["state"] @ case["W_q"].T)[:, None] + case["encoded"] @ case["W_k"].T)
        scores = keys @ case["w_v"]
        assert (scores[case["mask"]] - low).abs().max() < 30
        if number == "3.1":
            assert (scores[~case["mask"]] - 800).abs().max() < 30


@pytest.mark.parametrize("seed", SEEDS)
def test_location_is_a_convolution_and_without_it_3_2_is_3_1(seed):
    for case in cases_of(find("3.2"), seed):
        state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask = case.values()
        f = F.conv1d(previous[:, None], filters[:, None], padding=filters.shape[1] // 2).transpose(1, 2)
        scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
        torch.testing.assert_close(right("3.2")(**case), scores.masked_fill(~mask, -math.inf).softmax(-1))
        _, plain = right("3.1")(state, encoded, W_q, W_k, w_v, mask)
        torch.testing.assert_close(right("3.2")(**{**case, "W_f": 0 * W_f}), plain)


def test_the_example_of_3_2():
    one, previous, filters = torch.ones(1, 1), torch.tensor([[0.0, 1.0, 0.0, 0.0]]), torch.tensor([[1.0, 0.0, 0.0]])
    real = torch.ones(1, 4, dtype=torch.bool)
    weights = right("3.2")(
        one, torch.ones(1, 4, 1), previous, filters, 0 * one, 0 * one, one, torch.tensor([3.0]), real
    )
    torch.testing.assert_close(weights, torch.tensor([[0.078, 0.078, 0.766, 0.078]]), atol=1e-3, rtol=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_forced_loss_is_pytorchs_cross_entropy(seed):
    for case in cases_of(find("3.3"), seed):
        target, pad_id, V = case["target"], case["pad_id"], case.driver["output"].shape[1]
        logits = torch.randn(*target[:, 1:].shape, V, generator=torch.Generator().manual_seed(seed))
        expected = F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=pad_id)
        loss = right("3.3")(lambda source, prefix, logits=logits: logits, case["source"], target, pad_id)
        torch.testing.assert_close(loss, expected)


def test_the_example_of_3_3():
    target, probabilities = torch.tensor([[1, 3, 2, 0], [1, 4, 3, 2]]), torch.tensor([1, 1, 4, 1, 1]) / 8
    loss = right("3.3")(lambda source, prefix: probabilities.log().expand(2, 3, 5), None, target, 0)
    assert math.isclose(loss.item(), (3 * math.log(8) + 2 * math.log(2)) / 5, rel_tol=1e-5)


def test_greedy_decoding_of_the_statements_example():
    script = torch.tensor([[7, 8], [1, 9], [4, 1], [5, 5]])  # said at each step by rows 0 and 1; 1 is the end

    def step(tokens, made):
        return F.one_hot(script[made[0]], 10).float(), made + 1

    assert right("3.4")(step, torch.zeros(2, dtype=torch.long), 2, 1, 0, 4).tolist() == [[7, 1, 0], [8, 9, 1]]


def test_a_decoding_that_never_ends_is_stopped():
    exercise = find("3.4")
    cases = cases_of(exercise, SEED)

    def forever(step, state, start_id, *_):
        while True:
            _, state = step(torch.full((len(state),), start_id), state)

    verdict = decider(exercise, cases)(observe_answer(forever, exercise.call, cases))
    assert verdict.mistake == "goes on"


@pytest.mark.parametrize("seed", SEEDS)
def test_error_rate_is_the_librarys_and_no_two_pronunciations_are_as_near(seed):
    for case in cases_of(find("3.5"), seed):
        assert right("3.5")(**case) == metrics.phoneme_error_rate(**case)
        for hypothesis, accepted in zip(*case.values(), strict=True):
            edits = sorted(metrics.edit_distance(hypothesis, reference) for reference in accepted)
            assert edits[:1] != edits[1:2]


def test_sound_t_looks_at_letter_t():
    def look_at_letter(state):  # the toy of 3.6: the state counts the steps
        weights = F.one_hot(state[:, 0].long(), 4).float()
        return weights @ torch.tensor([[10.0], [20.0], [30.0], [40.0]]), weights

    features, weights = right("3.6")(torch.zeros(1, 3, 2), torch.zeros(1, 1), look_at_letter, lambda x, s: s + 1)
    assert features.tolist() == [[[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]]
    assert weights[0].argmax(-1).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("change", "mistake"),
    [
        ({}, None),
        ({1: [0.1] * 4}, "all runs"),
        ({1: [1.0] * 5}, "nothing left"),  # weights > the smallest that stays
        ({"all": [0.3, 0.31, 0.3, 0.3, 0.3]}, "usual"),
        ({"best hidden": [0.094, 0.072, 0.081, 0.068, 0.092]}, "usual"),
        ({1: [0.0962, 0.0794, 0.0825, 0.0640, 0.0874]}, "usual"),  # one letter more was kept
        ({"best hidden": [1.3472, 1.4086, 1.3481, 1.1835, 1.4741]}, "usual"),  # the second-best letter alone
        ({"enough": 4}, "enough"),
        ({"worse with one": 4}, "worse with one"),
        ({"hiding against one": 14.66}, "hiding against one"),
    ],
)
def test_the_experiment_is_held_against_its_own_numbers(change, mistake):
    rows = {"all": (0.094, 0.072, 0.081, 0.068, 0.092), 1: (0.121, 0.116, 0.106, 0.112, 0.117)}
    rows |= {2: (0.096, 0.079, 0.083, 0.064, 0.087), 4: (0.093, 0.073, 0.081, 0.068, 0.091)}
    rows |= {"best hidden": (1.303, 1.212, 1.166, 1.062, 1.218)}
    rows |= {"enough": 2, "worse with one": 5, "hiding against one": 10.4}
    experiment = find("3.8")
    verdict = decider(experiment, [])(observe_answer(rows | change, experiment.call, []))
    assert verdict.mistake == mistake
    assert verdict.passed == (mistake is None)
