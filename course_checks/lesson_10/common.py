"""What several exercises of lesson 10 share: what is off limits, padded ids, what is seen in their answers."""

import torch

from ..deciding.wrong_answer import symptom
from ..running.encode import decode

MASKS = (
    *(f"course_utils.masks.{name}" for name in ("padding_mask", "causal_mask", "combine_masks", "sliding_window_mask")),
    "course_utils.widgets.mask_composer.compose_mask",
)
LOGS = "give the logits themselves to log_softmax over the last axis; it is exact however small a probability is."


def padded(rng, lengths, longest, vocab, pad_id, low=0):
    """Rows of random ids from ``low`` to ``vocab - 1`` (never ``pad_id``), each padded on the right to ``longest``."""
    ids = torch.randint(low, vocab - 1, (len(lengths), longest), generator=rng)
    ids = ids + (ids >= pad_id) * (low <= pad_id < vocab)
    for row, length in zip(ids, lengths, strict=True):
        row[length:] = pad_id
    return ids


def no_gradient(answer):
    """The values are right, but gradients do not reach the parts that they should."""
    parts = answer.parts()
    if [part.name.split()[0] for part in parts] not in (["gradient"], ["gradients"]):
        return None
    expected, actual = decode(parts[0].pairs[0].expected), decode(parts[0].pairs[0].actual)
    if not isinstance(expected, dict):
        expected, actual = {"the model": expected}, {"the model": actual}
    cut = [name for name in expected if name in actual and expected[name].any() and not actual[name].any()]
    looks_like = f"the values are right, but no gradient reaches {' and '.join(cut)}: nothing could be learned there."
    advice = "leave out detach, torch.no_grad, .item() and .data; return the tensor itself."
    return symptom(looks_like, advice, "no gradient") if cut else None
