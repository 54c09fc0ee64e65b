"""The worked solutions of lesson 12 against the library, PyTorch and hand-worked numbers, and how answers are run."""

import math

import pytest
import torch
import torch.nn.functional as F

from course_checks.deciding.decide import cases_of, decider
from course_checks.deciding.find import find
from course_checks.engine import SEED, run
from course_checks.running.drivers.lesson_12 import small_model
from course_checks.running.observe import observe_value
from course_utils import decoding, layers, masks, positions
from course_utils.datasets.text_windows import seen_before
from course_utils.metrics import text_scores
from course_utils.models import DecoderConfig, DecoderLM

SEEDS = (SEED, 1, 2)
every_seed = pytest.mark.parametrize("seed", SEEDS)


@every_seed
def test_swiglu_is_the_librarys(seed):
    one = {f"{name}_proj.weight": torch.ones(1, 1) for name in ("gate", "up", "down")}
    assert find("12.1").right(torch.full((1, 1, 1), 2.0), one).item() == pytest.approx(3.523, abs=1e-3)
    for case in cases_of(find("12.1"), seed):
        d_ff, d_model = case["params"]["up_proj.weight"].shape
        network = layers.SwiGLU(d_model, d_ff).to(case["x"].dtype)
        expected = torch.func.functional_call(network, case["params"], (case["x"],))
        torch.testing.assert_close(find("12.1").right(**case), expected)


def test_block_is_the_librarys_layer():
    torch.manual_seed(0)
    block = find("12.2").right(16, 4, 2, 24)
    layer = layers.DecoderOnlyLayer(16, 4, 24, num_kv_heads=2, rotary=positions.RotaryPositions(4))
    names = {"norm_1": "attention_norm", "norm_2": "feed_forward_norm"}
    state = {}
    for name, tensor in block.state_dict().items():
        part, _, rest = name.partition(".")
        state[f"{names.get(part, part)}.{rest}"] = tensor
    layer.load_state_dict(state)
    x = torch.randn(2, 5, 16)
    torch.testing.assert_close(block(x), layer(x, masks.causal_mask(5)))


@every_seed
def test_generation_is_the_librarys(seed):
    for case in cases_of(find("12.3"), seed):
        model, new = small_model(case), case["max_new_tokens"]
        expected = decoding.generate(model, case["prompt"], max_new_tokens=new, temperature=0)
        tokens, shapes, with_cache = find("12.3").call.on(find("12.3").right, case)
        assert torch.equal(tokens, expected)
        assert len(shapes) == new and all(with_cache)


@every_seed
def test_the_distribution_is_the_librarys_and_the_statements_example(seed):
    right = find("12.4").right
    for case in cases_of(find("12.4"), seed):
        logits, temperature, top_k, top_p = case.values()
        expected = decoding.sampling_distribution(logits, temperature=temperature, top_k=top_k, top_p=top_p)
        torch.testing.assert_close(right(**case), expected)
    by_hand, tie = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log(), torch.tensor([[0.1, 0.4, 0.1, 0.4]]).log()
    torch.testing.assert_close(right(by_hand, 1.0, None, 0.6), torch.tensor([[0.625, 0.375, 0.0, 0.0]]))
    torch.testing.assert_close(right(tie, 1.0, 3, None), torch.tensor([[1 / 9, 4 / 9, 0.0, 4 / 9]]))


@every_seed
def test_perplexity_is_that_of_all_tokens_joined(seed):
    cases = cases_of(find("12.5"), seed)
    assert find("12.5").right(**cases[0]) == pytest.approx(math.sqrt(8))
    for case in cases:
        logits = torch.cat([z.flatten(0, 1) for z, _ in case["batches"]]).double()
        labels = torch.cat([y.flatten() for _, y in case["batches"]])
        expected = F.cross_entropy(logits, labels, ignore_index=case["pad_id"]).exp().item()
        assert find("12.5").right(**case) == pytest.approx(expected)


def test_a_probability_that_comes_to_zero_is_seen():
    def perplexity(batches, pad_id):
        logs = [z.softmax(-1).log()[y != pad_id].gather(-1, y[y != pad_id][:, None]) for z, y in batches]
        return torch.cat(logs).mean().neg().exp().item()

    verdict = run(find("12.5"), perplexity)
    assert not verdict.passed and "yours inf" in verdict.text()


