"""The worked solutions of lesson 13 against truth from outside: the library, a trained model, numbers worked by hand."""

import math

import pytest
import torch

from course_checks.catalogue import catalogue_entry
from course_checks.deciding.find import find
from course_utils import pretrained
from course_utils.circuits import (
    contributions,
    cut_path,
    induction_mask,
    mean_weight,
    ov_circuit,
    previous_token_mask,
    qk_circuit,
)
from course_utils.multi_head import MultiHeadAttention
from course_utils.recording import record_attention
from course_utils.small_models import induction


@pytest.fixture(scope="module")
def model():
    return pretrained.load("induction").requires_grad_(False)


@pytest.fixture(scope="module")
def ids():
    return induction.twice(6, 9, torch.Generator().manual_seed(3))  # (6, 18)


def causal(*shape, seed=0):
    scores = torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
    later = torch.ones(shape[-1], shape[-1], dtype=torch.bool).triu(1)
    return scores.masked_fill(later, -math.inf).softmax(dim=-1)


def test_the_induction_score_is_the_library_s():
    weights = causal(3, 4, 9, 9)
    tokens = torch.randint(4, (3, 9), generator=torch.Generator().manual_seed(1))
    found = find("13.1").right(weights, tokens)
    torch.testing.assert_close(found, mean_weight(weights, induction_mask(tokens)))


def test_the_induction_score_of_an_even_head_by_hand():
    even = torch.ones(7, 7).tril() / torch.arange(1, 8)[:, None]
    tokens = torch.tensor([[0, 1, 2, 0, 1, 2, 0]])
    expected = (1 / 4 + 1 / 5 + 1 / 6 + 2 / 7) / 4  # the last letter has two copies
    assert find("13.1").right(even[None, None], tokens).item() == pytest.approx(expected)


def test_the_previous_score_is_the_library_s_where_nothing_is_padded():
    weights = causal(3, 4, 9, 9)
    expected = mean_weight(weights, previous_token_mask(torch.zeros(3, 9, dtype=torch.long)))
    torch.testing.assert_close(find("13.2").right(weights, torch.full((3,), 9)), expected)


def test_the_previous_score_of_strings_of_several_lengths_by_hand():
    weights = causal(3, 2, 4, 4)
    some = [weights[0, :, 1, 0], weights[2, :, 1, 0], weights[2, :, 2, 1]]  # lengths 2, 1 and 3
    expected = torch.stack(some).mean(dim=0)
    torch.testing.assert_close(find("13.2").right(weights, torch.tensor([2, 1, 3])), expected)


@pytest.mark.parametrize("head", [0, 2, 3, 5])
def test_the_two_matrices_are_the_library_s(head):
    torch.manual_seed(0)
    layer = MultiHeadAttention(12, 6, num_kv_heads=2, bias=False).requires_grad_(False)
    weights = (getattr(layer, f"{name}_proj").weight for name in "qkvo")
    qk, ov = find("13.3").right(*weights, head, 6, 2)
    torch.testing.assert_close(qk, qk_circuit(layer, head).matrix)
    torch.testing.assert_close(ov, ov_circuit(layer, head).matrix)


def test_two_features_can_copy_all_letters():
    angle = torch.arange(26) * 2 * math.pi / 26
    circle = torch.stack([angle.cos(), angle.sin()], dim=1)  # (26, 2)
    copied = ((circle @ circle.T).argmax(dim=1) == torch.arange(26)).sum()
    assert catalogue_entry("13.4").options[find("13.4").right] == f"All {copied}."


def test_the_shares_are_the_library_s_and_add_up_to_the_logit(model, ids):
    parts = contributions(model, ids)
    for token in (0, 17):
        row = model.generator.weight[token]
        shares = find("13.5").right(dict(parts.parts), model.norm.weight, model.norm.eps, row)
        expected = parts.to_logits(torch.full_like(ids, token))
        for name, share in shares.items():
            torch.testing.assert_close(share, expected[name], rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(sum(shares.values()), model(ids)[..., token], rtol=1e-4, atol=1e-3)


def test_the_cut_path_is_the_library_s(model, ids):
    first, second = ("layers.0.self_attention", 2), ("layers.1.self_attention", 1)
    parts, layer = contributions(model, ids).parts, model.layers[1]
    stream = sum(part for name, part in parts.items() if name == "embedding" or name.startswith("layers.0"))
    rows, norm = slice(16, 32), layer.attention_norm
    q, k = (getattr(layer.self_attention, f"{name}_proj").weight[rows] for name in "qk")
    found = find("13.6").right(stream, parts[f"{first[0]} head {first[1]}"], norm.weight, norm.eps, q, k)
    with record_attention(model) as seen, cut_path(model, first, second, "k"):
        model(ids)
    torch.testing.assert_close(found, seen[second[0]][:, second[1]], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("V", [3, 9, 27])
def test_the_machine_answers_with_what_followed(V):
    rng = torch.Generator().manual_seed(V)
    ids = torch.cat([torch.zeros(3, 1, dtype=torch.long), torch.randint(1, V, (3, 40), generator=rng)], dim=1)
    exercise = find("13.7")
    from course_checks.running.drivers.lesson_13 import drive_machine

    case = exercise.cases(0)[0]
    found = drive_machine(exercise.right, type(case)(V=V, ids=ids))
    for row, tokens in enumerate(ids.tolist()):
        for place, token in enumerate(tokens):
            followed = [tokens[j + 1] for j in range(place) if tokens[j] == token]
            expected = torch.zeros(V)
            for other in followed:
                expected[other] += 1 / len(followed)
            torch.testing.assert_close(found[row, place], expected, rtol=0, atol=1e-3)
