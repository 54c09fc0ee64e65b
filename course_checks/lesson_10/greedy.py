"""10.6 · Greedy decoding."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import DECODING
from ..deciding.wrong_answer import stops_with
from ..running.drivers.lesson_10 import weighed

VOCAB = 9
S, E, P = "start_id", "end_id", "pad_id"


def cases(seed):
    """What each row says, 0 for any ordinary symbol; after that ordinary symbols follow. The driver gets a code of it."""
    rng = torch.Generator().manual_seed(seed)

    def case(L_s, start, end, pad, rows, max_len, *labels):
        ids = {S: start, E: end, P: pad}
        ordinary = torch.tensor([i for i in range(VOCAB) if i not in ids.values()])
        script = ordinary[torch.randint(0, len(ordinary), (len(rows), max_len + 2), generator=rng)]
        for line, row in zip(script, rows, strict=True):
            for step, symbol in enumerate(row):
                if symbol:
                    line[step] = ids[symbol]
        source = torch.randint(1, VOCAB, (len(rows), L_s), generator=rng)
        source[:, 0] = 1 + torch.randperm(VOCAB - 1, generator=rng)[: len(rows)]  # tells which row it is
        given = torch.cat((torch.full((len(rows), 1), start), script[:, :-1]), dim=1)  # what it gets before each symbol
        driver = {
            "codes": (script - weighed(given)) % VOCAB,
            "noise": torch.randn(VOCAB, VOCAB, generator=rng).clamp(-1.5, 1.5),
        }
        return Case(*labels, driver=driver, source=source, max_len=max_len, **ids)

    return [
        case(2, 1, 2, 0, [[0, 0, E]], 6),
        case(3, 4, 0, 3, [[0, 0, E], [0, 0, 0, 0, E], [0, E], [0, 0, 0, E]], 7),
        case(3, 5, 7, 2, [[E], [0, 0, 0, E], [0, E], [0, 0, E]], 7),
        case(5, 2, 5, 1, [[0, 0, E], [], [0] * 4 + [E]], 5, "a row has not ended after `max_len` steps"),
        case(4, 3, 8, 6, [[0, P, 0, E], [P, 0, E]], 6, "the padding symbol is said before the end"),
        case(4, 3, 8, 6, [[0, E], [0, 0, P, P]], 4, "padding is the last thing that is said"),
        case(4, 3, 8, 6, [[0, S, 0, E], [S, 0, E]], 6, "the start symbol is said before the end"),
        case(4, 3, 3, 6, [[0, 0, E], [0, E]], 5, "the start symbol is the end symbol too"),
    ]


EXERCISE = Exercise(
    cases,
    returns=("tokens",),
    driver="drive_greedy",
    off_limits=DECODING,
    symptoms=(
        stops_with(
            "what stops your loop?",
            "the model is still asked for symbols after max_len steps.",
            "count the steps, and stop after max_len of them, or when all have ended.",
        ),
        stops_with(
            "it needs ids of shape",
            "what the model is given is no batch of ids: two axes, a row for each sequence, and whole numbers.",
            "print shape and dtype of both right before the call.",
        ),
    ),
    pairs=80,
    advice="decode by hand for two steps: what goes into the model, and at which position is the answer read?",
)
