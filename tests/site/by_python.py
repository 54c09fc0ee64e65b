"""What Python says, to be compared with the live page."""

from collections.abc import Sequence

import torch

from course_utils import pretrained
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING


@torch.no_grad()
def probability(word: str, sounds: Sequence[str]) -> float:
    """Of a pronunciation as a whole, its end counted."""
    target = SOUNDS.batch([sounds], start=True, end=True)  # (1, L_t + 1)
    log_probs = pretrained.load("transformer")(SPELLING.batch([word]), target[:, :-1]).log_softmax(-1)  # (1, L_t, V)
    return log_probs.gather(-1, target[:, 1:, None]).sum().exp().item()
