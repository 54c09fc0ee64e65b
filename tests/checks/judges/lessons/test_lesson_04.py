"""The references of lesson 04's checks against PyTorch, and what its open experiment accepts."""

import functools
import gc

import pytest
import torch
import torch.nn.functional as F

from course_utils.checks.judges.experiment import judge_experiment
from course_utils.checks.judges.find import find
from course_utils.checks.judges.judge import cases_of
from course_utils.checks.probes.observe import observe_value
from course_utils.checks.probes.probe import visible

SEEDS = (20170612, 1, 2)


def right(number):
    return find(number).with_parts()


def assert_attention(found, query, key, value):
    output, weights = found
    everything = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], -1)
    torch.testing.assert_close(output, F.scaled_dot_product_attention(query, key, value), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(weights, F.scaled_dot_product_attention(query, key, everything), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_attention_is_pytorchs(seed):
    for case in map(visible, cases_of(find("4.1"), seed)):
        assert_attention(right("4.1")(**case), **case)
    for case in map(visible, cases_of(find("4.2"), seed)):
        x, memory, W_q, W_k, W_v = case.values()
        assert_attention(right("4.2")(**case), x @ W_q, memory @ W_k, memory @ W_v)


def test_the_statements_examples():
    found = right("4.1")(
        torch.tensor([[[2.0, 0, 0, 0]]]),
        torch.tensor([[[1.0986, 0, 0, 0], [0, 1.0, 0, 0]]]),
        torch.tensor([[[8.0], [4.0]]]),
    )
    assert found[0].item() == pytest.approx(7.0, abs=1e-3)
    assert found[1].tolist() == [[pytest.approx([0.75, 0.25], abs=1e-4)]]
    W_k, W_v = torch.tensor([[2.1972, 0, 0, 0]]), torch.tensor([[4.0, 2.0]])
    found = right("4.2")(torch.ones(1, 1, 1), torch.tensor([[[1.0], [0.0]]]), torch.ones(1, 4), W_k, W_v)
    assert found[0].tolist() == [[pytest.approx([3.0, 1.5], abs=1e-3)]]
    blocks = [
        (torch.tensor([[[0.0], [1.0986]]]), torch.tensor([[[4.0], [8.0]]])),
        (torch.tensor([[[2.4849]]]), torch.tensor([[[16.0]]])),
    ]
    assert right("4.5")(torch.ones(1, 1, 1), iter(blocks)).item() == pytest.approx(13.75, abs=1e-3)


def test_the_statements_matrices_make_the_wanted_weights():
    call = find("4.3").probe.call
    case = {"x": torch.tensor([[1.0, 1], [0, 2]]), "wanted": torch.tensor([[0.75, 0.25], [0.5, 0.5]])}
    W_q, W_k = torch.tensor([[1.0986], [0.0]]), torch.tensor([[1.0], [0.0]])
    torch.testing.assert_close(call(lambda x, wanted: (W_q, W_k), case), case["wanted"], atol=1e-4, rtol=0)
    wide = [F.pad(W, (0, 3)) for W in (W_q, W_k)]
    assert call(lambda x, wanted: wide, case)[0].tolist() == pytest.approx([0.634, 0.366], abs=1e-3)
    for given in (W_q, (W_q, W_k.T), (W_q, 1.0)):
        with pytest.raises((TypeError, ValueError), match="must"):
            call(lambda x, wanted, given=given: given, case)


@pytest.mark.parametrize("seed", SEEDS)
def test_any_wanted_table_is_made(seed):
    exercise = find("4.3")
    for case in cases_of(exercise, seed):
        made = exercise.probe.call(exercise.with_parts(), case)
        torch.testing.assert_close(made, case["wanted"], atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_mended_layer_is_pytorchs_attention_of_three_projections(seed):
    exercise = find("4.4")
    for case in cases_of(exercise, seed):
        query, key, value = (
            F.linear(case["x"], case[f"{name}.weight"], case[f"{name}.bias"]) for name in ("q_proj", "k_proj", "v_proj")
        )
        found = exercise.probe.call(exercise.with_parts(), dict(case))
        torch.testing.assert_close(found, F.scaled_dot_product_attention(query, key, value), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_blocks_are_attention_and_hold_no_more_with_more_of_them(seed):
    exercise = find("4.5")
    for case in cases_of(exercise, seed):
        output, held = exercise.probe.call(exercise.with_parts(), case)
        torch.testing.assert_close(output, F.scaled_dot_product_attention(case["query"], case["key"], case["value"]))
        assert held == "it does not grow"


def many_blocks(seed):
    [case] = [case for case in cases_of(find("4.5"), seed) if "many blocks" in case.labels]
    return case


def listed(query, blocks):
    keys, values = zip(*list(blocks), strict=True)
    return F.scaled_dot_product_attention(query, torch.cat(keys, 1), torch.cat(values, 1))


def joined(query, blocks):
    key, value = next(blocks)
    for more, worth in blocks:
        key, value = torch.cat((key, more), 1), torch.cat((value, worth), 1)
    return F.scaled_dot_product_attention(query, key, value)


def scores_listed(query, blocks):
    scores, total = [], 0
    for key, value in blocks:
        scores.append(query @ key.mT / 2)
        total = total + scores[-1].exp() @ value
    return total / torch.cat(scores, -1).exp().sum(-1, keepdim=True)


def outputs_listed(query, blocks):
    parts = [((query @ k.mT / 2).logsumexp(-1), F.scaled_dot_product_attention(query, k, v)) for k, v in blocks]
    sizes, outputs = (torch.stack(part) for part in zip(*parts, strict=True))
    return (sizes.softmax(0)[..., None] * outputs).sum(0)


def views_listed(query, blocks):
    return listed(query, [(key[:, :, :], value.view(value.shape)) for key, value in blocks])


def merged(query, blocks):
    def step(old, block):
        scores = query @ block[0].mT / query.shape[-1] ** 0.5
        size, output = scores.logsumexp(-1, keepdim=True), scores.softmax(-1) @ block[1]
        both = torch.logaddexp(old[0], size)
        return both, old[1] * (old[0] - both).exp() + output * (size - both).exp()

    return functools.reduce(step, blocks, (torch.full((*query.shape[:2], 1), -torch.inf), torch.zeros(())))[1]


def in_cycles(query, blocks):
    """Streams, but leaves a cycle that holds each block to Python's collector."""
    highest, total, output = query.new_full((*query.shape[:2], 1), -torch.inf), 0, 0
    for block in blocks:
        cycle = [query @ block[0].mT / query.shape[-1] ** 0.5, block]
        cycle.append(cycle)
        new = torch.maximum(highest, cycle[0].amax(-1, keepdim=True)) if cycle[0].any() else highest
        shrunk, powers = (highest - new).exp(), (cycle[0] - new).exp()
        total, output = total * shrunk + powers.sum(-1, keepdim=True), output * shrunk + powers @ block[1]
        highest = new
    return output / total


def without_gradients(query, blocks):
    with torch.inference_mode():
        return merged(query, blocks)


@pytest.mark.parametrize("seed", [*SEEDS, 3, 4])
@pytest.mark.parametrize("answer", [listed, joined, scores_listed, outputs_listed, views_listed])
def test_who_holds_all_is_seen(answer, seed):
    output, held = find("4.5").probe.call(answer, many_blocks(seed))
    torch.testing.assert_close(output, find("4.5").probe.call(merged, many_blocks(seed))[0], atol=1e-4, rtol=1e-4)
    assert held == "it grows with the number of blocks"


@pytest.mark.parametrize("seed", [*SEEDS, 3, 4])
@pytest.mark.parametrize("answer", [merged, in_cycles, without_gradients])
def test_who_streams_is_let_through_whatever_ran_before(answer, seed):
    gc.disable()  # the verdict must not wait for a collection that may come or not
    try:
        assert find("4.5").probe.call(answer, many_blocks(seed))[1] == "it does not grow"
    finally:
        gc.enable()


def test_the_blocks_are_read_once():
    exercise, case = find("4.5"), many_blocks(1)
    with pytest.raises(RuntimeError, match="read only once"):
        exercise.probe.call(lambda query, blocks: [*blocks, *blocks], case)
    assert [key.shape[1] for key, _ in exercise.probe.hands_out(case)["blocks"]] == case["block_sizes"]
    assert gc.get_freeze_count() == 0


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({(512, "root"): [1.0, 1.0, 1.0, 1.0]}, "all runs"),
        ({(512, "root"): [0.6, 0.5, 0.6, 0.5, 0.6]}, "possible"),
        ({(512, "d_k"): [1.0, 1.0, 1.0, 1.0, 0.99]}, "possible"),
        ({(64, "none"): [1.0, 0.9, 0.97, 0.95, 1.0]}, "possible"),
        ({(512, "none"): [1.0, 1.0, 1.0, 1.0, 1.0]}, "possible"),
        ({(64, "none"): [1.0, 1.0, 1.0, 0.7, 1.0]}, "none read off"),
        ({"none fails at": 64}, "none read off"),
        ({"root fails at": "never"}, "root read off"),
        ({"d_k fails at": 512}, "d_k read off"),
        ({"d_k fails at": None}, "d_k read off"),
    ],
)
def test_an_experiment_must_follow_from_its_own_numbers(change, claim):
    experiment = find("4.6")
    assert judge_experiment(experiment, observe_value(experiment.example())).passed
    verdict = judge_experiment(experiment, observe_value(experiment.example() | change))
    assert not verdict.passed and verdict.mistake == claim, verdict.text()
