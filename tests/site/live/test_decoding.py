"""Searching and sampling in JavaScript give what Python's give."""

import pytest
import torch
from in_live import in_live
from some_words import some_words

from course_utils import pretrained
from course_utils.decoding import beam_search, greedy_decode, sampling_distribution
from course_utils.pretrained.pronunciation import MAX_PHONEMES, SPELLING
from course_utils.pretrained.shipped import FOLDER
from course_utils.tokenizers import END_ID, PAD_ID, START_ID

pytestmark = pytest.mark.needs("node")
FILE = str(FOLDER / "transformer.safetensors")
ENDS = {"max_len": MAX_PHONEMES, "start_id": START_ID, "end_id": END_ID}


def test_beams_of_fifty_words():
    model, words = pretrained.load("transformer"), [SPELLING.encode(word) for word in some_words()]
    body = """
      const model = transformer.load(open(file));
      return words.map((ids) => decoding.beam_search(model, ids, options));"""
    for options in ({"beam_size": 5}, {"beam_size": 2, "length_penalty": 0.0, "max_len": 6}):
        found = in_live(body, file=FILE, words=words, options=ENDS | options)
        for ids, beams in zip(words, found, strict=True):
            right = beam_search(model, torch.tensor([ids]), **{"max_len": MAX_PHONEMES} | options)
            sequences = [[token for token in row if token != PAD_ID] for row in right.tokens[0].tolist()]
            assert [beam["tokens"] for beam in beams] == sequences
            assert [beam["log_prob"] for beam in beams] == pytest.approx(right.log_probs[0].tolist(), abs=1e-3)
            assert [beam["score"] for beam in beams] == pytest.approx(right.scores[0].tolist(), abs=1e-3)


def test_greedy_and_the_probability_of_a_whole_sequence():
    model, words = pretrained.load("transformer"), [SPELLING.encode(word) for word in some_words(12)]
    body = """
      const model = transformer.load(open(file));
      return words.map((ids) => {
        const found = decoding.greedy_decode(model, ids, options);
        return { ...found, again: decoding.sequence_log_prob(model, ids, found.tokens, options) };
      });"""
    for ids, found in zip(words, in_live(body, file=FILE, words=words, options=ENDS), strict=True):
        right = greedy_decode(model, torch.tensor([ids]), max_len=MAX_PHONEMES)
        assert found["tokens"] == right.tokens[0].tolist()
        assert found["log_prob"] == pytest.approx(right.log_probs.item(), abs=1e-3)
        assert found["again"] == pytest.approx(found["log_prob"], abs=1e-4)


@pytest.mark.parametrize("temperature", [0.0, 0.3, 1.0, 1.7])
@pytest.mark.parametrize("top_p", [0.0, 0.5, 0.93, 1.0])
def test_the_distribution_that_is_drawn_from(temperature, top_p):
    logits = torch.randn(40, generator=torch.Generator().manual_seed(3)) * 3
    found = in_live(
        "return decoding.sampling_distribution(logits, options);",
        logits=logits.tolist(),
        options={"temperature": temperature, "top_p": top_p},
    )
    right = sampling_distribution(logits, temperature=temperature, top_p=top_p)
    assert torch.allclose(torch.tensor(found, dtype=right.dtype), right, atol=1e-5)
    assert [p > 0 for p in found] == (right > 0).tolist()


def test_drawing_takes_each_token_as_often_as_it_is_probable():
    body = "return Array.from({ length: 1000 }, (_, n) => decoding.draw_token(probs, () => (n + 0.5) / 1000));"
    drawn = in_live(body, probs=[0.25, 0.0, 0.6, 0.15])
    assert [drawn.count(token) for token in range(4)] == [250, 0, 600, 150]
    assert in_live("return decoding.draw_token([0.5, 0.4999, 0], () => 0.99999);") == 1
