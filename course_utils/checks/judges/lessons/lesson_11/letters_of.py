"""One letter for each sound: a mean over layers and heads, one row less, one argmax."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of


def _letters(
    weights, *, join=lambda w: w.mean(dim=(0, 1)), rows=lambda table: table[:-1],
    columns=lambda table: table, choose=lambda table: table.argmax(-1),
):  # fmt: skip
    return choose(columns(rows(join(weights))))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = (
        (1, 1, 3, 4), (1, 3, 4, 3), (3, 1, 4, 6), (2, 3, 5, 7), (4, 2, 9, 6), (3, 4, 8, 11), (2, 3, 5, 7), (2, 5, 10, 12),
        (2, 2, 2, 3),  # a single sound
    )  # fmt: skip
    drawn = [1.7 * torch.randn(*size, generator=rng) for size in sizes]
    return [Case(weights=w.softmax(-1)) for w in (*drawn, torch.randn(2, 2, 6, 5, generator=rng, dtype=torch.float64))]


_MEAN = "take the mean over the heads and the layers, mean(dim=(0, 1)), then the argmax."

EXERCISE = Exercise(
    answer="letters_of", cases=_cases, reference=_letters, returns=("letters",),
    faults=(
        *faults_of("rows", "leave out the last row, the end symbol, and no other.",
            ("end symbol kept", "the end symbol has a letter too.", lambda table: table),
            ("first sound left out", "the first row is left out instead of the last.", lambda table: table[1:])),
        Fault("last letter left out", "the last letter of the word is left out: no sound can look at it.",
            "cut the rows only: table[:-1].", columns=lambda table: table[:, :-1]),
        *faults_of("choose", "each row is a sound; take the argmax along the row, dim=-1.",
            ("best sound of each letter", "for each letter the sound that looks at it most.", lambda table: table.argmax(0)),
            ("least weight", "the letter with the least weight.", lambda table: table.argmin(-1)),
            ("never back", "no sound gets a letter before that of an earlier sound; the weights may go back.",
                lambda table: table.argmax(-1).cummax(0).values),
            ("weights of the letters", "the largest weights themselves, not their places.", lambda table: table.amax(-1)),
            ("list", "a Python list, where a tensor should be.", lambda table: table.argmax(-1).tolist()),
            ("mean place", "the average place of the weights, not the place of the largest.",
                lambda table: (table * torch.arange(table.shape[1])).sum(-1).round().long())),
        *faults_of("join", _MEAN,
            ("first head only", "the first head of each layer only.", lambda w: w[:, 0].mean(0)),
            ("first layer only", "the first layer only.", lambda w: w[0].mean(0)),
            ("last layer only", "the last layer only.", lambda w: w[-1].mean(0)),
            ("one head of one layer", "the first head of the last layer only.", lambda w: w[-1, 0]),
            ("first head of the first layer", "the first head of the first layer only.", lambda w: w[0, 0]),
            ("largest of all heads", "the largest weight of any head: one sure head wins.", lambda w: w.amax((0, 1))),
            ("largest of the layers", "the mean over the heads, but the largest over the layers.", lambda w: w.mean(1).amax(0)),
            ("product of all heads", "the heads are multiplied: one can rule a letter out.", lambda w: w.log().sum((0, 1))),
            ("vote of the heads", "the most frequent argmax of the heads: how sure a head is was lost.",
                lambda w: torch.nn.functional.one_hot(w.argmax(-1), w.shape[-1]).sum((0, 1))),
            ("axes mixed up by reshape", "a reshape brings the sounds to the front: the numbers stand in other places.",
                lambda w: w.reshape(w.shape[2], w.shape[3], -1).mean(-1))),
        Fault("mean of the heads' choices", "the mean of the heads' choices: it may be a letter that nobody looked at.", _MEAN,
            whole=lambda w: w.argmax(-1).float().mean((0, 1)).round().long()[:-1]),
        Fault("layers left", "one row for each layer: the mean over the layers is missing.", _MEAN,
            whole=lambda w: w.mean(1).argmax(-1)[:, :-1]),
    ),
    advice="print the shape after each step: (layers, heads, L_t, L_s), then (L_t, L_s), then (L_t - 1,).",
)  # fmt: skip
