"""Bits of a text in windows that overlap."""

import math

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(N, length, stride, *labels, vocab=5, dtype=torch.float32):
        into, out = torch.randn(2, vocab, 4, generator=rng, dtype=dtype)
        ids = torch.randint(vocab, (N,), generator=rng)
        return Case(*labels, ids=ids, length=length, stride=stride, _into=into, _out=1.5 * out)

    overlap, tail = "windows overlap", "the last window is shorter"
    return [
        case(9, 4, 4),
        case(9, 4, 2, overlap),
        case(8, 4, 2, overlap, tail),
        case(24, 6, 4, overlap, tail),
        case(11, 5, 5, tail),
        case(20, 7, 1, overlap, vocab=7),
        case(30, 8, 3, overlap, tail, vocab=7, dtype=torch.float64),
        case(5, 9, 4, "one window holds the whole text"),
    ]


def text_bits(
    model, ids, length, stride, *, step=lambda length, stride: stride, fits=lambda found, length: found > 0,
    labels=lambda ids, start, length: ids[start + 1 : start + 1 + length],
    fresh=lambda losses, done, start, stride: losses[done - start :], weigh=lambda parts, N: torch.cat(parts).sum() / (N - 1),
    finish=lambda nats: nats / math.log(2),
):  # fmt: skip
    """The mean over all characters but the first; each keyword is one step."""
    N, parts, done = len(ids), [], 0
    for start in range(0, N - 1, step(length, stride)):
        wanted = labels(ids, start, length)
        if not fits(len(wanted), length) or done == N - 1:
            break
        losses = F.cross_entropy(model(ids[start : start + len(wanted)][None])[0].double(), wanted, reduction="none")
        parts.append(fresh(losses, done, start, stride))
        done = start + len(wanted)
    return finish(weigh(parts, N)).item()


def _scored(parts, N):
    return torch.cat(parts).mean() if parts else torch.tensor(0.0)


def _every_window(model, ids, length, stride):
    """The losses of each window from each start, also where little or nothing is left to score."""
    for start in range(0, len(ids) - 1, stride):
        wanted = ids[start + 1 : start + 1 + length]
        logits = model(ids[start : start + len(wanted)][None])[0].double()
        yield start, F.cross_entropy(logits, wanted, reduction="none")


def _overwritten(model, ids, length, stride):
    """Every window's losses are written to their places, so that of an overlap the later window's stay."""
    losses = torch.zeros(len(ids) - 1, dtype=torch.double)
    for start, found in _every_window(model, ids, length, stride):
        losses[start : start + len(found)] = found
    return losses.mean().item() / math.log(2)


def _behind_the_stride(model, ids, length, stride):
    """Of every later window all but the first ``stride``, down to the last start."""
    parts = [found[stride * (start > 0) :] for start, found in _every_window(model, ids, length, stride)]
    return torch.cat(parts).mean().item() / math.log(2)


_NEW = "of a later window count only the characters that no window before has scored: its first ones were scored there."
_DIVIDE = "add up all losses, and divide once by the number of characters predicted, len(ids) - 1."

EXERCISE = Exercise(
    answer="text_bits", cases=_cases, reference=text_bits, returns=("bits",), atol=1e-5,
    faults=(
        Fault("all of every window", "every window was scored whole: characters in an overlap count twice, once with little "
            "before them.", _NEW, fresh=lambda losses, done, start, stride: losses, weigh=_scored),
        Fault("overlaps twice in the sum", "characters in an overlap are in the sum twice, but once in the number.", _NEW,
            fresh=lambda losses, done, start, stride: losses),
        *faults_of("fresh", _NEW,
            ("the beginning of each window", "of each window the first stride characters were scored: the ones that have "
                "least before them.", lambda losses, done, start, stride: losses[:stride]),
            ("one too many", "one character of each overlap was scored again.",
                lambda losses, done, start, stride: losses[max(done - start - 1, 0) :]),
            ("all but the first stride", "of each later window the first `stride` characters were left out, however many the "
                "window before has scored.", lambda losses, done, start, stride: losses if start == 0 else losses[stride:],
                "slice by what is scored already, losses[done - start:]; that is `length - stride` only while windows are full."),
            ("one too few", "behind the first window one character is left out each time.",
                lambda losses, done, start, stride: losses[done - start + (start > 0) :])),
        Fault("overlaps overwritten", "each window's losses were written over those of the window before, so of an overlap the "
            "later window's count: the ones with least before them.", _NEW, whole=_overwritten),
        Fault("one too many, as scored", "one character of each overlap was scored again.", _NEW,
            fresh=lambda losses, done, start, stride: losses[max(done - start - 1, 0) :], weigh=_scored),
        Fault("all but the first stride, as scored", "of each later window the first `stride` characters were left out, however "
            "many the window before has scored.", "slice by what is scored already, losses[done - start:].",
            whole=_behind_the_stride),
        Fault("the last window too much", "of each later window the last stride characters were scored; the last window is "
            "shorter, so some of these had been scored before.", "slice by what is scored already, losses[done - start:].",
            fresh=lambda losses, done, start, stride: losses if start == 0 else losses[-stride:], weigh=_scored),
        Fault("the last window too much, one number", "of each later window the last stride characters were scored; the last "
            "window is shorter, so some of these are in the sum twice.",
            "slice by what is scored already, losses[done - start:].",
            fresh=lambda losses, done, start, stride: losses if start == 0 else losses[-stride:]),
        Fault("the first window too little", "of the first window, too, only the last stride characters were scored.",
            "the first window has none before it: all of its characters count.",
            fresh=lambda losses, done, start, stride: losses[-stride:], weigh=_scored),
        Fault("the end dropped", "the end of the text, which fills no whole window, was dropped.",
            "the last window may be shorter: let it go to the last character.",
            fits=lambda found, length: found == length, weigh=_scored),
        Fault("no overlap", "the windows do not overlap: each begins where the one before ends.",
            "a window begins stride characters after the one before.", step=lambda length, stride: length),
        Fault("not shifted", "the characters asked for are the ones that were fed: the model is asked to copy.",
            "the labels are one further: ids[start + 1 : start + 1 + length].",
            labels=lambda ids, start, length: ids[start : start + min(length, len(ids) - 1 - start)]),
        *faults_of("weigh", _DIVIDE,
            ("mean of means", "the windows' means were averaged: a window with few new characters counts as much as the first.",
                lambda parts, N: torch.stack([part.mean() for part in parts]).mean()),
            ("divided by N", "divided by len(ids); the first character is not predicted.",
                lambda parts, N: torch.cat(parts).sum() / N),
            ("last window only", "the last window's bits alone came back.", lambda parts, N: parts[-1].mean()),
            ("total", "the total came back, not the mean.", lambda parts, N: torch.cat(parts).sum())),
        *faults_of("finish", "cross_entropy is in nats; one bit is ln 2 nats: divide by math.log(2).",
            ("nats", "nats per character came back.", lambda nats: nats),
            ("times ln 2", "nats were multiplied by ln 2.", lambda nats: nats * math.log(2)),
            ("perplexity", "the perplexity came back.", torch.exp, "bits are asked for: the mean loss divided by ln 2.")),
    ),
    advice="print, for a text of 8 characters with length 4 and stride 2, which characters each window scores: 1-4, 5-6, 7.",
)  # fmt: skip
