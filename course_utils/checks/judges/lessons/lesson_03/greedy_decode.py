"""Greedy decoding with an end symbol."""

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...symptoms.view import Told

# (steps at which the rows say the end symbol, V, (start, end, pad), max_len, what rows say otherwise, labels)
OWN_PADDING = "the model itself says `pad_id` or `start_id`"
CASES = (
    ((2,), 5, (1, 2, 0), 6, (), ()),
    ((4, 2, 0), 8, (1, 2, 0), 9, (), ()),
    ((1, 5, 3, 9), 9, (3, 7, 5), 6, ((1, 2, "pad"), (3, 1, "start")), (OWN_PADDING,)),
    ((6, 9), 7, (6, 0, 4), 5, (), ("no row ends",)),
    ((0, 1), 7, (2, 4, 6), 8, (), ()),
    ((1, 9), 7, (5, 3, 2), 4, ((1, 3, "pad"),), (OWN_PADDING,)),
    ((4, 2, 0), 8, (1, 2, 0), 9, (), ()),  # sizes seen before, other numbers
)


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    return [_case(rng, *some) for some in CASES]


def _case(rng, stops, V, special, max_len, says, labels):
    start_id, end_id, pad_id = special
    B, steps = len(stops), max_len + 2
    table = torch.randn(B, steps, V, V, generator=rng)  # scores by row, step, last symbol
    table[..., list(special)] -= 20.0  # nothing special, except at the chosen steps
    for row, stop in enumerate(stops):
        for again in {stop, stop + 2}:
            if again < steps:
                table[row, again, :, end_id] += 60.0
    for row, step, name in says:
        table[row, step, :, pad_id if name == "pad" else start_id] += 60.0
    state = torch.stack((torch.arange(B), torch.zeros(B, dtype=torch.long)), dim=1)  # row, steps made
    return Case(*labels, state=state, start_id=start_id, end_id=end_id, pad_id=pad_id, max_len=max_len, _table=table)


def _greedy_decode(
    step, state, start_id, end_id, pad_id, max_len, *, rule_out=lambda scores, start, pad: scores,
    pick=lambda scores: scores.argmax(-1), advance=lambda old, new: new,
    fill=lambda best, ended, pad: best.masked_fill(ended, pad), says_end=lambda best, end, pad: best == end,
    record=lambda ends, says_end: ends + says_end, store=lambda tokens, ended, pad: tokens,
    feed=lambda first, new: new, stop=lambda ends, now: (ends > 0).all(), finish=lambda tokens, start: tokens,
    steps=lambda max_len: max_len,
):  # fmt: skip
    tokens = begin = torch.full((len(state),), start_id)
    ends = torch.zeros(len(state), dtype=torch.long)  # how often each row has said the end symbol
    output = []
    for _ in range(steps(max_len)):
        scores, after = step(tokens, state)
        state = advance(state, after)
        best = fill(pick(rule_out(scores, start_id, pad_id)), ends > 0, pad_id)
        now = says_end(best, end_id, pad_id)
        ends = record(ends, now.long())
        output.append(store(best, ends > 0, pad_id))
        tokens = feed(begin, best)
        if stop(ends, now):
            break
    return finish(torch.stack(output, dim=1), start_id)


def _goes_on(view):
    case = view.cases[view.first]
    if case["outcome"] != "raised" or not case["message"].startswith("step was called far more often"):
        return None
    said = "your loop goes on and on: some row never ends, or its end is not remembered, and max_len does not stop it."
    advice = "make at most max_len steps, for _ in range(max_len), and leave the loop earlier."
    return Told("symptom", "goes on", said, advice)


def _as_it_is(best, *_):
    return best


_REMEMBER = "keep a boolean for each row, ended = ended | (tokens == end_id), and give pad_id to rows that have ended."
_HIGHEST = "take the symbol with the highest score, whichever it is."

FAULTS = (
    Fault("end ignored", "the end symbol plays no part: symbols follow behind it, up to max_len.", _REMEMBER, fill=_as_it_is,
        stop=lambda ends, now: False),
    Fault("not padded", "decoding stops when all rows have ended, but rows that ended earlier go on until then.", _REMEMBER,
        fill=_as_it_is),
    Fault("not padded, all in one step", "rows that have ended go on without any padding, and the loop stops early only if all "
        "rows say the end symbol in the same step.", _REMEMBER, fill=_as_it_is, stop=lambda ends, now: now.all()),
    Fault("ends counted", "the ends are counted over all rows; nothing remembers which row has ended.", _REMEMBER,
        fill=_as_it_is, stop=lambda ends, now: ends.sum() >= len(ends)),
    Fault("ends not remembered", "the record of which rows have ended is made anew at every step: a row gets one padding, then "
        "goes on.", "keep what is known: ended = ended | (tokens == end_id).", record=lambda ends, says_end: says_end),
    Fault("padding ends a row too", "padding that the model itself says is taken for the end of the row.", "only end_id ends a "
        "row: keep a record, ended = ended | (tokens == end_id).",
        says_end=lambda best, end, pad: (best == end) | (best == pad)),
    Fault("special symbols ruled out", "pad_id and start_id can never be said: their scores are not looked at.", _HIGHEST,
        rule_out=lambda scores, start, pad: scores.index_fill(1, torch.tensor([start, pad]), -torch.inf)),
    *faults_of("stop", "stop when all rows have ended: ended.all().",
        ("never stops early", "rows that have ended get padding, but the loop always runs to max_len.", lambda ends, now: False),
        ("all in one step", "the loop stops early only if all rows end in the same step.", lambda ends, now: now.all()),
        ("stops at the first end", "decoding stops as soon as one row ends.", lambda ends, now: (ends > 0).any())),
    Fault("end symbol taken away", "the end symbol is replaced by padding too.", "keep the end symbol; the padding begins "
        "behind it.", store=lambda tokens, ended, pad: tokens.masked_fill(ended, pad)),
    Fault("start symbol kept", "the start symbol stands in front of the result.", "return what the model said only.",
        finish=lambda tokens, start: F.pad(tokens, (1, 0), value=start)),
    Fault("choice not fed back", "every step is given the start symbol: the model does not know what it has said.", "give the "
        "chosen symbols to the next step.", feed=lambda first, new: first),
    Fault("state not kept", "every step begins from the first state.", "pass the state that step hands back to the next call.",
        advance=lambda old, new: old),
    Fault("one step too few", "a result holds at most max_len - 1 symbols.", "make up to max_len steps.",
        steps=lambda max_len: max_len - 1),
    *faults_of("pick", "use argmax along the last axis: one choice for each row.",
        ("lowest score", "the symbol with the lowest score wins.", lambda scores: scores.argmin(-1)),
        ("one row's choice for all", "the first row's choice is given to every row.",
         lambda scores: scores[0].argmax(-1).expand(len(scores)))),
)  # fmt: skip

EXERCISE = Exercise(
    answer="greedy_decode", cases=_cases, reference=_greedy_decode, returns=("tokens",), faults=FAULTS, symptoms=(_goes_on,),
    advice="follow one row by hand: print the chosen symbols and your record of which rows have ended, step by step.",
)  # fmt: skip
