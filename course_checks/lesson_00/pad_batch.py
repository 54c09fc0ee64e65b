"""0.2 · Pad a batch."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import stops_with


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = [Case(sequences=[[5, 3], [7]], pad_id=0)]
    for lengths, lowest, pad in (("3524", 1, 0), ("16", 0, 9), ("44", 2, 1), ("3", 2, 1), ("3524", 1, -1)):
        highest = 30 if lowest else 9
        ids = [torch.randint(lowest, highest, (int(n),), generator=rng).tolist() for n in lengths]
        if lowest:
            made.append(Case(sequences=ids, pad_id=pad))
        else:
            made.append(Case("0 is an ordinary token", sequences=[[0, 4], *ids], pad_id=pad))
    return made


EXERCISE = Exercise(
    cases,
    returns=("ids",),
    off_limits=(
        *("torch.nn.utils.rnn.pad_sequence", "torch._C._nn.pad_sequence", "course_utils.tokenizers.pad"),
        *("torch.nested.to_padded_tensor", "torch.Tensor.to_padded_tensor"),
    ),
    advice="print the lengths of the sequences and their maximum; each row needs maximum minus its own length pads.",
    symptoms=(
        stops_with(  # however the rows are joined, PyTorch and NumPy stop
            ("expected sequence of length", "expects each tensor to be equal size", "inhomogeneous"),
            "rows of unequal length are made into one tensor: some are not filled up to the longest length.",
            "print the length of every row right before that line; all must be the largest of all lengths.",
            "rows of unequal length",
        ),
    ),
)
