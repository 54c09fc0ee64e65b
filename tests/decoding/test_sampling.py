"""Sampling: the definitions on hand-made logits, and generation with a model whose every step is known."""

import math

import pytest
import torch

from course_utils.decoding import generate, sampling_distribution

PROBS = torch.tensor([0.1, 0.4, 0.05, 0.25, 0.2])
LOGITS = PROBS.log() + 3.0  # a shift changes nothing


def close(found, expected):
    torch.testing.assert_close(found, torch.tensor(expected), atol=1e-6, rtol=0)


def test_nothing_asked_is_the_softmax():
    close(sampling_distribution(LOGITS), PROBS.tolist())
    close(sampling_distribution(LOGITS, top_k=99, top_p=1.0), PROBS.tolist())


def test_temperature_by_definition():
    for temperature in (0.5, 2.0):
        powers = PROBS ** (1 / temperature)
        close(sampling_distribution(LOGITS, temperature=temperature), (powers / powers.sum()).tolist())
    close(sampling_distribution(LOGITS, temperature=0.0), [0.0, 1.0, 0.0, 0.0, 0.0])
    close(sampling_distribution(LOGITS, temperature=1e-4), [0.0, 1.0, 0.0, 0.0, 0.0])


def test_top_k_renormalizes():
    close(sampling_distribution(LOGITS, top_k=2), [0.0, 0.4 / 0.65, 0.0, 0.25 / 0.65, 0.0])
    close(sampling_distribution(LOGITS, top_k=1), [0.0, 1.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("top_p", "kept"),
    [(0.0, [1]), (0.39, [1]), (0.41, [1, 3]), (0.6499, [1, 3]), (0.66, [1, 3, 4]), (0.97, [0, 1, 2, 3, 4])],
)
def test_top_p_keeps_the_token_that_crosses(top_p, kept):
    expected = torch.zeros(5)
    expected[kept] = PROBS[kept] / PROBS[kept].sum()
    close(sampling_distribution(LOGITS, top_p=top_p), expected.tolist())


def test_top_p_counts_within_what_top_k_left():
    close(
        sampling_distribution(LOGITS, top_k=3, top_p=0.7), [0.0, 0.4 / 0.65, 0.0, 0.25 / 0.65, 0.0]
    )  # 0.65 / 0.85 > 0.7


def test_ties_go_to_the_lower_ids():
    even = torch.zeros(4)
    close(sampling_distribution(even, top_k=2), [0.5, 0.5, 0.0, 0.0])
    close(sampling_distribution(even, top_p=0.3), [0.5, 0.5, 0.0, 0.0])
    close(sampling_distribution(even, temperature=0.0), [1.0, 0.0, 0.0, 0.0])


def test_each_row_by_itself_and_impossible_tokens_stay_so():
    rows = torch.stack((LOGITS, LOGITS.flip(0)))[:, None]  # (2, 1, 5)
    found = sampling_distribution(rows, top_k=2)
    torch.testing.assert_close(found[1, 0], sampling_distribution(LOGITS, top_k=2).flip(0))
    close(sampling_distribution(torch.tensor([0.0, -math.inf, 0.0]), top_p=0.9), [0.5, 0.0, 0.5])
    close(sampling_distribution(torch.tensor([5.0])), [1.0])
    assert LOGITS.equal(PROBS.log() + 3.0)


class Counter:
    """The token after t is t + 1 (probability 0.7) or t + 2 (0.3), modulo 10; it notes what it is fed."""

    def __init__(self):
        self.fed = []

    def start_cache(self, batch_size, max_len):
        self.room = batch_size, max_len
        return [self]

    def __call__(self, tokens, *, cache=None):
        self.fed.append(tokens.shape[1])
        logits = torch.full((*tokens.shape, 10), -math.inf)
        logits.scatter_(-1, (tokens[..., None] + 1) % 10, math.log(0.7))
        return logits.scatter_(-1, (tokens[..., None] + 2) % 10, math.log(0.3))

    def next_logits(self, tokens, *, cache=None):
        return self(tokens, cache=cache)[:, -1]


def test_generation_feeds_one_token_at_a_time_with_a_cache():
    prompt = torch.tensor([[3, 4, 5], [0, 1, 8]])
    cached, plain = Counter(), Counter()
    expected = [[3, 4, 5, 6, 7, 8, 9], [0, 1, 8, 9, 0, 1, 2]]
    assert generate(cached, prompt, max_new_tokens=4, temperature=0.0).tolist() == expected
    assert generate(plain, prompt, max_new_tokens=4, temperature=0.0, use_cache=False).tolist() == expected
    assert cached.fed == [3, 1, 1, 1] and plain.fed == [3, 4, 5, 6]
    assert cached.room == (2, 6)  # the last new token is never fed


def test_draws_follow_the_distribution_and_the_seed():
    prompt = torch.zeros(2000, 1, dtype=torch.long)
    first, again, other = (
        generate(Counter(), prompt, max_new_tokens=2, generator=torch.Generator().manual_seed(seed))
        for seed in (0, 0, 1)
    )
    assert torch.equal(first, again) and not torch.equal(first, other)
    assert (first[:, 1] == 1).float().mean().item() == pytest.approx(0.7, abs=0.04)
    assert (generate(Counter(), prompt, max_new_tokens=3, top_k=1)[0] == torch.arange(4)).all()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"temperature": -0.1}, "temperature .-0.1."),
        ({"top_k": 0}, "top_k .0."),
        ({"top_p": 1.5}, "top_p .1.5."),
        ({"top_p": -0.5}, "top_p .-0.5."),
        ({"max_new_tokens": 0}, "max_new_tokens .0."),
        ({"prompt": torch.zeros(2, 0, dtype=torch.long)}, "at least one token"),
    ],
)
def test_bad_input_is_named(as_a_user, changes, words):
    with pytest.raises(ValueError, match=words):
        generate(Counter(), **{"prompt": torch.zeros(1, 1, dtype=torch.long), "max_new_tokens": 2, **changes})
