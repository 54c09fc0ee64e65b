"""The worked solutions of lesson 04 against PyTorch, how 4.5 is watched, and what its open experiment accepts."""

import functools
import gc

import pytest
import torch
import torch.nn.functional as F

from course_checks.deciding.decide import cases_of, decider
from course_checks.deciding.find import find
from course_checks.engine import SEED, run
from course_checks.running.observe import observe_value

SEEDS = (SEED, 1, 2)


def assert_attention(result, query, key, value):
    output, weights = result
    everything = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], -1)
    torch.testing.assert_close(output, F.scaled_dot_product_attention(query, key, value), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(weights, F.scaled_dot_product_attention(query, key, everything), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_attention_is_pytorchs(seed):
    for case in cases_of(find("4.1"), seed):
        assert_attention(find("4.1").right(**case), **case)
    for case in cases_of(find("4.2"), seed):
        x, memory, W_q, W_k, W_v = case.values()
        assert_attention(find("4.2").right(**case), x @ W_q, memory @ W_k, memory @ W_v)


def test_the_statements_examples():
    key = torch.tensor([[[1.0986, 0, 0, 0], [0, 1.0, 0, 0]]])
    output, weights = find("4.1").right(torch.tensor([[[2.0, 0, 0, 0]]]), key, torch.tensor([[[8.0], [4.0]]]))
    assert output.item() == pytest.approx(7.0, abs=1e-3)
    assert weights.tolist() == [[pytest.approx([0.75, 0.25], abs=1e-4)]]
    W_k, W_v, memory = torch.tensor([[2.1972, 0, 0, 0]]), torch.tensor([[4.0, 2.0]]), torch.tensor([[[1.0], [0.0]]])
    output, _ = find("4.2").right(torch.ones(1, 1, 1), memory, torch.ones(1, 4), W_k, W_v)
    assert output.tolist() == [[pytest.approx([3.0, 1.5], abs=1e-3)]]
    blocks = [
        (torch.tensor([[[0.0], [1.0986]]]), torch.tensor([[[4.0], [8.0]]])),
        (torch.tensor([[[2.4849]]]), torch.tensor([[[16.0]]])),
    ]
    assert find("4.5").right(torch.ones(1, 1, 1), iter(blocks)).item() == pytest.approx(13.75, abs=1e-3)


def test_the_statements_matrices_make_the_wanted_weights():
    call, case = find("4.3").call, cases_of(find("4.3"), SEED)[0]
    case["x"], case["wanted"] = torch.tensor([[1.0, 1], [0, 2]]), torch.tensor([[0.75, 0.25], [0.5, 0.5]])
    W_q, W_k = torch.tensor([[1.0986], [0.0]]), torch.tensor([[1.0], [0.0]])
    torch.testing.assert_close(call.on(lambda x, wanted: (W_q, W_k), case), case["wanted"], atol=1e-4, rtol=0)
    wide = [F.pad(W, (0, 3)) for W in (W_q, W_k)]
    assert call.on(lambda x, wanted: wide, case)[0].tolist() == pytest.approx([0.634, 0.366], abs=1e-3)
    for pair in (W_q, (W_q, W_k.T), (W_q, 1.0)):
        with pytest.raises((TypeError, ValueError), match="must"):
            call.on(lambda x, wanted, pair=pair: pair, case)


@pytest.mark.parametrize("seed", SEEDS)
def test_any_wanted_table_is_made(seed):
    for case in cases_of(find("4.3"), seed):
        made = find("4.3").call.on(find("4.3").right, case)
        torch.testing.assert_close(made, case["wanted"], atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_mended_layer_is_pytorchs_attention_of_three_projections(seed):
    for case in cases_of(find("4.4"), seed):
        query, key, value = (
            F.linear(case["x"], case[f"{name}.weight"], case[f"{name}.bias"]) for name in ("q_proj", "k_proj", "v_proj")
        )
        output = find("4.4").call.on(find("4.4").right, case)
        torch.testing.assert_close(output, F.scaled_dot_product_attention(query, key, value), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_blocks_are_attention_and_hold_no_more_with_more_of_them(seed):
    for case in cases_of(find("4.5"), seed):
        output = find("4.5").call.on(find("4.5").right, case)
        torch.testing.assert_close(output, F.scaled_dot_product_attention(case["query"], case["key"], case["value"]))


def many_blocks(seed):
    [case] = [case for case in cases_of(find("4.5"), seed) if "watched" in case.driver]
    assert case.labels == ("there are many blocks",)
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


def sums_listed(query, blocks):
    output, sums = 0, []
    for key, value in blocks:
        powers = (query @ key.mT / 2).exp()
        output, sums = output + powers @ value, [*sums, powers.sum(-1, keepdim=True)]
    return output / sum(sums)


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


def changed_in_place(query, blocks):
    return merged(query, ((key, value.mul_(2) / 2) for key, value in blocks))


@pytest.mark.parametrize("seed", [*SEEDS, 3, 4])
@pytest.mark.parametrize("answer", [listed, joined, scores_listed, outputs_listed, views_listed, sums_listed])
def test_who_holds_all_is_seen(answer, seed):
    case = many_blocks(seed)
    with pytest.raises(RuntimeError, match="grows with the number of blocks"):
        find("4.5").call.on(answer, case)
    case.driver["watched"] = False
    right = find("4.5").call.on(find("4.5").right, case)
    torch.testing.assert_close(find("4.5").call.on(answer, case), right, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("seed", [*SEEDS, 3, 4])
@pytest.mark.parametrize("answer", [merged, in_cycles, without_gradients])
def test_who_streams_is_let_through_whatever_ran_before(answer, seed):
    gc.disable()  # the verdict must not wait for a collection that may come or not
    try:
        find("4.5").call.on(answer, many_blocks(seed))
    finally:
        gc.enable()
    assert gc.get_freeze_count() == 0


def test_blocks_are_read_once_and_left_as_they_are():
    case = many_blocks(1)
    with pytest.raises(RuntimeError, match="read only once"):
        find("4.5").call.on(lambda query, blocks: [*blocks, *blocks], case)
    assert [key.shape[1] for key, _ in find("4.5").call.shown(case)["blocks"]] == case["block_sizes"]
    verdict = run(find("4.5"), changed_in_place)
    assert not verdict.passed and "`value` in place" in verdict.looks_like


ROWS = {(d_k, scale): [1.0, 1.0, 0.999, 1.0, 1.0] for d_k in (8, 64, 512) for scale in ("none", "root", "d_k")}
MEASURED = ROWS | {
    (64, "d_k"): [1.0, 1.0, 1.0, 1.0, 0.88],
    (512, "none"): [1.0, 1.0, 0.85, 0.87, 0.82],
    (512, "d_k"): [0.64, 0.56, 0.61, 0.64, 0.54],
    "none fails at": 512,
    "root fails at": None,
    "d_k fails at": 64,
}


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
    decide = decider(find("4.6"), [])
    assert decide(observe_value(MEASURED)).passed
    verdict = decide(observe_value(MEASURED | change))
    assert not verdict.passed and verdict.mistake == claim, verdict.text()
