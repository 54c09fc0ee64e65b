"""Pronouncing words: order kept, every word alone, bad words named; error rates on a model that knows its lines."""

import pytest
import torch

from course_utils.models import Transformer, TransformerConfig
from course_utils.pretrained.evaluate import beam_5
from course_utils.pretrained.pronunciation import (
    MAX_PHONEMES,
    SOUNDS,
    SPELLING,
    align,
    error_rates,
    pronounce,
    require_word,
)
from course_utils.recording import record_attention


class Reader(torch.nn.Module):
    """Says K for every c, AE for every a, T for every t, and nothing else."""

    SAYS = {SPELLING.encode(a)[0]: SOUNDS.encode([b])[0] for a, b in (("c", "K"), ("a", "AE"), ("t", "T"))}

    def start_decoding(self, source, *, max_len):
        return [[self.SAYS[i] for i in row.tolist() if i in self.SAYS] for row in source], 0

    def decode_step(self, state, tokens):
        rows, step = state
        scores = torch.full((len(rows), len(SOUNDS)), -9.0)
        for b, row in enumerate(rows):
            scores[b, row[step] if step < len(row) else 2] = 0.0
        return scores, (rows, step + 1)


def test_the_order_of_the_words_is_kept():
    words = ["tact", "at", "Cat", "ox", "attack"]
    assert pronounce(Reader(), words, batch_size=2) == [
        ("T", "AE", "K", "T"),
        ("AE", "T"),
        ("K", "AE", "T"),
        (),
        ("AE", "T", "T", "AE", "K"),
    ]


def test_error_rates_by_hand():
    words = {
        "cat": (("K", "AE", "T"),),
        "act": (("AE", "K", "S"), ("AE", "K", "T")),
        "attack": (("AH", "T", "AE", "K"),),
    }
    assert error_rates(Reader(), words) == pytest.approx({"WER": 1 / 3, "PER": 2 / 10})


@pytest.mark.parametrize(
    ("word", "reason"),
    [("", "is empty"), ("caf\u00e9", "'\u00e9'"), ("b2b", "'2'"), ("two words", "' '"), ("a" * 500, "500 letters")],
)
def test_words_that_cannot_be_read_are_named(as_a_user, word, reason):
    with pytest.raises(ValueError, match=reason) as caught:
        pronounce(Reader(), ["cat", word])
    assert len(str(caught.value)) < 150
    assert require_word("KnighT") == "knight"


def small_transformer():
    torch.manual_seed(4)
    config = TransformerConfig(len(SPELLING), len(SOUNDS), num_layers=2, d_model=8, d_ff=12, num_heads=4, max_len=64)
    return Transformer(config).eval()


@pytest.mark.parametrize("decode", [None, beam_5])
def test_alignment_of_a_transformer_is_the_mean_of_what_decoding_saw(decode):
    model = small_transformer()
    model.generator.bias.data[2] = 1.0  # let it come to an end now and then
    found = align(model, "Knight", **({"decode": decode} if decode else {}))
    state = model.start_decoding(SPELLING.batch(["knight"]), max_len=MAX_PHONEMES)
    total, token = 0.0, 1
    with record_attention(model) as seen:
        for sound in found.sounds:
            log_probs, state = model.decode_step(state, torch.tensor([token]))
            token = SOUNDS.symbols.index(sound)
            total += log_probs[0, token].item()
    layers = [torch.cat(seen.calls(f"decoder_layers.{i}.cross_attention"), dim=2) for i in range(2)]  # (1, H, L_t, L_s)
    weights = torch.cat(layers).mean(dim=(0, 1))  # (L_t, L_s)
    torch.testing.assert_close(found.weights, weights)
    assert found.probability == pytest.approx(torch.tensor(total).exp().item(), rel=1e-4)
    assert "<pad>" not in found.sounds
