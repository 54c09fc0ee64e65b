"""The references of lesson 03's checks against PyTorch, the library, and numbers worked by hand."""

import math

import pytest
import torch
import torch.nn.functional as F

from course_utils import metrics
from course_utils.attention import AdditiveAttention
from course_utils.checks.judges.find import find
from course_utils.checks.judges.judge import cases_of
from course_utils.checks.probes.probe import visible

SEEDS = (20170612, 1, 2)


def right(number):
    return find(number).with_parts()


@pytest.mark.parametrize("seed", SEEDS)
def test_attention_step_is_the_librarys(seed):
    for case in map(visible, cases_of(find("3.1"), seed)):
        state, encoded, W_q, W_k, w_v, mask = case.values()
        layer = AdditiveAttention(W_q.shape[1], W_k.shape[1], len(w_v)).to(state.dtype)
        layer.load_state_dict({"q_proj.weight": W_q, "k_proj.weight": W_k, "v_proj.weight": w_v[None]})
        context, weights = layer(state[:, None], encoded, encoded, mask[:, None])
        torch.testing.assert_close(right("3.1")(**case), (context[:, 0], weights[:, 0]))


def look_at_letter(state):
    """The toy of 3.6: the state counts the steps, and attend looks at the letter whose number is the state."""
    weights = F.one_hot(state[:, 0].long(), 4).float()
    return weights @ torch.tensor([[10.0], [20.0], [30.0], [40.0]]), weights


def test_one_step_asks_with_the_state_before_it():
    read = []

    def cell(x, state):
        read.append(x)
        return state + 1

    logits, state, weights = right("3.2")(
        torch.tensor([[5.0]]), torch.tensor([[1.0]]), look_at_letter, cell, lambda f: f
    )
    assert read[0].tolist() == [[5.0, 20.0]]
    assert (logits.tolist(), state.tolist(), weights.tolist()) == ([[2.0, 20.0, 5.0]], [[2.0]], [[0.0, 1.0, 0.0, 0.0]])


def test_sound_t_looks_at_letter_t():
    features, weights = right("3.6")(torch.zeros(1, 3, 2), torch.zeros(1, 1), look_at_letter, lambda x, s: s + 1)
    assert features.tolist() == [[[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]]
    assert weights[0].argmax(-1).tolist() == [0, 1, 2]


@pytest.mark.parametrize("seed", SEEDS)
def test_forced_loss_is_pytorchs_cross_entropy(seed):
    for case in cases_of(find("3.3"), seed):
        target, pad_id, V = case["target"], case["pad_id"], case["_output"].shape[1]
        logits = torch.randn(*target[:, 1:].shape, V, generator=torch.Generator().manual_seed(seed))
        expected = F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=pad_id)
        found = right("3.3")(lambda source, prefix, logits=logits: logits, case["source"], target, pad_id)
        torch.testing.assert_close(found, expected)
        same = right("3.3")(lambda source, prefix, V=V: torch.zeros(*prefix.shape, V), case["source"], target, pad_id)
        assert math.isclose(same.item(), math.log(V), rel_tol=1e-6)


def test_greedy_decoding_of_the_statements_example():
    script = torch.tensor([[7, 8], [1, 9], [4, 1], [5, 5]])  # said at each step by rows 0 and 1; 1 is the end

    def step(tokens, made):
        return F.one_hot(script[made[0]], 10).float(), made + 1

    found = right("3.4")(step, torch.zeros(2, dtype=torch.long), 2, 1, 0, 4)
    assert found.tolist() == [[7, 1, 0], [8, 9, 1]]


@pytest.mark.parametrize("seed", SEEDS)
def test_error_rate_is_the_librarys_and_no_two_pronunciations_are_as_near(seed):
    for case in cases_of(find("3.5"), seed):
        assert right("3.5")(**case) == metrics.phoneme_error_rate(**case)
        for hypothesis, accepted in zip(*case.values(), strict=True):
            edits = sorted(metrics.edit_distance(hypothesis, reference) for reference in accepted)
            assert edits[:1] != edits[1:2]
