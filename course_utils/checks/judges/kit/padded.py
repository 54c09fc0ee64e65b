"""Batches of padded ids, and the two masks that hide padding and the future."""

import torch


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
