"""Batches of padded ids, the two masks that hide padding and the future, and padding that is attended to."""

import torch

from ..symptoms.view import Told, as_numbers


def padded(rng, lengths, longest, vocab, pad_id, low=0):
    """Rows of random ids from ``low`` to ``vocab - 1`` (never ``pad_id``), each padded on the right to ``longest``."""
    ids = torch.randint(low, vocab - 1, (len(lengths), longest), generator=rng)
    ids = ids + (ids >= pad_id) * (low <= pad_id < vocab)
    for row, length in zip(ids, lengths, strict=True):
        row[length:] = pad_id
    return ids


def keys(real):
    """``(B, L)``, one boolean for each id, as a mask over keys: ``(B, 1, 1, L)``."""
    return real[:, None, None, :]


def past(length, diagonal=0):
    """``(L, L)``: True where the key is not later than the query (by more than ``diagonal``)."""
    return torch.ones(length, length, dtype=torch.bool).tril(diagonal)


def _last(value):
    return value["value"][-1] if value["kind"] == "tuple" and value["value"] else value


def padding_keeps_weight(view):
    """The real letters share as they should, but padding has a share as well. The weights are returned last, or alone."""
    most = 0.0
    for index in view.wrong:
        want, have = view.expected[index], view.cases[index]
        if have["outcome"] != "returned" or have["value"]["kind"] != want["value"]["kind"]:
            return None
        right, given = (as_numbers(_last(case["value"])) for case in (want, have))
        if given is None or given.shape != right.shape:
            return None
        real = given * view.inputs[index]["mask"]
        some = real.sum(-1) > 1e-12  # where the padding takes all there is nothing to compare
        if not torch.allclose(real[some] / real[some].sum(-1, keepdim=True), right[some], atol=1e-3):
            return None
        most = max(most, float((given - real).sum(-1).max()))
    if most < 1e-6:
        return None
    said = f"padding keeps weight, up to {100 * most:.3g} % of a word's; the real letters share the rest rightly."
    advice = "hide the padding's scores before the softmax with float('-inf'): other numbers may be too high."
    return Told("symptom", "padding keeps weight", said, advice)
