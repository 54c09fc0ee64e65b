"""Pad a batch."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.shapes import same
from ...symptoms.view import Told


def pad_batch(
    sequences, pad_id, *, order=same, length=lambda sequences: max(map(len, sequences)),
    row=lambda ids, pads: ids + pads, mend=lambda ids, pad_id: ids,
):  # fmt: skip
    """One row a sequence, each as long as ``length`` says."""
    longest = length(sequences)
    rows = [row(ids[:longest], [pad_id] * (longest - len(ids))) for ids in order(sequences)]
    return mend(torch.tensor(rows), pad_id)


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [Case(sequences=[[5, 3], [7]], pad_id=0)]
    for digits, low, pad in (("3524", 1, 0), ("16", 0, 9), ("44", 2, 1), ("3", 2, 1), ("3524", 1, -1)):
        ids = [torch.randint(low, 30 if low else 9, (int(n),), generator=rng).tolist() for n in digits]
        cases.append(Case(*["0 is an ordinary token"] * (not low), sequences=[[0, 4]] * (not low) + ids, pad_id=pad))
    return cases


def _rows_of_unequal_length(view):
    unequal = ("expected sequence of length", "expects each tensor to be equal size", "inhomogeneous")
    if not any(text in view.cases[view.first].get("message", "") for text in unequal):
        return None
    said = "rows of unequal length are made into one tensor: some are not yet filled up, or not to the longest length."
    return Told("symptom", "rows of unequal length", said, "fill every list up to the largest of all lengths.")


EXERCISE = Exercise(
    answer="pad_batch", cases=_cases, reference=pad_batch, returns=("ids",), symptoms=(_rows_of_unequal_length,),
    faults=(
        Fault("padded on the left", "the padding stands in front of the ids; here it belongs behind them.",
              "put the pad ids after each sequence: ids + [pad_id] * missing.", row=lambda ids, pads: pads + ids),
        Fault("zeros replaced", "every 0 is replaced by pad_id, which also changes tokens whose id is 0.",
              "fill with pad_id from the start.", mend=lambda ids, pad_id: ids.masked_fill(ids == 0, pad_id)),
        Fault("cut to the shortest", "every sequence cut to the length of the shortest: tokens are lost.",
              "take the longest length, max, and fill the shorter ones up.", length=lambda s: min(map(len, s))),
        Fault("length of the first", "every sequence is brought to the length of the first, not of the longest.",
              "take the maximum over all lengths.", length=lambda s: len(s[0])),
        Fault("length of max(sequences)", "max(sequences) is the list that sorts last, not the longest one.",
              "take the maximum of the lengths: max(len(ids) for ids in sequences).", length=lambda s: len(max(s))),
        Fault("one too long", "one pad id too many at the end of every row, the longest included.",
              "the longest sequence needs no padding: L is its length.", length=lambda s: max(map(len, s)) + 1),
        Fault("last id repeated", "the last id of each sequence repeated, as if the sentence went on.",
              "fill up with pad_id.", row=lambda ids, pads: ids + ids[-1:] * len(pads)),
        Fault("longest first", "the sequences are sorted by length, the longest first.",
              "keep the rows in the order of the list.", order=lambda s: sorted(s, key=len, reverse=True)),
    ), advice="print the lengths of the sequences and their maximum; each row needs maximum minus its own length pads.",
)  # fmt: skip
