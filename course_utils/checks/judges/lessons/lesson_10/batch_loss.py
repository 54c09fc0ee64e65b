"""Find the bug: each position sees its own label."""

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.padded import keys, padded, past
from ...kit.parts import faults_of
from .symptoms import no_gradient


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for sources, targets, L_s, L_t, vocab, pad_id in (
        ((3, 2), (4, 4), 3, 4, 6, 0),
        ((4, 6, 2), (5, 3, 4), 6, 5, 8, 0),
        ((5, 3), (7, 4), 5, 7, 7, 4),
        ((2, 5), (6, 7), 5, 7, 7, 1),
        ((3, 4), (6, 5), 4, 6, 7, 0),
    ):
        low, dtype = 0 if pad_id else 1, torch.float64 if pad_id == 1 else torch.float32
        source, target = (padded(rng, n, L, vocab, pad_id, low) for n, L in ((sources, L_s), (targets, L_t)))
        labels = ("padding stands on the left of the target",) if pad_id == 4 else ()
        if L_t == 6:
            labels, target[:, 3] = ("padding stands between the target's symbols",), pad_id
        target = target.flip(1) if pad_id == 4 else target
        names = ("target", "source", "place", "last")
        tables = {name: torch.randn(vocab, vocab, generator=rng, dtype=dtype) for name in names}
        cases.append(Case(*labels, source=source, target=target, pad_id=pad_id, _tables=tables))
    return cases


def _loss(
    model, source, target, pad_id, *,
    given=lambda target: target[:, :-1], labels=lambda target: target[:, 1:],
    behind=past, source_real=lambda s, pad_id: s != pad_id, target_real=lambda x, pad_id: x != pad_id,
    hide=keys, cut=lambda logits: logits, ignored=lambda pad_id: pad_id,
    reduce=lambda each, real: each.sum() / real.sum(),
):  # fmt: skip
    """The cross-entropy of a batch under teacher forcing."""
    x, y = given(target), labels(target)
    target_mask = hide(target_real(x, pad_id)) & behind(x.shape[1])
    logits = cut(model(source, x, keys(source_real(source, pad_id)), target_mask))
    each = F.cross_entropy(logits.flatten(0, 1), y.flatten(), ignore_index=ignored(pad_id), reduction="none")
    return reduce(each.view(len(y), -1), y != ignored(pad_id))


_SHIFT = "the shift was right; leave it as it was and look at the mask."
_LOSS = "the loss was right, ignore_index=pad_id and all; leave it as it was and look at the mask."
_PADDING = "both masks hide padding: leave that as it was."
_TRIL = "a position may see itself and the past: tril() without a diagonal."

_FAULTS = (
    *faults_of("behind", _TRIL,
        ("as it was", "as in the function as it was, each position sees one step ahead, and there stands its own label.",
         lambda n: past(n, 1)),
        ("no causal mask", "no causal mask: each position sees the whole target, its label included.", lambda n: past(n, n)),
        ("diagonal masked", "one step too far: now no position sees the symbol that it was just given.", lambda n: past(n, -1)),
        ("the future instead of the past", "the upper triangle: each position sees itself and the future.", lambda n: past(n).T),
        ("diagonal alone", "each position sees itself alone; the past is hidden too.", lambda n: past(n) & past(n).T)),
    Fault("target padding seen", "the target mask is causal only: the target's padding is no longer hidden.", _PADDING,
        target_real=lambda x, pad_id: x >= 0),
    Fault("padding as queries", "the target's padding is hidden as queries, on the rows of the mask, not as keys.", _PADDING,
        hide=lambda real: keys(real).mT),
    Fault("source padding seen", "the source's padding is no longer hidden.", _PADDING, source_real=lambda s, pad_id: s >= 0),
    Fault("not shifted, without the last", "the labels are the input: a model that repeats what it gets is perfect.", _SHIFT,
        labels=lambda target: target[:, :-1]),
    Fault("not shifted, without the first", "the input is the labels: a model that repeats what it gets is perfect.", _SHIFT,
        given=lambda target: target[:, 1:]),
    Fault("two ahead", "the labels were moved instead of the mask: each position is asked for the symbol after the next.", _SHIFT,
        given=lambda target: target[:, :-2], labels=lambda target: target[:, 2:], behind=lambda n: past(n, 1)),
    Fault("backwards", "input and labels are exchanged: the model is asked for the symbol before.", _SHIFT,
        given=lambda target: target[:, 1:], labels=lambda target: target[:, :-1]),
    Fault("logits cut at the wrong end", "the first logits are cut off: each position is asked for what it was given.",
        "cut off the LAST logits, or leave the shift as it was.", given=lambda target: target, cut=lambda logits: logits[:, 1:]),
    Fault("padding counted", "the loss counts padding.", _LOSS, ignored=lambda pad_id: -100),
    Fault("softmax first", "a softmax before cross_entropy, which applies a log-softmax itself.", _LOSS,
        cut=lambda logits: logits.softmax(-1)),
    *faults_of("reduce", _LOSS,
        ("sum", "the sum over the labels; it was a mean.", lambda each, real: each.sum()),
        ("padding divides", "the sum is divided by the number of all labels, padding included.", lambda each, real: each.mean()),
        ("mean of means", "the mean of each sequence, then the mean of those: short sequences weigh more.",
         lambda each, real: (each.sum(1) / real.sum(1)).mean())),
)  # fmt: skip

EXERCISE = Exercise(
    answer="batch_loss", cases=_cases, reference=_loss, returns=("loss", "gradient of the model"), faults=_FAULTS,
    symptoms=(no_gradient,),
    advice="for 3 positions, write down which inputs position 0 may see, and compare them with its label.",
)  # fmt: skip
