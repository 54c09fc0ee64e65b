"""Greedy decoding."""

from collections import namedtuple

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from .symptoms import endless

VOCAB = 9
S, E, P = "start", "end", "pad"
Ids = namedtuple("Ids", "start end pad")  # the three special symbols


def _cases(seed):
    """What each row says, 0 for any ordinary symbol; after that ordinary symbols follow."""
    rng = torch.Generator().manual_seed(seed)
    return [
        _case(rng, 2, Ids(1, 2, 0), [[0, 0, E]], 6),
        _case(rng, 3, Ids(4, 0, 3), [[0, 0, E], [0, 0, 0, 0, E], [0, E], [0, 0, 0, E]], 7),
        _case(rng, 3, Ids(5, 7, 2), [[E], [0, 0, 0, E], [0, E], [0, 0, E]], 7),
        _case(rng, 5, Ids(2, 5, 1), [[0, 0, E], [], [0] * 4 + [E]], 5, "a row has not ended after `max_len` steps"),
        _case(rng, 4, Ids(3, 8, 6), [[0, P, 0, E], [P, 0, E]], 6, "the padding symbol is said before the end"),
        _case(rng, 4, Ids(3, 8, 6), [[0, E], [0, 0, P, P]], 4, "padding is the last thing that is said"),
        _case(rng, 4, Ids(3, 8, 6), [[0, S, 0, E], [S, 0, E]], 6, "the start symbol is said before the end"),
        _case(rng, 4, Ids(3, 3, 6), [[0, 0, E], [0, E]], 5, "the start symbol is the end symbol too"),
    ]


def _case(rng, L_s, ids, rows, max_len, *labels):
    ordinary = torch.tensor([i for i in range(VOCAB) if i not in ids])
    script = ordinary[torch.randint(0, len(ordinary), (len(rows), max_len + 2), generator=rng)]
    for line, row in zip(script, rows, strict=True):
        for step, symbol in enumerate(row):
            if symbol:
                line[step] = getattr(ids, symbol)
    source = torch.randint(1, VOCAB, (len(rows), L_s), generator=rng)
    source[:, 0] = 1 + torch.randperm(VOCAB - 1, generator=rng)[: len(rows)]  # tells which row it is
    noise = torch.randn(VOCAB, VOCAB, generator=rng).clamp(-1.5, 1.5)
    named = {"start_id": ids.start, "end_id": ids.end, "pad_id": ids.pad}
    return Case(*labels, source=source, max_len=max_len, **named, _script=script, _noise=noise)


def _greedy(
    model, source, max_len, start_id, end_id, pad_id, *,
    assume=lambda ids: ids, steps=lambda most: most, feed=lambda said: said, begin=1,
    choose=lambda logits, ids: logits[:, -1].argmax(-1),
    fill=lambda tokens, ended, said, ids: tokens.masked_fill(ended, ids.pad),
    ends=lambda tokens, ids: tokens == ids.end,
    ended_before=lambda said, ids: torch.zeros(len(said), dtype=torch.bool),
    stop=lambda ended, now: ended.all(), finish=lambda said, ids: said,
):  # fmt: skip
    """Batched greedy decoding."""
    ids = assume(Ids(start_id, end_id, pad_id))
    said = torch.full((len(source), 1), ids.start)
    ended = ended_before(said, ids)
    for _ in range(steps(max_len)):
        tokens = fill(choose(model(source, feed(said)), ids), ended, said, ids)
        said = torch.cat((said, tokens[:, None]), dim=1)
        now = ends(tokens, ids)
        ended = ended | now
        if stop(ended, now):
            break
    return finish(said[:, begin:], ids)


def _never(logits, symbol):
    return logits[:, -1].index_fill(-1, torch.tensor(symbol), -torch.inf).argmax(-1)


def _trimmed(said, ids):
    return said[:, : int((said != ids.pad).any(0).nonzero().max()) + 1]


def _end_forced(said, ids):
    last = torch.where((said == ids.end).any(1), said[:, -1], ids.end)
    return torch.cat((said[:, :-1], last[:, None]), dim=1)


_ONLY = "only saying end_id ends a sequence; any other symbol may be said."
_KEEP = "remember which sequences have ended, ended = ended | (tokens == end_id), and give those pad_id."
_STOP = "go on until ALL have ended, each at its own step, and no longer."
_SAID = "return what was said, end symbols included, and nothing else: L_out is the number of steps that were needed."

