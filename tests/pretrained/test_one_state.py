"""What lesson 03 shows by exchanging one state of the shipped speller: which sound comes next hangs on it."""

from dataclasses import replace

import pytest
import torch

from course_utils import pretrained
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING
from course_utils.tokenizers import START_ID

SO_FAR = "R EH K AH G N IH".split()


@pytest.mark.parametrize(
    ("word", "other", "sound"),
    [
        ("recognition", None, "SH"),
        ("recognition", "recognit", "T"),
        ("recognit", None, "T"),
        ("recognit", "recognition", "SH"),
    ],
)
def test_the_state_at_the_t_decides_between_sh_and_t(word, other, sound):
    model = pretrained.load("recurrent_attention")
    with torch.no_grad():
        state = model.start_decoding(SPELLING.batch([word]))
        if other is not None:
            states = state.encoded.states.clone()
            states[0, 7] = model.encoder(SPELLING.batch([other])).states[0, 7]
            state = replace(state, encoded=state.encoded._replace(states=states))
        for token in [START_ID, *SOUNDS.encode(SO_FAR)]:
            log_probs, state = model.decode_step(state, torch.tensor([token]))
    assert SOUNDS.symbols[log_probs[0].argmax()] == sound and log_probs[0].max().exp() > 0.9