@every_seed
def test_pieces_give_what_the_whole_sequence_gives(seed):
    for case in cases_of(find("12.6"), seed):
        outputs, keys, values = find("12.6").call.on(find("12.6").right, case)
        cos, sin, L = case["cos"], case["sin"], case["query"].shape[2]
        query, key = (positions.apply_rope(case[name], cos[:L], sin[:L]) for name in ("query", "key"))
        expected = F.scaled_dot_product_attention(query, key, case["value"], attn_mask=masks.causal_mask(L, L))
        torch.testing.assert_close(torch.cat(outputs, dim=2), expected)
        torch.testing.assert_close(keys, key)
        assert torch.equal(values, case["value"])


class Rising(torch.nn.Module):
    """Takes 1 bit for the first character of a window, 2 for the second and so on, whatever they are."""

    def forward(self, tokens):
        right = -torch.arange(1.0, tokens.shape[1] + 1) * math.log(2)  # log-probability of symbol 0
        return torch.stack([right, (1 - right.exp()).log()], dim=-1).expand(*tokens.shape, 2)


def test_windows_are_the_statements_example_and_the_librarys_where_nothing_is_left_over():
    right = find("12.7").right
    assert right(Rising(), torch.zeros(8, dtype=torch.long), 4, 2) == pytest.approx(20 / 7)
    torch.manual_seed(0)
    model = DecoderLM(DecoderConfig(9, num_layers=1, d_model=8, d_ff=8, num_heads=2)).requires_grad_(False)
    ids = torch.randint(9, (1 + 12 + 5 * 4,))
    expected = text_scores(model, ids, length=12, stride=4)["bits"]
    assert right(model, ids, 12, 4) == pytest.approx(expected, rel=1e-5)


def test_an_endless_loop_is_stopped():
    def text_bits(model, ids, length, stride):
        while True:
            model(ids[None, :length])

    def generate_greedy(model, prompt, max_new_tokens):
        while True:
            model(prompt)

    for number, answer in (("12.7", text_bits), ("12.3", generate_greedy)):
        assert "model was called more than" in " ".join(run(find(number), answer).text().split())


@pytest.mark.parametrize("number", ["12.3", "12.7"])
def test_a_failing_case_holds_a_model_and_leaves_random_numbers_alone(number):
    case = cases_of(find(number), SEED)[0]
    torch.manual_seed(0)
    expected = torch.rand(())
    torch.manual_seed(0)
    shown = find(number).call.shown(case)
    assert torch.rand(()) == expected
    find(number).right(**shown)


@every_seed
def test_seen_characters_are_the_librarys_and_the_statements_example(seed):
    assert find("12.8").right("abcdef", "xbcdxcdefx", 3).tolist() == [0, 1, 1, 1, 0, 1, 1, 1, 1, 0]
    for case in cases_of(find("12.8"), seed):
        assert torch.equal(find("12.8").right(**case), seen_before(*case.values()))


MEASURED = {
    128: [1.725, 2.611, 1.833, 0.979, 1.591],
    64: [1.632, 2.493, 1.779, 0.957, 1.479],
    16: [1.624, 2.493, 1.763, 0.933, 1.482],
    "saved": 0.089,
    "first half": 0.9,
    "every": True,
    "cost": 8,
}  # the course's model


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({64: MEASURED[64][:4]}, "all runs"),
        ({stride: [math.log(2) * bits for bits in MEASURED[stride]] for stride in (128, 64, 16)}, "possible"),
        ({stride: [2**bits for bits in MEASURED[stride]] for stride in (128, 64, 16)}, "possible"),
        ({128: MEASURED[16], 16: MEASURED[128]}, "more overlap, fewer bits"),
        ({"saved": -0.089}, "saved"),
        ({"saved": 0.051}, "saved"),
        ({"first half": 0.1}, "first half"),
        ({"first half": 0.839}, "first half"),
        ({"every": [True] * 5}, "every"),
        ({"cost": 6.6}, "cost"),
    ],
)
def test_an_experiment_must_follow_from_its_own_numbers(change, claim):
    decide = decider(find("12.9"), [])
    assert decide(observe_value(MEASURED)).passed
    verdict = decide(observe_value(MEASURED | change))
    assert not verdict.passed and verdict.mistake == claim, verdict.text()
