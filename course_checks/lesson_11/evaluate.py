"""11.6 · Find the bug."""

import itertools

import torch

from ..deciding.exercise import Case, Exercise
from .common import SEARCHES

ODD = {  # kind of word: at which step which symbol's scores are raised, and by how much
    "silent": [(1, "end", 40.0)],
    "early": [(1, "end", -40.0), (2, "end", 40.0)],
    "endless": [(slice(None), "end", -40.0)],
    "start again": [(1, "end", -40.0), (2, "start", 60.0)],
}


def case(rng, *labels, V, start_id, end_id, kinds, max_len):
    """A model that is right most of the time, and odd in the words of some kinds."""
    table = torch.randn(len(kinds), max_len + 2, V + 1, V + 1, V, generator=rng)
    table[..., start_id] -= 9.0
    symbols = [s for s in range(V) if s not in (start_id, end_id)]
    references = []
    for word, kind in enumerate(kinds):
        length = int(torch.randint(2, max_len - 2, (), generator=rng))
        sounds = [symbols[i] for i in torch.randint(len(symbols), (length,), generator=rng)]
        if kind == "ahead":  # it leaves out the first sound: few edits, though no place agrees
            sounds = (symbols * 3)[: max_len - 2]
        for t, (before, after) in enumerate(itertools.pairwise([start_id, *sounds, end_id]), 1):
            table[word, t, :, before, after] += 5.0 if torch.rand((), generator=rng) < 0.75 else -5.0
            if kind == "ahead":
                table[word, t, ..., [*sounds[1:], end_id, end_id][t - 1]] += 40.0
        for t, symbol, more in ODD.get(kind, ()):
            table[word, t, ..., {"start": start_id, "end": end_id}[symbol]] += more
        references.append(sounds[:1] if kind == "endless" else sounds)
    arguments = {"references": references, "start_id": start_id, "end_id": end_id, "max_len": max_len}
    return Case(*labels, driver={"step": table}, **arguments)


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    return [
        case(rng, V=6, start_id=1, end_id=2, kinds=[None] * 2, max_len=6),
        case(rng, "a word does not end by itself", V=6, start_id=1, end_id=2, kinds=["endless"], max_len=5),
        case(rng, "the model says nothing of a word", V=7, start_id=0, end_id=6, kinds=["silent", None], max_len=7),
        case(rng, "the model says the start symbol", V=7, start_id=3, end_id=0, kinds=["start again", None], max_len=7),
        case(rng, "the model leaves out a sound", V=8, start_id=7, end_id=0, kinds=["ahead", None], max_len=8),
        case(rng, "the model ends early", V=8, start_id=4, end_id=5, kinds=["early", "early", None], max_len=7),
        case(rng, V=8, start_id=7, end_id=0, kinds=[None] * 4, max_len=8),
        case(rng, V=9, start_id=2, end_id=5, kinds=["ahead", "endless", *[None] * 4], max_len=9),
    ]


EXERCISE = Exercise(
    cases,
    returns=("phoneme error rate", "what was said"),
    driver="drive_decoding",
    off_limits=SEARCHES,
    pairs=120,
    advice="of one word print what step is given each time, what was said, its edits, and the length of its reference.",
)