_FAULTS = (
    *faults_of("stop", _STOP,
        ("stops with the first", "decoding stops as soon as one sequence has ended; the others are cut off.",
         lambda ended, now: ended.any()),
        ("never stops", "max_len symbols are said whatever happens, also when all sequences have ended.",
         lambda ended, now: False),
        ("stops when all end at once", "decoding stops only if all sequences end in the same step.",
         lambda ended, now: now.all())),
    *faults_of("fill", _KEEP,
        ("ended sequences go on", "sequences that have ended go on talking while the others finish.",
         lambda tokens, ended, said, ids: tokens),
        ("end repeated", "after the end, the end symbol is repeated instead of padding.",
         lambda tokens, ended, said, ids: tokens.masked_fill(ended, ids.end)),
        ("looks one step back", "one padding symbol follows the end, then the sequence goes on talking.",
         lambda tokens, ended, said, ids: tokens.masked_fill((said[:, -1] == ids.end) & (said.shape[1] > 1), ids.pad)),
        ("looks one step back, at the start too", "one padding symbol follows each end_id, the start symbol included.",
         lambda tokens, ended, said, ids: tokens.masked_fill(said[:, -1] == ids.end, ids.pad))),
    *faults_of("finish", _SAID,
        ("end forced", "a sequence that did not end within max_len got an end symbol in its last place.", _end_forced),
        ("end becomes padding", "the end symbol was replaced by padding.",
         lambda said, ids: said.masked_fill(said == ids.end, ids.pad)),
        ("padding trimmed", "columns at the end that hold nothing but padding are cut off, though they were said.", _trimmed),
        ("last step left out", "where all have ended, the symbols of the last step are missing: the loop ends before they are "
         "appended.", lambda said, ids: said[:, :-1] if (said == ids.end).any(1).all() else said),
        ("lists", "lists of different lengths.", lambda said, ids: [[i for i in row if i != ids.pad] for row in said.tolist()],
         "return one tensor (B, L_out), short sequences padded with pad_id.")),
    *faults_of("ends", _ONLY,
        ("padding ends", "a sequence that says pad_id of its own accord counts as ended.",
         lambda tokens, ids: (tokens == ids.end) | (tokens == ids.pad)),
        ("start ends", "a sequence that says start_id counts as ended.",
         lambda tokens, ids: (tokens == ids.end) | (tokens == ids.start))),
    *faults_of("choose", _ONLY,
        ("padding never said", "pad_id is never chosen, though it may be the most probable.",
         lambda logits, ids: _never(logits, ids.pad)),
        ("neither said", "start_id and pad_id are never chosen, though one may be the most probable.",
         lambda logits, ids: _never(logits, [ids.start, ids.pad])),
        ("first position read", "the prediction is read at position 0 at every step.",
         lambda logits, ids: logits[:, 0].argmax(-1), "read it at the LAST position: logits[:, -1]."),
        ("least probable", "the least probable symbol is taken.", lambda logits, ids: logits[:, -1].argmin(-1),
         "take the largest logit: argmax."),
        ("drawn at random", "symbols are drawn at random by their probability.",
         lambda logits, ids: logits[:, -1].softmax(-1).multinomial(1)[:, 0], "take the most probable one, argmax.")),
    Fault("start looked at", "the end symbol is looked for in the start symbol too: where both are one, all end at once.",
        "look at what was said, not at what was given.", ended_before=lambda said, ids: said[:, 0] == ids.end),
    Fault("start kept", "the start symbol stands at the front of the output.", _SAID, begin=0),
    *faults_of("steps", "up to max_len symbols may be said AFTER the start symbol, the end symbol included.",
        ("one step fewer", "one step too few: the start symbol was counted as one of max_len.", lambda most: most - 1),
        ("one step more", "one step too many.", lambda most: most + 1)),
    Fault("last symbol only", "the model gets only the last symbol; it forgets what it said before.",
        "feed all symbols so far, the start symbol first.", feed=lambda said: said[:, -1:]),
    *faults_of("assume", "use start_id, end_id and pad_id; each vocabulary has its own.",
        ("start id 1 assumed", "decoding begins with 1, whatever start_id says.", lambda ids: ids._replace(start=1)),
        ("end id 2 assumed", "2 is taken for the end symbol, whatever end_id says.", lambda ids: ids._replace(end=2))),
)  # fmt: skip

EXERCISE = Exercise(
    answer="greedy", cases=_cases, reference=_greedy, returns=("tokens",), faults=_FAULTS, symptoms=(endless,),
    advice="decode by hand for two steps: what goes into the model, and at which position is the answer read?",
)  # fmt: skip
