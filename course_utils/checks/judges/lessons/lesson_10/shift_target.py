"""Shift the target."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.padded import padded
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    batches = (((5, 7, 3), 7, 12, 0, 3), ((6, 6), 6, 12, 0, 3), ((2, 5, 4, 3), 5, 9, 7), ((4, 3, 6), 7, 9, 5))
    cases = [Case("the example", target=torch.tensor([[1, 5, 4, 2], [1, 6, 2, 0]]), pad_id=0)]
    return cases + [Case(target=padded(rng, *batch), pad_id=batch[3]) for batch in batches]


def _shifted(
    target, pad_id, *,
    given=lambda target, pad_id: target[:, :-1], labels=lambda target, pad_id: target[:, 1:],
    count=lambda x, y, pad_id, target: (y != pad_id).sum(),
    finish=lambda x, y, number, pad_id: (x, y, number),
):  # fmt: skip
    """What the decoder is given, what it is asked for, and how many labels count."""
    x, y = given(target, pad_id), labels(target, pad_id)
    return finish(x, y, count(x, y, pad_id, target), pad_id)


def _without_end(target, pad_id):
    last = torch.zeros_like(target).scatter(1, (target != pad_id).sum(1, keepdim=True) - 1, 1).bool()
    return target.masked_fill(last, pad_id)[:, :-1]


def _narrow(part):
    """The same of a target without the columns that hold nothing but padding."""
    return lambda target, pad_id: part(target[:, : int((target != pad_id).sum(1).max())])


_INPUT = "the input is everything but the LAST symbol, target[:, :-1]: it begins with the start symbol."
_LABELS = "the labels are everything but the FIRST symbol, target[:, 1:]: the start symbol is never asked for."
_COUNT = "count where the LABELS differ from pad_id: these are the positions of the loss."

_FAULTS = (
    *faults_of("labels", _LABELS,
        ("labels not shifted", "the labels lack the last symbol, not the first: they are not shifted.", lambda t, p: t[:, :-1]),
        ("whole labels", "the labels are the whole target: they still have the start symbol.", lambda t, p: t),
        ("rolled", "the labels are rolled around: the last one of each row is its start symbol.", lambda t, p: t.roll(-1, 1),
         "cut instead of rolling: the labels are one symbol shorter than target.")),
    *faults_of("given", _INPUT,
        ("input shifted", "the input lacks the first symbol, not the last: it holds what is to be guessed.",
         lambda t, p: t[:, 1:]),
        ("whole input", "the input is the whole target: it still has its last symbol.", lambda t, p: t),
        ("end symbol taken out", "in rows with padding the end symbol is taken out of the input, padding put in its place.",
         _without_end, "only the last column is cut off; what else stands in the input stays.")),
    Fault("backwards", "input and labels exchanged: the model is asked for the symbol before, not for the next one.",
        _INPUT, given=lambda t, p: t[:, 1:], labels=lambda t, p: t[:, :-1]),
    Fault("two steps", "shifted by two: the model is asked for the symbol after the next.",
        "both parts are one shorter than target.", given=lambda t, p: t[:, :-2], labels=lambda t, p: t[:, 2:]),
    Fault("columns of padding cut off", "the batch was cut to its longest row; columns of padding belong to both parts.",
        "cut one column, and leave the rest of target as it is.", given=_narrow(lambda t: t[:, :-1]),
        labels=_narrow(lambda t: t[:, 1:])),
    Fault("along the batch", "the batch was shifted instead of the positions: each sequence is asked for its neighbor.",
        "positions are axis 1: target[:, :-1].", given=lambda t, p: t[:-1], labels=lambda t, p: t[1:]),
    *faults_of("count", _COUNT,
        ("all labels counted", "the count is that of all labels, padding included.", lambda x, y, p, t: t[:, 1:].numel()),
        ("input counted", "the count is that of the input's real symbols. In rows that are padded that is one more.",
         lambda x, y, p, t: (x != p).sum()),
        ("whole target counted", "the count is that of the whole target: start symbols count, though never asked for.",
         lambda x, y, p, t: (t != p).sum()),
        ("end symbols not counted", "the count leaves out one label of each row, its end symbol.",
         lambda x, y, p, t: (t[:, 1:] != p).sum() - len(t), "the end symbol is asked for too: it counts."),
        ("padding counted", "the count is that of the padding.", lambda x, y, p, t: (y == p).sum()),
        ("counted row by row", "one count for each row.", lambda x, y, p, t: (y != p).sum(1),
         "one number for the whole batch: sum over both axes.")),
    *faults_of("finish", "return decoder_input, labels, count: padding in the labels as it is.",
        ("-100 for padding", "padding in the labels is replaced by -100.",
         lambda x, y, n, p: (x, y.masked_fill(y == p, -100), n)),
        ("count missing", "the count is missing.", lambda x, y, n, p: (x, y))),
)  # fmt: skip

EXERCISE = Exercise(
    answer="shift_target", cases=_cases, reference=_shifted, returns=("decoder_input", "labels", "count"),
    faults=_FAULTS,
    advice="print one row of each: the label at position t must be the input at position t + 1.",
)  # fmt: skip
