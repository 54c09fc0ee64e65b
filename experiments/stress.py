"""Stress as a second thing to learn while a model learns to pronounce: which vowel a word leans on decides many others.

The model has to know the stress to say it, and what it knows helps it to choose the vowels. The layer that says it is
thrown away after training: what is kept is a Transformer like any other.

Shape letters: ``B`` batch, ``L_s`` source and ``L_t`` target positions, ``V`` sounds, ``V_M`` sounds and marks.

Source:
    Caruana, "Multitask Learning", 1997.
"""

from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_utils.datasets.batches import Batch, Pair
from course_utils.datasets.pronunciations import Pronunciation, stress
from course_utils.masks import padding_mask
from course_utils.models import Transformer
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING
from course_utils.tokenizers import PAD_ID
from course_utils.training import label_smoothing_loss

MARKS = ("", "0", "1", "2")  # a consonant's, then those of the vowels


class WithStress(nn.Module):
    """A Transformer that also tells the stress of each sound it says."""

    def __init__(self, pronouncer: Transformer) -> None:
        super().__init__()
        self.pronouncer = pronouncer
        self.stress_generator = nn.Linear(pronouncer.config.d_model, len(MARKS))

    def forward(self, source: Int[Tensor, "B L_s"], target: Int[Tensor, "B L_t"]) -> Float[Tensor, "B L_t V_M"]:
        """Logits of the sound after each target position, and behind them those of its stress."""
        mask = padding_mask(source, self.pronouncer.config.pad_id)  # (B, 1, 1, L_s)
        memory = self.pronouncer.encode(source, mask)  # (B, L_s, d_model)
        hidden = self.pronouncer.decode(target, memory, memory_mask=mask)  # (B, L_t, d_model)
        return torch.cat((self.pronouncer.generator(hidden), self.stress_generator(hidden)), dim=-1)


def encode_with_stress(words: Mapping[str, Sequence[Pronunciation]]) -> list[Pair]:
    """As ``encode_pairs``, but an id of the target is ``sound + len(SOUNDS) * mark``, which tells both."""
    marks, pairs = stress(), []
    for word, accepted in words.items():
        for sounds in accepted:
            ids = SOUNDS.encode(sounds, start=True, end=True)
            places = [MARKS.index(mark) for mark in ("", *marks[word, sounds], "")]
            both = [i + len(SOUNDS) * place for i, place in zip(ids, places, strict=True)]
            pairs.append((SPELLING.encode(word), both))
    return pairs


def loss_with_stress(model: nn.Module, batch: Batch, *, smoothing: float, weight: float) -> Float[Tensor, ""]:
    """The loss of the sounds, its labels smoothed, and ``weight`` times that of their stress; ``model`` is a ``WithStress``."""
    sounds, marks = batch.target % len(SOUNDS), batch.target // len(SOUNDS)  # (B, L_t + 1) both
    wanted = sounds[:, 1:]  # (B, L_t)
    logits = model(batch.source, sounds[:, :-1]).split((len(SOUNDS), len(MARKS)), dim=-1)  # (B, L_t, V), (B, L_t, 4)
    stressed = marks[:, 1:].masked_fill(wanted == PAD_ID, -1)  # (B, L_t)
    of_stress = F.cross_entropy(logits[1].flatten(0, 1), stressed.flatten(), ignore_index=-1)
    return label_smoothing_loss(logits[0], wanted, smoothing=smoothing) + weight * of_stress
